"""Use cases of the agentic tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.agentic.access import AccessRecorder
from services.agentic.config import AgenticSettings
from services.agentic.generation.port import NoteGenerator
from services.agentic.generation.words import keywords
from services.agentic.ingest import NoteIngest, add_linked_notes
from services.agentic.model import (
    GenerationResult,
    InteractionId,
    Link,
    LinkKey,
    Note,
    NoteId,
    NoteKind,
    NoteSource,
    Owner,
    ScoredNote,
    TenantId,
    WrittenNote,
    link_from_json,
    link_to_json,
    written_note_from_json,
    written_note_to_json,
)
from services.agentic.store import NotePosition, NoteSearch, NoteStore, NoteWriter, Receipt
from services.common.clock import Clock
from services.common.embedding.vectors import Vector
from services.common.errors import FieldViolation, InvalidArgument, NotFound, Reason
from services.common.ids import IdSource
from services.common.scope import GLOBAL_SCOPE, Reader, Scope
from services.common.text import split_sentences
from services.common.tier_embedder import TierEmbedder, unit_vector
from services.common.turns import Attachment


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Who asked for a change under which id, and a digest of what was asked."""

    principal_id: str
    request_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CreateNote:
    """A note that a caller writes."""

    owner: Owner
    request: RequestKey
    content: str
    kind: NoteKind
    importance: float = 0.5  # in [0, 1]
    tags: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    derived_from: tuple[InteractionId, ...] = ()
    time: datetime | None = None  # None: now
    scope: Scope = GLOBAL_SCOPE


@dataclass(frozen=True, slots=True)
class ListNotes:
    """A page of a user's notes."""

    owner: Owner
    kind: NoteKind | None
    page_size: int
    after: NotePosition | None


@dataclass(frozen=True, slots=True)
class NotePage:
    """Notes, newest first, and where the next page begins, if there is one."""

    notes: tuple[Note, ...]
    next: NotePosition | None


@dataclass(frozen=True, slots=True)
class SearchNotes:
    """A search by a question, or by its vector."""

    owner: Owner
    query: str
    vector: Vector | None  # used instead of the query where given
    reader: Reader
    limit: int
    hops: int


@dataclass(frozen=True, slots=True)
class ChangeLink:
    """A link to make, or to remove."""

    owner: Owner
    request: RequestKey
    key: LinkKey
    strength: float = 0.5  # in [0, 1]; of no meaning for a removal


class NoteService:
    """Notes and links of all users. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: NoteStore,
        embedder: TierEmbedder,
        generator: NoteGenerator,
        recorder: AccessRecorder,
        *,
        clock: Clock,
        ids: IdSource,
        settings: AgenticSettings,
    ) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._embedder = embedder
        self._recorder = recorder
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._ingest = NoteIngest(store, embedder, generator, clock=clock, ids=ids, settings=settings)

    async def generate(self, tenant_id: TenantId, sources: Sequence[NoteSource]) -> list[GenerationResult]:
        """Makes notes of interactions, each once; see `NoteIngest.take`."""
        return await self._ingest.take(tenant_id, sources)

    async def create(self, command: CreateNote) -> WrittenNote:
        """Stores a note that a caller writes, and links it like a generated one.

        Raises:
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        note = Note(
            note_id=NoteId(self._ids.new_id()),
            user_id=command.owner.user_id,
            content=command.content,
            kind=command.kind,
            importance=command.importance,
            time=command.time or now,
            create_time=now,
            keywords=keywords(split_sentences(command.content), count_max=self._settings.generation.keywords_max),
            tags=command.tags,
            attachments=command.attachments,
            metadata=command.metadata,
            derived_from=command.derived_from,
            scope=command.scope,
        )
        vectors = await self._embedder.embed([note.embedded_text])

        async def work(writer: NoteWriter) -> WrittenNote:
            answer = await _answer_before(writer, command.request)
            if answer is not None:
                return written_note_from_json(answer)
            links = await add_linked_notes(
                writer, [note], vectors, model=self._embedder.model_id, settings=self._settings
            )
            written = WrittenNote(note, tuple(links))
            await self._keep_answer(writer, command.request, written_note_to_json(written), now)
            return written

        return await self._store.write(command.owner, work)

    async def get(self, owner: Owner, note_id: NoteId) -> WrittenNote:
        """A note with its strongest links.

        Raises:
            NotFound: The owner has no such note.
        """
        return await self._store.get(owner, note_id, links_max=self._settings.limits.links_returned_max)

    async def list_notes(self, command: ListNotes) -> NotePage:
        """A page of notes. Notes written meanwhile are newer and never shift a later page."""
        found = await self._store.list_notes(
            command.owner, kind=command.kind, after=command.after, limit=command.page_size + 1
        )
        notes = tuple(found[: command.page_size])
        more = len(found) > command.page_size
        return NotePage(notes, NotePosition(notes[-1].create_time, notes[-1].note_id) if more else None)

    async def search(self, command: SearchNotes) -> list[ScoredNote]:
        """Notes by similarity and over links; what is returned is counted, behind the answer."""
        if command.vector is None:
            vector = await self._embedder.embed_query(command.query)
        else:
            vector = unit_vector(command.vector, field_path="query_vector")
        hits = await self._store.search(
            command.owner,
            NoteSearch(
                vector=vector,
                model=self._embedder.model_id,
                reader=command.reader,
                limit=command.limit,
                hops=command.hops,
                walk=self._settings.walk,
            ),
        )
        self._recorder.record(command.owner, [hit.note.note_id for hit in hits])
        return hits

    async def create_link(self, command: ChangeLink) -> Link:
        """Makes a link, or sets the strength of the one that is there. Returned as stored: canonical.

        Raises:
            NotFound: An end is not a note of the owner.
            InvalidArgument: Both ends are one note, or the request id was used for something else.
        """
        now = self._clock.now()

        async def work(writer: NoteWriter) -> Link:
            answer = await _answer_before(writer, command.request)
            if answer is not None:
                return link_from_json(answer)
            [link] = await writer.put_links([Link(command.key.canonical, command.strength, now)])
            await self._keep_answer(writer, command.request, link_to_json(link), now)
            return link

        return await self._store.write(command.owner, work)

    async def delete_link(self, command: ChangeLink) -> None:
        """Removes a link.

        Raises:
            NotFound: There is none of this type between the notes.
            InvalidArgument: The request id was used for something else.
        """
        key = command.key.canonical

        async def work(writer: NoteWriter) -> None:
            if await _answer_before(writer, command.request) is not None:
                return
            if not await writer.delete_link(key):
                raise NotFound("link", f"{key.from_note_id} {key.type.name} {key.to_note_id}")
            await self._keep_answer(writer, command.request, "", self._clock.now())

        await self._store.write(command.owner, work)

    async def _keep_answer(self, writer: NoteWriter, request: RequestKey, answer: str, now: datetime) -> None:
        receipt = Receipt(request.principal_id, request.request_id, request.fingerprint, answer, now)
        forget_before = now - timedelta(seconds=self._settings.receipt_retention_seconds)
        await writer.add_receipt(receipt, forget_before=forget_before)


async def _answer_before(writer: NoteWriter, request: RequestKey) -> str | None:
    receipt = await writer.receipt(request.principal_id, request.request_id)
    if receipt is None:
        return None
    if receipt.fingerprint != request.fingerprint:
        raise InvalidArgument(
            "the request id was used before with a different request",
            reason=Reason.REQUEST_ID_REUSED,
            violations=[FieldViolation("request_id", "was used before with a different request")],
        )
    return receipt.answer
