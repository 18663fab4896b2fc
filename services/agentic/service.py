"""Use cases of notes. Those of links are in `links.py`, those of the gateway alone in `ingest.py` and `removal.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from services.agentic.access import AccessRecorder
from services.agentic.config import AgenticSettings
from services.agentic.dissolving import delete_with_derived, dissolve
from services.agentic.embedded import EmbeddedNotes, embed_notes
from services.agentic.former import FormerNotes
from services.agentic.generation.words import keywords
from services.agentic.links import add_linked_notes, relink_notes
from services.agentic.model import Link, Note, NoteId, NoteKind, NoteStatus, ScoredNote, WrittenNote
from services.agentic.store import NoteFilter, NotePosition, NoteSearch, NoteStore, NoteWriter, RemovedCounts
from services.agentic.versions import Earlier
from services.common.clock import Clock
from services.common.embedding.vectors import Vector
from services.common.errors import Conflict, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.owners import InteractionId, Owner
from services.common.scope import GLOBAL_SCOPE, Reader, Scope
from services.common.text import split_sentences
from services.common.tier_embedder import TierEmbedder, unit_vector
from services.common.turns import Attachment


@dataclass(frozen=True, slots=True)
class CreateNote:
    """A note that a caller writes."""

    owner: Owner
    request: IdempotencyKey
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
class NoteChanges:
    """Fields of a note to change; None leaves one as it is."""

    content: str | None = None
    kind: NoteKind | None = None
    importance: float | None = None  # in [0, 1]
    tags: tuple[str, ...] | None = None
    attachments: tuple[Attachment, ...] | None = None
    metadata: Mapping[str, str] | None = None
    time: datetime | None = None


@dataclass(frozen=True, slots=True)
class UpdateNote:
    """What changes of a note."""

    owner: Owner
    request: IdempotencyKey
    note_id: NoteId
    changes: NoteChanges
    etag: str  # empty: whatever the note's is
    is_correction: bool = False  # what it said before never held


@dataclass(frozen=True, slots=True)
class DeleteNote:
    """A note to remove."""

    owner: Owner
    request: IdempotencyKey
    note_id: NoteId
    etag: str  # empty: whatever the note's is


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Notes to archive or to restore."""

    owner: Owner
    request: IdempotencyKey
    note_ids: tuple[NoteId, ...]  # different ones
    status: NoteStatus


@dataclass(frozen=True, slots=True)
class NoteState:
    """What archiving and restoring change of a note."""

    note_id: NoteId
    status: NoteStatus
    etag: str


@dataclass(frozen=True, slots=True)
class NoteStates:
    """The notes of a `SetStatus` that are there, in its order."""

    states: tuple[NoteState, ...]


@dataclass(frozen=True, slots=True)
class ListNotes:
    """A page of a user's notes."""

    owner: Owner
    which: NoteFilter
    page_size: int
    after: NotePosition | None


@dataclass(frozen=True, slots=True)
class NotePage:
    """Notes, newest first."""

    notes: tuple[Note, ...]
    has_more: bool


@dataclass(frozen=True, slots=True)
class SearchNotes:
    """A search by a question, or by its vector."""

    owner: Owner
    query: str
    vector: Vector | None  # used instead of the query where given
    reader: Reader
    limit: int
    hops: int
    known_at: datetime | None = None  # what was known then; None: now
    held_at: datetime | None = None  # what held then; None: now


