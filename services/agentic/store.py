"""The port of the note store. `tests/contract/note_store.py` is the suite every driver passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, TypeVar

from services.agentic.model import (
    CaptionVector,
    GenerationResult,
    Link,
    LinkKey,
    LinkType,
    Note,
    NoteId,
    NoteKind,
    NoteStatus,
    ScoredNote,
    WrittenNote,
)
from services.agentic.upkeep_store import UpkeepReads, UpkeepWrites
from services.agentic.versions import Earlier, NoteHistory
from services.common.embedding.vectors import Matrix, Vector
from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Reader, Scope
from services.common.settings_types import Count, PositiveShare

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """How a search walks from the notes found by similarity."""

    damping: PositiveShare = 0.9
    """Factor per link, in (0, 1]: below 1 so that of two equally strong paths the shorter one wins."""
    seeds_max: Count = 16
    """Notes walked from: the most similar ones with a similarity above 0."""
    fanout_max: Count = 16
    """Links followed from one note, strongest first, so that a hub costs no more than another note."""
    frontier_max: Count = 32
    """Notes reached by one link from which the second one is walked, best score first."""


VERSIONS_MAX: Final = 100
"""How many earlier versions of a note are stored, by default."""


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """What to search for.

    The similarity of a note is the best cosine of its vector and those of its captions. A note n scores
    max(similarity(n), max over paths to n of similarity(seed) x product of (strength x damping)). A
    path has at most `hops` links of any type, in either direction, and passes only active notes that the reader may
    see. Of equal scores the path with fewer links wins, then the one with the smaller ids.
    """

    vector: Vector  # of length 1
    model: str  # only vectors of this model are compared
    reader: Reader
    limit: int  # hits, >= 1
    hops: int  # 0, 1 or 2
    walk: WalkSettings
    is_archived: bool = False  # archived notes alone, by similarity: no link leads from or to one


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored note that is near a new one."""

    note_id: NoteId
    kind: NoteKind
    content: str
    speaker: str
    similarity: float  # cosine, in [-1, 1]


@dataclass(frozen=True, slots=True)
class NeighbourQuery:
    """Which stored notes count as near."""

    model: str
    count_max: int  # neighbours per vector
    similarity_min: float  # in [-1, 1]
    candidates_max: int  # newest notes that are looked at


@dataclass(frozen=True, slots=True)
class ProcessedTurn:
    """The record of an interaction that was processed: its notes, and what it asked."""

    result: GenerationResult
    conversation_id: str
    position: int
    question: str  # what it asks, empty if nothing
    speaker: str


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """What a processed interaction asked."""

    interaction_id: InteractionId
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnKey:
    """A place in a conversation."""

    conversation_id: str
    position: int


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes a list shows; None and empty mean any."""

    status: NoteStatus = NoteStatus.ACTIVE
    kind: NoteKind | None = None
    tag: str = ""
    start_time: datetime | None = None  # least `Note.time`
    end_time: datetime | None = None  # `Note.time` is earlier than this
    reader: Reader | None = None  # only what it sees; None: every scope


@dataclass(frozen=True, slots=True)
class NotePosition:
    """Where a page of notes, newest first, begins: after this note."""

    create_time: datetime
    note_id: NoteId


@dataclass(frozen=True, slots=True)
class LinkPosition:
    """Where a page of links, strongest first, begins: after this link."""

    strength: float
    key: LinkKey


@dataclass(frozen=True, slots=True)
class RemovedCounts:
    """How much a removal removed."""

    notes: int
    links: int
    data_keys: int = 0  # destroyed keys that content was encrypted with


class NoteWriter(UpkeepWrites, Protocol):
    """Reads and writes one user's notes; visible to others all at once when the work ends without an error."""

    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records, in this transaction."""
        ...

    async def processed(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were processed before, or are blocked."""
        ...

    async def add_processed(self, turns: Sequence[ProcessedTurn]) -> None:
        """Record interactions as processed; none of them was before."""
        ...

    async def block(self, interaction_ids: Sequence[InteractionId]) -> None:
        """Leave of interactions nothing but that they are processed, whether they were or not."""
        ...

    async def get_notes(self, note_ids: Sequence[NoteId]) -> Mapping[NoteId, Note]:
        """Those of the notes that are there, of any status."""
        ...

    async def notes_of_sources(self, interaction_ids: Sequence[InteractionId]) -> list[Note]:
        """Notes that come from one of the interactions or answer its question, by id."""
        ...

    async def neighbours(
        self, vectors: Matrix, scopes: Sequence[Scope], query: NeighbourQuery
    ) -> list[list[Neighbour]]:
        """For each vector `[notes, dimension]` its nearest active notes, nearest first, ties by id.

        Only notes that a reader at the new note's scope may see.
        """
        ...

    async def preceding_notes(self, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[NoteId, TurnKey, Scope]]:
        """For each place the nearest earlier active note of its conversation, where there is one."""
        ...

    async def add_notes(self, notes: Sequence[Note], vectors: Matrix, *, model: str) -> None:
        """Store new, active notes with one vector of length 1 each."""
        ...

    async def update_notes(self, notes: Sequence[Note], *, earlier: Earlier = Earlier.KEPT) -> None:
        """Set all fields of stored notes but scope, status, successor and access statistics.

        What notes said until their new update time is stored as a version, where it changes.
        """
        ...

    async def erase_versions(self, interaction_ids: Sequence[InteractionId]) -> None:
        """Erase what versions of notes say that come from one of the interactions or answer its question."""
        ...

    async def replace_vectors(
        self, note_ids: Sequence[NoteId], vectors: Matrix, *, model: str, beside: str = ""
    ) -> None:
        """Give stored notes other vectors of length 1, instead of those of any model but `beside`.

        A store that does not keep vectors of two models of a note replaces those too.
        """
        ...

    async def put_captions(
        self, note_ids: Sequence[NoteId], captions: Sequence[CaptionVector], *, model: str, beside: str = ""
    ) -> None:
        """Give stored notes these vectors for captions, of length 1, instead of those of any model but `beside`.

        Each caption is of one of the notes; those without one have none afterwards.
        """
        ...

    async def set_status(
        self, note_ids: Sequence[NoteId], status: NoteStatus, *, update_time: datetime
    ) -> Mapping[NoteId, Note]:
        """Archive or restore notes; those that have the status stay as they are.

        A restored note has no successor any more. The status that ends is stored as a version.

        An archived note is in no search, walk, neighbourhood or list of links. Restoring it brings back its links to
        active notes.

        Returns:
            Those of the notes that are there, as they are now.
        """
        ...

    async def delete_notes(self, note_ids: Sequence[NoteId]) -> RemovedCounts:
        """Delete notes with their vectors, links and versions, and erase the responses of requests about them.

        What versions of other notes say that were made from these is erased too. Unknown ids are ignored. Interactions
        that the notes come from stay processed.
        """
        ...

    async def delete_some(self, limit: int) -> RemovedCounts:
        """Delete at most so many notes of any status, as a part of the removal of all of them.

        What names them otherwise, such as the results of their interactions, may be left to `delete_all`.
        """
        ...

    async def block_some(self, limit: int) -> int:
        """Block at most so many interactions that were processed, as a part of the removal of all notes; how many.

        A driver whose `delete_all` blocks them all in little time may leave it to that, and return 0.
        """
        ...

    async def delete_all(self) -> RemovedCounts:
        """Delete all notes, and block all interactions that were processed."""
        ...

    async def put_links(self, links: Sequence[Link]) -> list[Link]:
        """Make links, or set strength, origin and update time of those that are there.

        Keys are canonical and distinct. Returns the links as stored, in order.

        Raises:
            NotFound: An end is not a note of this user.
        """
        ...

    async def get_link(self, key: LinkKey) -> Link | None:
        """A link by its canonical key."""
        ...

    async def delete_link(self, key: LinkKey) -> bool:
        """Remove a link by its canonical key; whether it was there."""
        ...

    async def delete_similarity_links(self, note_ids: Sequence[NoteId]) -> None:
        """Remove the links of origin SIMILARITY of notes."""
        ...


