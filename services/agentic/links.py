"""Stores notes together with the links that `linking` decides on, and the use cases of single links."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from services.agentic import linking
from services.agentic.config import AgenticSettings
from services.agentic.embedded import EmbeddedNotes, captions_of
from services.agentic.model import Link, LinkKey, LinkOrigin, LinkType, Note, NoteId
from services.agentic.store import LinkPosition, NeighbourQuery, NoteStore, NoteWriter, RemovedCounts, TurnKey
from services.common.clock import Clock
from services.common.errors import Conflict, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.owners import Owner
from services.common.scope import Reader


@dataclass(frozen=True, slots=True)
class SetLink:
    """A link to make or to change."""

    owner: Owner
    request: IdempotencyKey
    key: LinkKey
    strength: float  # in [0, 1]
    etag: str = ""  # empty: whatever the link's is


@dataclass(frozen=True, slots=True)
class DeleteLink:
    """A link to remove."""

    owner: Owner
    request: IdempotencyKey
    key: LinkKey


@dataclass(frozen=True, slots=True)
class ListLinks:
    """A page of a note's links."""

    owner: Owner
    note_id: NoteId
    link_type: LinkType | None  # None: all
    page_size: int
    after: LinkPosition | None
    reader: Reader | None = None  # only links between notes that it sees; None: every scope


@dataclass(frozen=True, slots=True)
class LinkPage:
    """Links, strongest first."""

    links: tuple[Link, ...]
    has_more: bool


class LinkService:
    """Links of all users. Arguments have been checked for form by the edge."""

    def __init__(self, store: NoteStore, *, clock: Clock, settings: AgenticSettings) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._clock = clock
        retention = settings.idempotency_retention_seconds
        self._links = Idempotency(Link, retention_seconds=retention)
        self._removals = Idempotency(RemovedCounts, retention_seconds=retention)

    async def create(self, command: SetLink) -> Link:
        """Makes a link, or sets the strength of the one that is there. Returned as stored: canonical.

        Raises:
            NotFound: An end is not a note of the owner.
            InvalidArgument: The request id was used for something else.
        """

        async def put(writer: NoteWriter) -> Link:
            return await self._put(writer, command)

        return await self._run_once(command, put)

    async def update(self, command: SetLink) -> Link:
        """Sets the strength of a link.

        Raises:
            NotFound: There is no such link.
            Conflict: It has another etag.
            InvalidArgument: The request id was used for something else.
        """

        async def update(writer: NoteWriter) -> Link:
            link = await writer.get_link(command.key.canonical)
            if link is None:
                raise link_not_found(command.key)
            if command.etag and command.etag != link.etag:
                raise Conflict("the link was changed")
            return await self._put(writer, command)

        return await self._run_once(command, update)

    async def delete(self, command: DeleteLink) -> None:
        """Removes a link.

        Raises:
            NotFound: There is none of this type between the notes.
            InvalidArgument: The request id was used for something else.
        """
        key = command.key.canonical

        async def work(writer: NoteWriter) -> RemovedCounts:
            async def delete() -> RemovedCounts:
                if not await writer.delete_link(key):
                    raise link_not_found(key)
                return RemovedCounts(notes=0, links=1)

            return await self._removals.run(
                writer.idempotency(),
                command.request,
                delete,
                now=self._clock.now(),
                user_id=command.owner.user_id,
                resource_id=lambda _: key.from_note_id,
            )

        await self._store.write(command.owner, work)

    async def list_links(self, command: ListLinks) -> LinkPage:
        """A page of a note's links.

        Raises:
            NotFound: There is no such note.
        """
        found = await self._store.list_links(
            command.owner,
            command.note_id,
            link_type=command.link_type,
            after=command.after,
            limit=command.page_size + 1,
            reader=command.reader,
        )
        return LinkPage(tuple(found[: command.page_size]), has_more=len(found) > command.page_size)

    async def _put(self, writer: NoteWriter, command: SetLink) -> Link:
        now = self._clock.now()
        [link] = await writer.put_links([Link(command.key.canonical, command.strength, LinkOrigin.CALLER, now, now)])
        return link

    async def _run_once(self, command: SetLink, change: Callable[[NoteWriter], Awaitable[Link]]) -> Link:
        async def work(writer: NoteWriter) -> Link:
            return await self._links.run(
                writer.idempotency(),
                command.request,
                lambda: change(writer),
                now=self._clock.now(),
                user_id=command.owner.user_id,
                resource_id=lambda link: link.key.from_note_id,
            )

        return await self._store.write(command.owner, work)


