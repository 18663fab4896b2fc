"""The stores of the tier's subjects."""

from __future__ import annotations

from dataclasses import dataclass

from services.semantic.code.store import CodeStore
from services.semantic.content_keys import NO_CONTENT_KEYS, ContentKeys
from services.semantic.facts.ends import FactMarkStore
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
