"""What a maintenance job is: steps to look at, a pure plan of changes, and how they are applied and undone."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from services.common.owners import Owner

Json: TypeAlias = str | int | float | bool | Sequence["Json"] | Mapping[str, "Json"] | None

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Change:
    """One change that a job makes. It is logged as it is: ids and numbers, never content."""

    action: str  # what is done, such as "archive"
    target: str  # to which memory, by id
    retires: int = 0  # how many memories it takes out of use: what the cap counts
    facts: Mapping[str, Json] = field(default_factory=dict)  # what applying and undoing it needs
    grounds: tuple[
        str, ...
    ] = ()  # what calls for it; see `grounds.py`. One that was taken back is enough to leave it out

    def fields(self) -> dict[str, Json]:
        """As it is logged. Shares the facts: unlike `dataclasses.asdict`, which copies each of thousands of ids."""
        fields: dict[str, Json] = {
            "action": self.action, "target": self.target, "retires": self.retires, "facts": self.facts,
        }  # fmt: skip
        return fields | {"grounds": self.grounds} if self.grounds else fields

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Change:
        """As it was logged."""
        return cls(**{**fields, "grounds": tuple(fields.get("grounds", ()))})


@runtime_checkable
class HeedsUndone(Protocol):
    """A state, a dataclass, whose plan depends on what was taken back: other changes take the place of those."""

    @property
    def undone(self) -> frozenset[str]:
        """Grounds of the owner's changes that were taken back; the runner sets them before it plans."""
        ...


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """What a job looks at in one step."""

    state: S
    cursor: str  # the next step begins behind it
    owner: Owner | None = None  # whose memories; None: of a store as a whole
    memory_count: int = 0  # memories that the cap is a share of: all of the owner's, or those of this step of a store


@dataclass(frozen=True, slots=True)
class Cap:
    """How much one run may retire."""

    share: float = 0.05  # of an owner's memories, or of a store's, in [0, 1]
    at_least: int = 1  # memories that may be retired however few there are
    of_store: bool = False  # the whole store counts: a dry run goes first, and beyond the cap nothing is changed

    def allowed(self, memory_count: int) -> int:
        """How many of so many memories may be retired."""
        return max(self.at_least, math.floor(self.share * memory_count))


@dataclass(slots=True, kw_only=True)
class RunReport:
    """What one run of a job did, or would do."""

    run_id: str
    job: str
    dry_run: bool = False
    steps: int = 0
    memories: int = 0  # that it looked at, as the steps count them
    planned: int = 0  # changes
    attempted: int = 0  # changes within the cap
    applied: int = 0  # changes that were made; those whose sources had changed meanwhile are not
    retired: int = 0  # memories that were taken out of use, or would be
    over_cap: int = 0  # memories that stayed because of the cap
    is_claimed: bool = True  # False: another replica runs the job, and nothing was done
    is_stopped: bool = False  # the job failed too often: nothing was done
    is_cut: bool = False  # the time was over before the end; the next run goes on there


class Job(Protocol[S]):
    """A maintenance job. Its name is that of the tier and of what it does, such as "episodic.decay"."""

    @property
    def name(self) -> str:
        """Unique, stable: claims, cursors and logs are stored under it."""
        ...

    @property
    def cap(self) -> Cap:
        """How much one run may retire."""
        ...

    def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[S]]:
        """The steps behind a cursor, "" for the beginning, in a stable order; of one owner where one is given.

        May pause between steps, so that requests go first.
        """
        ...

    def plan(self, state: S, now: datetime) -> Sequence[Change]:
        """The changes for a state, the most important first. A pure function.

        The runner leaves out those with grounds that were taken back.
        """
        ...

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """Makes changes in one transaction and returns those made.

        Must read the sources of each change again, and leave it out where they no longer call for it: the plan was
        made on a snapshot, and after a crash the same plan is applied once more.
        """
        ...

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """Takes changes back where what they left is as they left it; returns how many. May be repeated."""
        ...
