"""Contradictions without a winner: by the policy, or as the semantic tier has decided."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mneme.semantic.v1 import supersessions_pb2
from services.common.convert import timestamp
from services.gateway.context.candidates import candidates
from services.gateway.context.model import SectionKind
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.conflicts import ConflictResolution, ConflictSettings
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import (
    CoarseResult,
    Conflict,
    ConflictKind,
    ConflictReason,
    Reading,
    Recalled,
    RecalledFact,
)
from services.gateway.recall.superseded import OwnerSuperseded, Superseded
from tests.unit.gateway.recall.test_conflicts import NEW, OLD, fact, note, order, resolve, turn
from tests.unit.gateway.tiers import NOON, uuid

REDUCE = ConflictChoice(ConflictPolicy.REDUCE)
LATER = NOON + timedelta(days=30)
LEEDS, LYON = "I live in Leeds.", "I live in Lyon."


def pair(
    earlier: int,
    later: int,
    statement: str = LEEDS,
    standing: str = LYON,
    reason: int = supersessions_pb2.SUPERSESSION_REASON_UPDATED,
) -> supersessions_pb2.Supersession:
    return supersessions_pb2.Supersession(
        supersession_id=f"{earlier}/{later}",
        memory_id=uuid(earlier),
        superseded_by=uuid(later),
        statement=statement,
        standing_statement=standing,
        reason=supersessions_pb2.SupersessionReason.Name(reason),
        end_time=timestamp(NOON + timedelta(days=1)),
        create_time=timestamp(NOON + timedelta(days=1)),
    )


def stated(name: str, value: str, *sources: int, said: str = "", **fields: Any) -> RecalledFact:
    """A fact in these words."""
    found = fact(name, value, *sources, **fields)
    found.fact.text = said or found.fact.text
    return found


def reduced(*pairs: supersessions_pb2.Supersession) -> Superseded:
    return OwnerSuperseded.of(1, [], pairs).reduced_at(LATER)


def neither(kind: MemoryKind, *memory_ids: str, subject: str, how: ConflictKind = ConflictKind.VALUE) -> Conflict:
    policy, reason = ConflictPolicy.REDUCE, ConflictReason.NEITHER
    return Conflict(how, subject, "", kind, (), kind, policy, reason, memory_ids)


def test_spec_3_5_with_reduce_neither_turn_is_moved_or_marked_and_both_are_reported() -> None:
    before = (turn(1, OLD), turn(2, "Hello!"), turn(3, NEW, day=1))
    resolved = resolve(before, (), REDUCE)
    assert resolved.memories == before
    assert resolved.conflicts == (
        neither(MemoryKind.EPISODE, uuid(1), uuid(3), subject="Ada likes coffee", how=ConflictKind.NEGATION),
    )
    dropping = replace(REDUCE, drops_superseded=True)
    assert resolve(before, (), dropping).memories == before, "nothing loses"
    configured = ConflictResolution(ConflictSettings(policy=ConflictPolicy.REDUCE))
    assert configured(before, ()) == resolved


def test_spec_3_5_with_reduce_facts_and_notes_are_reported_without_a_winner() -> None:
    facts = (stated("a", "Leeds", 1, against="b"), stated("b", "Lyon", 3, against="a", day=1))
    notes = (note("n", f"Ada: {OLD}"), note("m", f"Ada: {NEW}", day=1))
    resolved = resolve((), facts, REDUCE, notes=notes)
    assert (resolved.facts, resolved.notes) == (facts, notes)
    assert set(resolved.conflicts) == {
        neither(MemoryKind.FACT, "a", "b", subject="Ada lives in"),
        neither(MemoryKind.NOTE, "n", "m", subject="Ada likes coffee", how=ConflictKind.NEGATION),
    }


def test_spec_3_5_pairs_that_the_semantic_tier_has_reduced_have_no_winner_whatever_the_policy() -> None:
    memories = (turn(1, LEEDS), turn(2, LYON, day=1), turn(3, OLD), turn(4, NEW, day=1))
    resolved = resolve(memories, (), reduced=reduced(pair(1, 2)))
    assert order(resolved) == [LEEDS, LYON, NEW, OLD], "of other pairs the later one still stands"
    found = {conflict.reason: conflict for conflict in resolved.conflicts}
    assert found[ConflictReason.NEITHER].contradicting_ids == (uuid(1), uuid(2))
    assert found[ConflictReason.LATER].winner_id == uuid(4)
    assert len(resolved.conflicts) == 2


def test_spec_5_7_of_two_that_are_of_one_time_neither_stands() -> None:
    memories = (turn(1, OLD), turn(2, NEW))
    facts = (stated("a", "Leeds", 1, against="b"), stated("b", "Lyon", 2, against="a"))
    notes = (note("n", f"Ada: {OLD}"), note("m", f"Ada: {NEW}"))
    resolved = resolve(memories, facts, notes=notes)
    assert (resolved.memories, resolved.facts, resolved.notes) == (memories, facts, notes)
    found = {(conflict.reason, conflict.loser_ids, conflict.contradicting_ids) for conflict in resolved.conflicts}
    neither = ConflictReason.NEITHER
    assert found == {(neither, (), ids) for ids in ((uuid(2), uuid(1)), ("b", "a"), ("m", "n"))}


def test_spec_5_7_of_two_that_are_of_one_time_another_policy_may_say_which_stands() -> None:
    memories = (turn(1, OLD, importance=0.2), turn(2, NEW, importance=0.9))
    [conflict] = resolve(memories, (), ConflictChoice(ConflictPolicy.IMPORTANCE)).conflicts
    assert (conflict.winner_id, conflict.reason) == (uuid(2), ConflictReason.IMPORTANCE)


def test_spec_3_5_facts_and_notes_of_reduced_statements_are_reported() -> None:
    facts = (
        stated("a", "Leeds", 1, said="Ada lives in Leeds"),
        stated("b", "Lyon", 2, said="Ada lives in Lyon", day=1),
        stated("c", "Lyon", 2, 5, said="Ada lives in Lyon"),  # said again by a turn that nothing contradicts
        stated("d", "tea", 1, predicate="likes", said="Ada drinks green tea"),  # another sentence of the turn
    )
    resolved = resolve((), facts, notes=(note("n", f"Ada: {LYON}", 2),), reduced=reduced(pair(1, 2)))
    found = {(conflict.loser_kind, conflict.contradicting_ids) for conflict in resolved.conflicts}
    assert found == {(MemoryKind.FACT, ("a", "b")), (MemoryKind.NOTE, ("n",))}


@pytest.mark.parametrize(
    ("there", "ids", "subject"), [(1, (uuid(1), uuid(2)), LEEDS), (2, (uuid(2),), LYON), (3, None, "")]
)
def test_spec_5_3_of_a_reduced_pair_only_what_the_reader_sees_is_named(
    there: int, ids: tuple[str, ...] | None, subject: str
) -> None:
    """Who sees the earlier turn sees the later one, but not the other way round."""
    resolved = resolve((turn(there, "Hello!"),), (), reduced=reduced(pair(1, 2)))
    found = [(conflict.contradicting_ids, conflict.subject) for conflict in resolved.conflicts]
    assert found == ([] if ids is None else [(ids, subject)])


def test_spec_3_5_with_reduce_marks_of_contradictions_have_no_winner_and_corrections_have() -> None:
    updated = pair(1, 2)
    corrected = pair(3, 4, reason=supersessions_pb2.SUPERSESSION_REASON_CORRECTED)
    resting = pair(5, 2, reason=supersessions_pb2.SUPERSESSION_REASON_PREMISE_ENDED)
    known = OwnerSuperseded.of(1, [updated, corrected, resting], [pair(6, 7)])
    coarse = CoarseResult(superseded=known.at(LATER), reduced=known.reduced_at(LATER))
    found = resolve.without_reduced(coarse, REDUCE)
    assert found.superseded == {uuid(3): [corrected]}
    assert set(found.reduced) == {uuid(1), uuid(2), uuid(6), uuid(7)}
    assert resolve.without_reduced(coarse, ConflictChoice()) is coarse


def test_spec_3_7_a_pair_that_was_reduced_later_was_not_known() -> None:
    known = OwnerSuperseded.of(1, [], [pair(1, 2)])
    assert known.reduced_at(NOON) == {}
    assert known.reduced_at(LATER, known_at=NOON) == {}
    assert set(known.reduced_at(LATER, known_at=LATER)) == {uuid(1), uuid(2)}
    assert known.size_bytes > OwnerSuperseded.of(1, []).size_bytes


def test_spec_3_5_a_context_says_of_turns_facts_and_notes_that_they_are_contradicted() -> None:
    memories = (turn(1, LEEDS), turn(2, LYON, day=1), turn(3, "Hello!"))
    facts = (stated("a", "Leeds", 1, said="Ada lives in Leeds"), stated("b", "tea", 3, said="Ada likes tea"))
    notes = (note("n", f"Ada: {LYON}", 2, 9),)
    pairs = reduced(pair(1, 2), pair(9, 2, LYON))
    resolved = resolve(memories, facts, notes=notes, reduced=pairs)
    recalled = Recalled(
        recall_id="r",
        memories=resolved.memories,
        facts=resolved.facts,
        notes=resolved.notes,
        recent_turns=(),
        reports=(),
        reading=Reading("q", (), ()),
        stage_seconds=(),
        is_degraded=False,
        conflicts=resolved.conflicts,
        reduced=pairs,
    )
    offered = candidates(recalled, overlap_rank_max=0)
    starts = [one.turn.line_start for one in offered[SectionKind.MEMORIES] if one.turn is not None]
    assert starts == ["Ada (contradicted): ", "Ada (contradicted): ", "Ada: "]
    assert [one.body for one in offered[SectionKind.FACTS]] == ["Ada lives in Leeds (contradicted)", "Ada likes tea"]
    assert [one.body for one in offered[SectionKind.NOTES]] == [f"Ada: {LYON} (contradicted)"]
