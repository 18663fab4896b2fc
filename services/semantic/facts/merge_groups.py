"""Groups of similar facts that wait for a decision, or were decided about, and their ports (SPEC 3.6).

A group holds ids alone. `tests/contract/fact_merges.py` is the suite that every driver passes.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final, NewType, Protocol

from services.semantic.facts.model import Fact, FactId

MergeGroupId = NewType("MergeGroupId", str)

_NAMESPACE: Final = uuid.UUID("6c0d4f0e-8f0b-4d0e-9a51-3b7f2f2f7c11")
"""Of the ids of groups; any fixed UUID."""


class MergeState(IntEnum):
    """What became of a group; the numbers are those of the wire format."""

    WAITING = 1
    UNITED = 2
    KEPT_APART = 3


class MergeDecision(IntEnum):
    """What shall become of a group; the numbers are those of the wire format."""

    UNITE = 1
    KEEP_APART = 2


@dataclass(frozen=True, slots=True)
class MergeGroup:
    """Facts of one owner that may say the same."""

    group_id: MergeGroupId
    fact_ids: tuple[FactId, ...]  # ascending, two or more
    state: MergeState
    create_time: datetime  # aware, UTC
    decide_time: datetime | None = None  # aware, UTC; None while it waits
    survivor_id: FactId | None = None  # the fact that the others were merged into, where they are united

    @classmethod
    def waiting(cls, fact_ids: Iterable[FactId], *, at: datetime) -> MergeGroup:
        """A group that nobody has decided about. Its id follows from its facts: it is found twice as one group."""
        ids = tuple(sorted(set(fact_ids)))
        return cls(group_id_of(ids), ids, MergeState.WAITING, at)


@dataclass(frozen=True, slots=True)
class MergePosition:
    """Where a page of groups begins: after this one."""

    create_time: datetime
    group_id: MergeGroupId


def group_id_of(fact_ids: Iterable[FactId]) -> MergeGroupId:
    """The id of the group of these facts, whatever their order."""
    return MergeGroupId(str(uuid.uuid5(_NAMESPACE, " ".join(sorted(fact_ids)))))


def etag_of(group: MergeGroup, facts: Mapping[FactId, Fact]) -> str:
    """Names the state of a group and of its facts. Those that are gone count too."""
    states = [f"{fact_id}:{facts[fact_id].revision if fact_id in facts else 0}" for fact_id in group.fact_ids]
    text = f"{int(group.state)} {group.survivor_id or ''} {' '.join(states)}"
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def best_first(facts: Iterable[Fact], survivor_id: FactId | None = None) -> list[Fact]:
    """Facts in the order in which they would survive: by confidence, of equal ones the oldest; a survivor first."""
    order = lambda fact: (fact.fact_id != survivor_id, -fact.confidence, fact.first_observed_time, fact.fact_id)  # noqa: E731
    return sorted(facts, key=order)


class MergeGroupWriter(Protocol):
    """Writes to the groups of one user, in the transaction of a `FactWriter`."""

    async def get(self, group_id: MergeGroupId) -> MergeGroup | None:
        """A group, if there is one of this id."""
        ...

    async def queue(self, groups: Sequence[MergeGroup]) -> list[MergeGroupId]:
        """Add groups that wait; which are new. Those that are known, whatever their state, are passed over.

        So are those of which a fact is gone, no longer active, or ended.
        """
        ...

    async def put(self, group: MergeGroup) -> None:
        """Store a group, in place of the one of its id."""
        ...

    async def withdraw(self, group_ids: Sequence[MergeGroupId]) -> list[MergeGroupId]:
        """Remove those of the groups that wait; which, by id."""
        ...

    async def withdraw_with(self, fact_ids: Sequence[FactId]) -> None:
        """Remove the groups that wait and have one of these facts."""
        ...
