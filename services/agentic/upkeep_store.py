"""The parts of the ports `NoteStore` and `NoteWriter` that maintenance uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from services.agentic.model import Link, LinkKey, Note, NoteId
from services.common.embedding.vectors import Vector
from services.common.owners import Owner


@dataclass(frozen=True, slots=True)
class StoredNote:
    """A note with its vector."""

    note: Note
    vector: Vector | None  # of length 1; None: it has none of the model


NotePair: TypeAlias = tuple[NoteId, NoteId]
"""Two notes, the smaller id first."""


@dataclass(frozen=True, slots=True)
class PairUse:
    """How often two notes without a link were used together."""

    pair: NotePair
    count: int  # uses to add
    time: datetime  # of the last of them; aware, UTC


class UpkeepReads(Protocol):
    """Reads of background work. All methods raise `StoreUnavailable`."""

    @property
    def keeps_two_models(self) -> bool:
        """Whether a note can have vectors of two embedding models."""
        ...

    async def note_owners(self, *, after: Owner | None, limit: int) -> list[Owner]:
        """Users of all tenants behind one, by tenant and user."""
        ...

    async def notes_stamp(self, owner: Owner) -> str:
        """A text that is another one after any change or use of the owner's active notes."""
        ...

    async def active_notes(self, owner: Owner, *, after: NoteId, limit: int, model: str) -> list[StoredNote]:
        """Active notes with ids above one ("" for all), by id."""
        ...

    async def active_links(self, owner: Owner, *, after: LinkKey | None, limit: int) -> list[Link]:
        """Links of two active notes behind a key, by first note, second note and type."""
        ...

    async def owners_of_other_models(self, model: str, *, after: Owner | None, limit: int) -> list[Owner]:
        """Users of all tenants with notes of any status that have vectors of other models alone, as `note_owners`."""
        ...

    async def count_of_other_models(self, model: str, *, limit: int) -> int:
        """Notes of all tenants and of any status that have vectors of other models alone, counted up to a limit."""
        ...

    async def owners_of_two_models(self, model: str, *, after: Owner | None, limit: int) -> list[Owner]:
        """Users of all tenants with notes that have vectors of this model and of another one, as `note_owners`."""
        ...

    async def has_active_of_other_models(self, owner: Owner, model: str) -> bool:
        """Whether an active note has vectors of other models alone."""
        ...

    async def notes_of_other_models(self, owner: Owner, model: str, *, before: NoteId, limit: int) -> list[NoteId]:
        """Notes of any status with vectors of other models alone, greatest id first, below one ("" for all)."""
        ...


class UpkeepWrites(Protocol):
    """Reads and writes inside a transaction of one user's notes."""

    async def drop_vectors_of_other_models(self, model: str) -> int:
        """Remove vectors of other models from notes that have one of this model; from how many notes."""
        ...

    async def vectors_of(self, note_ids: Sequence[NoteId], *, model: str) -> Mapping[NoteId, Vector]:
        """The vectors of notes, of length 1; those without one of this model are left out."""
        ...

    async def links_among(self, note_ids: Sequence[NoteId]) -> list[Link]:
        """Links whose notes are both named, of any status, by first note, second note and type."""
        ...

    async def count_pairs(self, pairs: Sequence[PairUse]) -> Mapping[NotePair, int]:
        """Add to the counts of pairs of notes that were used together, and return the counts.

        The pairs are distinct. One whose notes are not both there is passed over.
        """
        ...

    async def forget_pairs(self, pairs: Sequence[NotePair]) -> None:
        """Remove the counts of pairs."""
        ...

    async def forget_idle_pairs(self, before: datetime) -> None:
        """Remove the counts of pairs that were last used together before a time."""
        ...

    async def set_successors(self, successors: Mapping[NoteId, NoteId | None]) -> None:
        """Name for each of these notes the one that stands for it; None: none does."""
        ...

    async def made_from(self, note_ids: Sequence[NoteId]) -> list[NoteId]:
        """Notes that were made by maintenance from one of these, by id."""
        ...

    async def replaced_by(self, note_ids: Sequence[NoteId]) -> list[NoteId]:
        """Notes whose successor is one of these, by id."""
        ...
