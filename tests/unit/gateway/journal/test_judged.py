"""Which recalls are listed with what was judged good of them."""

from __future__ import annotations

from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.judged import Judgement, judged
from services.gateway.journal.model import RecallRecord
from tests.unit.gateway.tiers import NOON


def recall(recall_id: str, scope: Scope = GLOBAL_SCOPE) -> RecallRecord:
    memories = ((MemoryKind.EPISODE, "m"),)
    return RecallRecord("acme", recall_id, "ada", memories, NOON, query="Where is the boat?", scope=scope)


def test_spec_5_3_recalls_of_narrower_scopes_and_of_isolated_contexts_are_not_listed() -> None:
    recalls = [
        recall("r1"),
        recall("r2", Scope(ScopeLevel.PROJECT, "p1")),
        recall("r3", Scope(context_id="agent-a")),
        recall("r4", Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent-a")),
    ]
    good = [Judgement(each.recall_id, frozenset(), 1, NOON) for each in recalls]
    assert [each.recall.recall_id for each in judged(recalls, good)] == ["r1"]
