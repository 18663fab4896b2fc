"""The stores of the tier's subjects."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.maintenance.election import Leader
from services.common.portability.store import UserRecordStore
from services.common.rpc.readiness import Check
from services.semantic.code.store import CodeStore
from services.semantic.content_keys import NO_CONTENT_KEYS, ContentKeys
from services.semantic.facts.ends import FactMarkStore
from services.semantic.facts.store import FactStore
from services.semantic.maintenance.schedule import FactJobStores
from services.semantic.procedures.store import ProcedureStore
from services.semantic.profile.store import ProfileStore
from services.semantic.supersession.store import SupersessionStore


@dataclass(frozen=True)
class TierStores:
    """The stores of the tier's subjects other than facts."""

    profiles: ProfileStore
    supersessions: SupersessionStore
    procedures: ProcedureStore
    code: CodeStore
    fact_marks: FactMarkStore
    keys: ContentKeys = NO_CONTENT_KEYS


@dataclass(frozen=True, slots=True)
class EngineStores:
    """All stores of the tier on one engine, whichever model its vectors are of."""

    facts: FactStore
    others: TierStores
    jobs: FactJobStores
    records: UserRecordStore
    ready: Check  # whether the engine can be reached
    leader: Leader | None  # None: the replica that claims a job first runs it
