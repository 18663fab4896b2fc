"""What erasing, forgetting and correcting return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums import ErasureState, ErasureStore, MemoryKind, PlannedReason


@dataclass(frozen=True, slots=True)
class StoreReceipt:
    """What one store erased."""

    store: ErasureStore
    done: bool  # the store has nothing left of it
    counts: Mapping[str, int]  # by name, such as "episodes"
    bytes_may_remain: bool = False  # in files of the store's engine, until they are rewritten


@dataclass(frozen=True, slots=True)
class Erasure:
    """An erasure with its receipt. It holds no content."""

    erasure_id: str
    user_id: str  # empty for the whole tenant
    state: ErasureState
    stores: tuple[StoreReceipt, ...]
    create_time: datetime | None
    complete_time: datetime | None  # None while it is pending
    backup_expire_time: datetime | None  # until when backups may hold it; None where the service does not know
    purge_note: str = ""  # what to run so that no bytes of it are left in files, or what the schedule does
    purge_time: datetime | None = None  # when files of PostgreSQL and embedded indexes were purged; None: not yet
    purge_due_time: datetime | None = None  # when the schedule purges them at the latest; None: done, pending, or none


@dataclass(frozen=True, slots=True)
class PlannedMemory:
    """A memory that would go, or that stays near those."""

    kind: MemoryKind
    memory_id: str
    preview: str  # its text, cut
    time: datetime | None
    reason: PlannedReason = PlannedReason.UNSPECIFIED  # why `forget` chose it, or left it


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """What would go."""

    episodes: int
    facts: int
    notes: int
    memories: tuple[PlannedMemory, ...]  # the first of them
    near: tuple[PlannedMemory, ...] = ()  # turns right behind those that stay, of `forget`
    degraded: bool = False  # a service did not respond in time: `forget` may have missed memories


@dataclass(frozen=True, slots=True)
class ForgetResult:
    """What a query chose, and what became of it."""

    erasure: Erasure | None  # None for a dry run, and where nothing fits the query
    plan: ErasurePlan | None  # None for a repeat, and with a plan token
    plan_token: str  # of a dry run: erases exactly its plan
    replayed: bool


@dataclass(frozen=True, slots=True)
class CorrectedStatement:
    """A statement that is marked as superseded, or would be."""

    interaction_id: str
    preview: str
    whole_turn: bool  # False: the turn says more, which still holds


@dataclass(frozen=True, slots=True)
class Correction:
    """What came of a correction."""

    interaction_id: str  # the turn that holds the right text; empty for a dry run
    consistency_token: str
    statements: tuple[CorrectedStatement, ...]
    replayed: bool
