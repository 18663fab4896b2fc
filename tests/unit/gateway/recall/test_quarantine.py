"""What a reader must not see is dropped, whatever a tier returned."""

from __future__ import annotations

import pytest

from mneme.common.v1 import common_pb2
from services.common.scope import Scope, ScopeLevel
from services.gateway.grants.model import Readers
from services.gateway.recall.model import CoarseResult
from services.gateway.recall.stages.quarantine import is_visible, quarantine
from tests.unit.gateway.tiers import fact_hit, note_hit, scope_message, session_turn

GLOBAL = Scope()
PROJECT = Scope(ScopeLevel.PROJECT, "p1")
SIBLING_PROJECT = Scope(ScopeLevel.PROJECT, "p2")
SESSION = Scope(ScopeLevel.SESSION, "p1", "s1")
SIBLING_SESSION = Scope(ScopeLevel.SESSION, "p1", "s2")
TASK = Scope(ScopeLevel.TASK, "p1", "s1", "t1")
SIBLING_TASK = Scope(ScopeLevel.TASK, "p1", "s1", "t2")
EVERYWHERE = (GLOBAL, PROJECT, SIBLING_PROJECT, SESSION, SIBLING_SESSION, TASK, SIBLING_TASK)

SEES = {
    GLOBAL: {GLOBAL},
    PROJECT: {GLOBAL, PROJECT},
    SESSION: {GLOBAL, PROJECT, SESSION},
    TASK: {GLOBAL, PROJECT, SESSION, TASK},
}


@pytest.mark.parametrize("reader", SEES, ids=lambda scope: scope.level.name)
def test_spec_5_3_a_reader_sees_its_own_scope_and_those_above_it(reader: Scope) -> None:
    result = CoarseResult(
        facts=tuple(fact_hit(scope.key, scope=scope) for scope in EVERYWHERE),
        notes=tuple(note_hit(scope.key, scope=scope) for scope in EVERYWHERE),
        recent_turns=tuple(session_turn(1, scope.key, scope=scope) for scope in EVERYWHERE),
    )
    kept = quarantine(result, Readers(reader))
    visible = {scope.key for scope in SEES[reader]}
    assert {hit.fact.fact_id for hit in kept.facts} == visible
    assert {hit.note.note_id for hit in kept.notes} == visible
    assert {turn.turn.content for turn in kept.recent_turns} == visible


def test_spec_5_3_what_has_no_scope_is_global() -> None:
    kept = quarantine(CoarseResult(None, (fact_hit("f"),), (note_hit("n"),), (session_turn(1),)), Readers(SIBLING_TASK))
    assert len(kept.facts) == len(kept.notes) == len(kept.recent_turns) == 1


def test_spec_5_3_the_order_and_the_rest_of_an_answer_stay() -> None:
    facts = (fact_hit("b"), fact_hit("hidden", scope=PROJECT), fact_hit("a"))
    kept = quarantine(CoarseResult(facts=facts), Readers(GLOBAL))
    assert [hit.fact.fact_id for hit in kept.facts] == ["b", "a"]


def test_spec_5_3_what_belongs_to_a_scope_of_an_unknown_level_is_shown_to_nobody() -> None:
    unknown = common_pb2.Scope(level=9)  # type: ignore[arg-type]  # as a newer tier might send it
    assert not any(is_visible(unknown, True, reader) for reader in EVERYWHERE)
    assert is_visible(scope_message(PROJECT), True, TASK)
