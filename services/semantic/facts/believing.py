"""What was believed at a time: facts as they follow from the statements that had been recorded by then (SPEC 3.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from services.common.owners import UserId
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import Fact, FactId, FactRecord
from services.semantic.facts.working_set import FactWorkingSet


def believed(
    records: Iterable[FactRecord], known_at: datetime, *, user_id: UserId, settings: EvidenceSettings
) -> dict[FactId, Fact]:
    """Returns facts as they were believed at a time, those alone of which something had been recorded.

    Args:
        records: The facts with those of their topics, and their statements.
        known_at: What was recorded later is left out.
        user_id: Whose facts they are.
        settings: How evidence changes a fact.
    """
    revisions = {record.fact_id: record.fact.revision for record in records if record.fact is not None}
    known = [
        replace(
            record,
            statements=statements,
            supports=tuple(s for s in record.supports if s.known_time <= known_at),
            fact=None,
            earlier_evidence=0,
        )
        for record in records
        if (statements := tuple(s for s in record.statements if s.known_time <= known_at))
    ]
    working_set = FactWorkingSet(user_id, settings, new_id=str, model="")
    working_set.load(known)
    working_set.rederive([record.fact_id for record in known])
    return {
        change.fact.fact_id: replace(change.fact, revision=revisions.get(change.fact.fact_id, 1))
        for change in working_set.changes()
    }
