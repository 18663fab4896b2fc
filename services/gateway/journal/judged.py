"""Which memories that a recall returned were judged good. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.common.scope import GLOBAL_SCOPE
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import RecallRecord


@dataclass(frozen=True, slots=True)
class Judgement:
    """One feedback on a recall as a whole, or on single memories."""

    recall_id: str  # empty: of single memories
    memory_ids: frozenset[str]
    value: int  # -1, 0 or 1
    create_time: datetime


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A recall, and what it returned that was judged good."""

    recall: RecallRecord
    good: tuple[tuple[MemoryKind, str], ...]  # kinds and ids, as it returned them


def judged(recalls: Iterable[RecallRecord], judgements: Sequence[Judgement]) -> list[JudgedRecall]:
    """Those of the recalls whose question is known and of which something was judged good, in their order.

    Recalls that were made in a project, a session, a task or an isolated context are left out: these
    questions serve to compare models, and a comparison reads as GLOBAL.

    Of the judgements, the oldest first, the last one on a memory counts: on the recall as a whole, or on the memory
    alone since the recall.
    """
    found = []
    for recall in recalls:
        good = _good(recall, judgements)
        if recall.query and good and GLOBAL_SCOPE.sees(recall.scope):
            found.append(JudgedRecall(recall, good))
    return found


def _good(recall: RecallRecord, judgements: Sequence[Judgement]) -> tuple[tuple[MemoryKind, str], ...]:
    returned = {memory_id for _, memory_id in recall.memories}
    values: dict[str, int] = {}
    for judgement in judgements:
        if judgement.recall_id == recall.recall_id:
            values.update(dict.fromkeys(returned, judgement.value))
        elif not judgement.recall_id and judgement.create_time >= recall.create_time:
            values.update(dict.fromkeys(returned & judgement.memory_ids, judgement.value))
    return tuple((kind, memory_id) for kind, memory_id in recall.memories if values.get(memory_id) == 1)
