"""Facts of two scopes that contradict each other, where no link joins them (SPEC 3.5, 5.3, 5.7)."""

from __future__ import annotations

import pytest

from mneme.common.v1 import common_pb2
from services.gateway.recall.model import ConflictKind, RecalledFact
from tests.unit.gateway.recall.test_conflicts import fact, resolve

GLOBAL = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL)
PROJECT = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")


def of(scope: common_pb2.Scope, name: str, predicate: str, value: str, day: int) -> RecalledFact:
    found = fact(name, value, predicate=predicate, day=day)
    found.fact.scope.CopyFrom(scope)
    return found


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (("not_allergic_to", "nuts"), ("allergic_to", "Nuts"), ConflictKind.NEGATION),
        (("likes", "jazz"), ("dislikes", "jazz"), ConflictKind.NEGATION),
        (("lives_in", "Leeds"), ("Lives in", "York"), ConflictKind.VALUE),
    ],
)
def test_spec_5_7_a_later_fact_of_a_narrower_scope_supersedes(
    before: tuple[str, str], after: tuple[str, str], kind: ConflictKind
) -> None:
    facts = (of(GLOBAL, "g", *before, 0), of(PROJECT, "p", *after, 1))
    [conflict] = resolve((), facts).conflicts
    assert (conflict.kind, conflict.winner_id, conflict.loser_ids) == (kind, "p", ("g",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("likes", "jazz"), ("likes", "tea")),
        (("lives_in", "Leeds"), ("lives_in", "Leeds city")),
        (("not_allergic_to", "nuts"), ("allergic_to", "eggs")),
        (("not_lives_in", "Leeds"), ("not_lives_in", "York")),
        (("lives_in", "Leeds"), ("works_as", "nurse")),
    ],
)
def test_spec_5_7_facts_of_two_scopes_that_can_both_hold_do_not_contradict(
    before: tuple[str, str], after: tuple[str, str]
) -> None:
    assert resolve((), (of(GLOBAL, "g", *before, 0), of(PROJECT, "p", *after, 1))).conflicts == ()


def test_spec_3_5_facts_of_one_scope_contradict_by_their_links_alone() -> None:
    facts = (of(PROJECT, "a", "lives_in", "Leeds", 0), of(PROJECT, "b", "lives_in", "York", 1))
    assert resolve((), facts).conflicts == ()