def link_not_found(key: LinkKey) -> NotFound:
    """The error for a link that is not there."""
    return NotFound("link", f"{key.from_note_id} {key.type.name} {key.to_note_id}")


async def add_linked_notes(
    writer: NoteWriter, notes: Sequence[Note], embedded: EmbeddedNotes, *, model: str, settings: AgenticSettings
) -> list[Link]:
    """Store new notes with links to their nearest neighbours; returns the links, strongest first.

    Notes of one call are linked to each other too.

    Args:
        writer: Of the notes' user.
        notes: At least one, in the order of their interactions.
        embedded: Their vectors; captions of other notes may be among them.
        model: Id of the vectors' model.
        settings: Rules of linking.
    """
    rules, vectors = settings.linking, embedded.vectors
    query = NeighbourQuery(model, rules.links_per_note_max, rules.similarity_min, rules.candidates_max)
    stored = await writer.neighbours(vectors, [note.scope for note in notes], query)
    places = [TurnKey(note.conversation_id, note.position) for note in notes if note.conversation_id]
    preceding = await writer.preceding_notes(list(dict.fromkeys(places))) if places else {}
    predecessors: list[linking.Predecessor | None] = []
    for note in notes:
        found = preceding.get(TurnKey(note.conversation_id, note.position))
        predecessors.append(linking.Predecessor(*found) if found else None)

    def decide() -> list[Link]:
        now = notes[0].create_time
        near = linking.with_batch_neighbours(notes, vectors, stored, rules)
        links = [
            link
            for note, neighbours in zip(notes, near, strict=True)
            for link in linking.similarity_links(note, neighbours, rules, now)
        ]
        return linking.strongest([*links, *linking.sequence_links(notes, predecessors, rules, now)])

    decided = await asyncio.to_thread(decide)
    await writer.add_notes(notes, vectors, model=model)
    if captions := captions_of(notes, embedded.captions):
        await writer.put_captions([note.note_id for note in notes], captions, model=model)
    return linking.in_order(await writer.put_links(decided))


async def relink_notes(
    writer: NoteWriter, notes: Sequence[Note], embedded: EmbeddedNotes, *, model: str, settings: AgenticSettings
) -> list[Link]:
    """Give stored notes whose text has changed new vectors, and new links of origin SIMILARITY; returns the links.

    Args:
        writer: Of the notes' user; the notes are updated already.
        notes: At least one.
        embedded: Their new vectors.
        model: Id of the vectors' model.
        settings: Rules of linking.
    """
    rules, vectors = settings.linking, embedded.vectors
    ids = [note.note_id for note in notes]
    await writer.delete_similarity_links(ids)
    await writer.replace_vectors(ids, vectors, model=model)
    await writer.put_captions(ids, captions_of(notes, embedded.captions), model=model)
    # One more, as each note is its own nearest neighbour.
    query = NeighbourQuery(model, rules.links_per_note_max + 1, rules.similarity_min, rules.candidates_max)
    stored = await writer.neighbours(vectors, [note.scope for note in notes], query)
    links: list[Link] = []
    for note, neighbours in zip(notes, stored, strict=True):
        others = [n for n in neighbours if n.note_id != note.note_id][: rules.links_per_note_max]
        links += linking.similarity_links(note, others, rules, note.update_time)
    fresh = [link for link in linking.strongest(links) if await writer.get_link(link.key) is None]
    return linking.in_order(await writer.put_links(fresh))
