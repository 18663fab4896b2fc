"""What maintenance reads and writes of facts. `tests/contract/fact_upkeep.py` is the suite every driver passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.common.embedding.vectors import Vector
from services.common.owners import Owner
from services.semantic.facts.model import FactId, FactStatus


@dataclass(frozen=True, slots=True)
class OwnerFacts:
    """How many active facts a user has."""

    owner: Owner
    count: int


@dataclass(frozen=True, slots=True)
class RetainedFact:
    """An active fact as far as its retention depends on it."""

    fact_id: FactId
    revision: int
    importance: float  # in [0, 1]
    last_confirmed_time: datetime
    fade_time: datetime | None  # None: it does not fade


@dataclass(frozen=True, slots=True, eq=False)
class MergeableFact:
    """An active fact that no later one has ended, as far as merging depends on it."""

    fact_id: FactId
    revision: int
    text: str
    confidence: float  # in [0, 1]
    importance: float  # in [0, 1]
    first_observed_time: datetime
    last_confirmed_time: datetime
    valid_from_time: datetime | None
    contradictions: tuple[FactId, ...]
    scope_key: str
    vector: Vector  # of length 1


class FactUpkeepStore(Protocol):
    """What every driver must do. Writes are one transaction under the user's lock, and refuse a void claim."""

    async def active_counts(
        self, *, after: Owner | None, limit: int, only: Owner | None = None
    ) -> Sequence[OwnerFacts]:
        """Users with active facts, of all tenants, in the order of tenant and user, behind the one named.

        With `only`, that one of them alone, without reading others.
        """
        ...

    async def active_time(self, owner: Owner) -> datetime | None:
        """When the user last stated or supported a fact, whatever became of it; None without any. By an index."""
        ...

    async def faded(self, owner: Owner, *, now: datetime, limit: int) -> Sequence[RetainedFact]:
        """Active facts whose time of fading has come, the longest ago first; ties by id."""
        ...

    async def least_important(self, owner: Owner, *, limit: int) -> Sequence[RetainedFact]:
        """Active facts, the least important first, of equal ones the one confirmed longest ago; ties by id."""
        ...

    async def mergeable(self, owner: Owner, *, model: str, limit: int) -> Sequence[MergeableFact]:
        """Active facts without an end, with vectors of a model, the last confirmed first; ties by id."""
        ...

    async def retire(self, owner: Owner, revisions: Mapping[FactId, int], status: FactStatus) -> Sequence[FactId]:
        """Deprecates or archives those of the facts that are active and still of the revision given; which."""
        ...

    async def reinstate(self, owner: Owner, fact_ids: Sequence[FactId], status: FactStatus) -> int:
        """Gives facts of a status, deprecated or archived, the one they had before; how many. They fade no more."""
        ...
