"""The port of the note store. `tests/contract/note_store.py` is the suite every driver passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from services.agentic.model import (
    GenerationResult,
    InteractionId,
    Link,
    LinkKey,
    Note,
    NoteId,
    NoteKind,
    Owner,
    ScoredNote,
    WrittenNote,
)
from services.common.embedding.vectors import Matrix, Vector
from services.common.scope import Reader, Scope
from services.common.settings_types import Count, PositiveShare

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """How a search walks from the notes found by similarity."""

    damping: PositiveShare = 0.9
    """Factor per link, in (0, 1]: below 1 so that of two equally strong ways the shorter one wins."""
    seeds_max: Count = 16
    """Notes walked from: the most similar ones with a similarity above 0."""
    fanout_max: Count = 16
    """Links followed from one note, strongest first, so that a hub costs no more than another note."""
    frontier_max: Count = 32
    """Notes reached by one link from which the second one is walked, best score first."""


@dataclass(frozen=True, slots=True)
class NoteSearch:
    """What to search for.

    A note n scores max(similarity(n), max over ways to n of similarity(seed) x product of (strength x
    damping)). A way leads over at most `hops` links of any type and in both directions, and only over notes
    that the reader may see. Of equal scores the way with fewer links wins, then the one with the smaller ids.
    """

    vector: Vector  # of length 1
    model: str  # only vectors of this model are compared
    reader: Reader
    limit: int  # hits, >= 1
    hops: int  # 0, 1 or 2
    walk: WalkSettings


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored note near a new one."""

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
class TakenTurn:
    """What is remembered of an interaction that was taken: its notes, and what it asked."""

    result: GenerationResult
    conversation_id: str
    position: int
    question: str  # what it asks, empty if nothing
    speaker: str


@dataclass(frozen=True, slots=True)
class TurnKey:
    """A place in a conversation."""

    conversation_id: str
    position: int


@dataclass(frozen=True, slots=True)
class NotePosition:
    """Where in a user's list, newest first, a page begins: after this note."""

    create_time: datetime
    note_id: NoteId


@dataclass(frozen=True, slots=True)
class Receipt:
    """The first answer to a request, for its repeats."""

    principal_id: str
    request_id: str
    fingerprint: str  # digest of the request
    answer: str
    create_time: datetime


class NoteWriter(Protocol):
    """Writes to one user's notes; visible to others all at once when the work ends without an error."""

    async def receipt(self, principal_id: str, request_id: str) -> Receipt | None:
        """The answer given before, or None."""
        ...

    async def add_receipt(self, receipt: Receipt, *, forget_before: datetime) -> None:
        """Keep an answer; answers of this tenant older than `forget_before` may go."""
        ...

    async def taken(self, interaction_ids: Sequence[InteractionId]) -> Mapping[InteractionId, GenerationResult]:
        """Results of those of the interactions that were taken before."""
        ...

    async def add_taken(self, turns: Sequence[TakenTurn]) -> None:
        """Mark interactions as taken; none of them was before."""
        ...

    async def neighbours(
        self, vectors: Matrix, scopes: Sequence[Scope], query: NeighbourQuery
    ) -> list[list[Neighbour]]:
        """For each vector `[notes, dimension]` its nearest stored notes, nearest first, ties by id.

        Only notes that a reader at the new note's scope may see.
        """
        ...

    async def preceding_notes(self, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[NoteId, TurnKey, Scope]]:
        """For each place the nearest earlier note of its conversation, where there is one."""
        ...

    async def add_notes(self, notes: Sequence[Note], vectors: Matrix, *, model: str) -> None:
        """Store new notes with one vector of length 1 each."""
        ...

    async def put_links(self, links: Sequence[Link]) -> list[Link]:
        """Make links or set the strength of those that are there; returns them as stored, in order.

        Keys are canonical and distinct.

        Raises:
            NotFound: An end is not a note of this user.
        """
        ...

    async def delete_link(self, key: LinkKey) -> bool:
        """Remove a link by its canonical key; whether it was there."""
        ...


class NoteStore(Protocol):
    """Keeps notes, their vectors and links. Every method must see the owner's rows alone."""

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

    async def taken(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Mapping[InteractionId, GenerationResult]:
        """As in `NoteWriter`, but what is not found may be taken by somebody else meanwhile."""
        ...

    async def questions(self, owner: Owner, places: Sequence[TurnKey]) -> Mapping[TurnKey, tuple[str, str]]:
        """Speaker and question of those of the places where something was asked."""
        ...

    async def get(self, owner: Owner, note_id: NoteId, *, links_max: int) -> WrittenNote:
        """A note with its links, strongest first, ties by ids and type.

        Raises:
            NotFound: There is none of this id among the owner's.
        """
        ...

    async def list_notes(
        self, owner: Owner, *, kind: NoteKind | None, after: NotePosition | None, limit: int
    ) -> list[Note]:
        """Notes of the kind, or all, newest first, ties by id."""
        ...

    async def search(self, owner: Owner, search: NoteSearch) -> list[ScoredNote]:
        """Hits, best first, ties by id. See `NoteSearch`."""
        ...

    async def record_access(self, owner: Owner, counts: Mapping[NoteId, int], *, time: datetime) -> None:
        """Add to the access counts of notes and set the time of the last; unknown ids are ignored."""
        ...