class NoteStore(UpkeepReads, Protocol):
    """Stores notes, their versions, vectors and links. Every method must see the owner's rows alone.

    Of each note the latest versions are stored, up to a bound that the driver is given.

    What one store writes, others on the same engine must show at once, whatever they have cached.
    """

    async def write(self, owner: Owner, work: Callable[[NoteWriter], Awaitable[_T]]) -> _T:
        """Runs work on one user's notes, all or nothing, and returns what it returns.

        Works of one user must run one after the other, also across processes: what one reads through its writer
        cannot change until it ends. After a transient failure a driver may run work again from its beginning, so work
        must change nothing but what it writes through its writer.

        Args:
            owner: Whose notes.
            work: Reads and writes through the writer it is given, which is of no use afterwards.

        Raises:
            Conflict: Another work got in the way; nothing was written, and the caller may try again.
            StoreUnavailable: The engine cannot be reached.
            Exception: Whatever `work` raises, unchanged; nothing was written.
        """
        ...

    async def processed(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, GenerationResult]:
        """As in `NoteWriter`, but others may process what is not found meanwhile."""
        ...

    async def questions(self, owner: Owner, places: Sequence[TurnKey]) -> Mapping[TurnKey, StoredQuestion]:
        """The questions of those of the places where something was asked."""
        ...

    async def get(self, owner: Owner, note_id: NoteId, *, links_max: int, reader: Reader | None = None) -> WrittenNote:
        """A note of any status with its links as of `list_links`.

        Raises:
            NotFound: There is none of this id among those of the owner's that the reader sees.
        """
        ...

    async def list_notes(
        self, owner: Owner, which: NoteFilter, *, after: NotePosition | None, limit: int
    ) -> list[Note]:
        """Notes that pass the filter, newest first, ties by id."""
        ...

    async def list_links(
        self,
        owner: Owner,
        note_id: NoteId,
        *,
        link_type: LinkType | None,
        after: LinkPosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> list[Link]:
        """Links of a note, of the type or all, strongest first, ties by ids and type.

        Both notes are active, and the reader sees both.

        Raises:
            NotFound: There is no such note among those of the owner's that the reader sees.
        """
        ...

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        """Hits, best first, ties by id. See `NoteSearch`."""
        ...

    async def histories(self, owner: Owner, note_ids: Sequence[NoteId]) -> Mapping[NoteId, NoteHistory]:
        """Those of the notes that are there, of any status, with their versions."""
        ...

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have something here, after one, in the order of their ids.

        Users whose memory was removed may be among them.
        """
        ...

    async def record_access(self, owner: Owner, counts: Mapping[NoteId, int], *, time: datetime) -> None:
        """Add to the access counts of notes and set the time of the last; unknown ids are ignored."""
        ...