class NoteService:
    """Notes of all users. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: NoteStore,
        embedder: TierEmbedder,
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
        self._former = FormerNotes(store, candidates=settings.former_candidates)
        retention = settings.idempotency_retention_seconds
        self._written = Idempotency(WrittenNote, retention_seconds=retention)
        self._states = Idempotency(NoteStates, retention_seconds=retention)
        self._removals = Idempotency(RemovedCounts, retention_seconds=retention)

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
            update_time=now,
            keywords=keywords_of(command.content, self._settings),
            tags=command.tags,
            attachments=command.attachments,
            metadata=command.metadata,
            derived_from=command.derived_from,
            scope=command.scope,
        )
        embedded = await self._embed(note)

        async def create(writer: NoteWriter) -> WrittenNote:
            model = self._embedder.model_id
            links = await add_linked_notes(writer, [note], embedded, model=model, settings=self._settings)
            return WrittenNote(note, tuple(links))

        return await self._write_once(command, create)

    async def get(self, owner: Owner, note_id: NoteId, reader: Reader | None = None) -> WrittenNote:
        """A note with its strongest links, of those that the reader sees.

        Raises:
            NotFound: The owner has no such note, or the reader does not see it.
        """
        links_max = self._settings.limits.links_returned_max
        return await self._store.get(owner, note_id, links_max=links_max, reader=reader)

    async def list_notes(self, command: ListNotes) -> NotePage:
        """A page of notes. Notes written meanwhile are newer and never shift a later page."""
        found = await self._store.list_notes(
            command.owner, command.which, after=command.after, limit=command.page_size + 1
        )
        return NotePage(tuple(found[: command.page_size]), has_more=len(found) > command.page_size)

    async def update(self, command: UpdateNote) -> WrittenNote:
        """Changes a note; one whose text changes is embedded and linked anew. Returns it with its new links.

        Raises:
            NotFound: The owner has no such note.
            Conflict: It has another etag, or its text was changed concurrently.
            InvalidArgument: The request id was used for something else.
        """
        before = (await self._store.get(command.owner, command.note_id, links_max=0)).note
        # The model runs before the lock is taken, so that it does not hold up the user's other writes.
        expected = self._changed(before, command.changes)
        embedded = await self._embed(expected) if self._texts(expected) != self._texts(before) else None

        async def update(writer: NoteWriter) -> WrittenNote:
            current = await _get_for_change(writer, command)
            note = self._changed(current, command.changes)
            is_text_changed = self._texts(note) != self._texts(current)
            if is_text_changed and (embedded is None or self._texts(note) != self._texts(expected)):
                raise Conflict("the note was changed concurrently")
            await writer.update_notes([note], earlier=Earlier.WRONG if command.is_correction else Earlier.KEPT)
            links: Sequence[Link] = ()
            if is_text_changed and embedded is not None:
                model = self._embedder.model_id
                await dissolve(writer, [note.note_id], now=note.update_time)
                note = (await writer.get_notes([note.note_id]))[note.note_id]
                links = await relink_notes(writer, [note], embedded, model=model, settings=self._settings)
            return WrittenNote(note, tuple(links))

        return await self._write_once(command, update)

    async def delete(self, command: DeleteNote) -> None:
        """Removes a note with its links; the interactions that it comes from are not processed again.

        Raises:
            NotFound: The owner has no such note.
            Conflict: It has another etag.
            InvalidArgument: The request id was used for something else.
        """

        async def work(writer: NoteWriter) -> RemovedCounts:
            async def delete() -> RemovedCounts:
                note = await _get_for_change(writer, command)
                return await delete_with_derived(writer, [note.note_id], now=self._clock.now(), keeps_merged=False)

            return await self._removals.run(
                writer.idempotency(),
                command.request,
                delete,
                now=self._clock.now(),
                user_id=command.owner.user_id,
                resource_id=lambda _: command.note_id,
            )

        await self._store.write(command.owner, work)

    async def set_status(self, command: SetStatus) -> NoteStates:
        """Archives or restores notes. Returns those that are there.

        Raises:
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()

        async def work(writer: NoteWriter) -> NoteStates:
            async def change() -> NoteStates:
                notes = await writer.set_status(command.note_ids, command.status, update_time=now)
                found = [notes[note_id] for note_id in command.note_ids if note_id in notes]
                return NoteStates(tuple(NoteState(note.note_id, note.status, note.etag) for note in found))

            return await self._states.run(
                writer.idempotency(),
                command.request,
                change,
                now=now,
                user_id=command.owner.user_id,
                resource_id=lambda _: "",
            )

        return await self._store.write(command.owner, work)

    async def search(self, command: SearchNotes) -> list[ScoredNote]:
        """Notes by similarity and over links, as of a time where one is given.

        What is returned is counted after the response.
        """
        if command.vector is None:
            vector = await self._embedder.embed_query(command.query)
        else:
            vector = unit_vector(command.vector, field_path="query_vector")
        wanted = NoteSearch(
            vector=vector,
            model=self._embedder.model_id,
            reader=command.reader,
            limit=command.limit,
            hops=command.hops,
            walk=self._settings.walk,
        )
        if command.known_at is None and command.held_at is None:
            hits = await self._store.search(command.owner, wanted)
        else:
            hits = await self._former.search(command.owner, wanted, known_at=command.known_at, held_at=command.held_at)
        self._recorder.record(command.owner, [hit.note.note_id for hit in hits])
        return hits

    async def _embed(self, note: Note) -> EmbeddedNotes:
        return await embed_notes(self._embedder, [note], captions_max=self._settings.captions_embedded_max)

    def _texts(self, note: Note) -> tuple[object, ...]:
        """What the note's vectors are made from."""
        return note.embedded_text, note.captions(self._settings.captions_embedded_max)

    def _changed(self, note: Note, changes: NoteChanges) -> Note:
        given = {
            name: value
            for name in ("kind", "importance", "tags", "attachments", "metadata", "time")
            if (value := getattr(changes, name)) is not None
        }
        changed = replace(note, update_time=self._clock.now(), **given)
        if "importance" in given:
            changed = replace(changed, feedback=0)  # the judgement was of the note as it was
        if changes.content is None or changes.content == note.content:
            return changed
        return replace(
            changed,
            content=changes.content,
            feedback=0,
            keywords=keywords_of(changes.content, self._settings),
            spoken="",
            question_id=None,
            question_chars=0,
        )

    async def _write_once(
        self, command: CreateNote | UpdateNote, change: Callable[[NoteWriter], Awaitable[WrittenNote]]
    ) -> WrittenNote:
        async def work(writer: NoteWriter) -> WrittenNote:
            return await self._written.run(
                writer.idempotency(),
                command.request,
                lambda: change(writer),
                now=self._clock.now(),
                user_id=command.owner.user_id,
                resource_id=lambda written: written.note.note_id,
            )

        return await self._store.write(command.owner, work)


def keywords_of(text: str, settings: AgenticSettings) -> tuple[str, ...]:
    """The keywords of a note with this text."""
    return keywords(split_sentences(text), count_max=settings.generation.keywords_max)


async def _get_for_change(writer: NoteWriter, command: UpdateNote | DeleteNote) -> Note:
    note = (await writer.get_notes([command.note_id])).get(command.note_id)
    if note is None:
        raise NotFound("note", command.note_id)
    if command.etag and command.etag != note.etag:
        raise Conflict("the note was changed")
    return note
