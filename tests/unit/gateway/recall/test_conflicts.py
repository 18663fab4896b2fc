"""Which turns and facts contradict each other, which of them stand, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.common.v1 import common_pb2
from services.common.convert import timestamp
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.conflicts import ConflictResolution, ConflictSettings, Resolved
from services.gateway.recall.answer.lifting import PART
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import (
    Conflict,
    ConflictKind,
    ConflictReason,
    RankedEpisode,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    RetrieverRank,
)
from tests.unit.gateway.tiers import NOON, episode, fact_hit, note_hit, uuid

resolve = ConflictResolution()


def turn(
    number: int, text: str, *, day: int = 0, speaker: str = "Ada", fact_ids: tuple[str, ...] = (), **fields: Any
) -> RecalledMemory:
    """A turn said on some day; the smaller its number, the better its rank."""
    said = episode(number, text)
    said.speaker = speaker
    said.time.CopyFrom(timestamp(NOON + timedelta(days=day)))
    for name, value in fields.items():
        setattr(said, name, value)
    score = 10.0 - number
    return RecalledMemory(RankedEpisode(uuid(number), score, (), (("dense", score),)), said, fact_ids)


def fact(
    name: str,
    value: str,
    *sources: int,
    against: Sequence[str] = (),
    predicate: str = "lives_in",
    day: int = 0,
    **fields: Any,
) -> RecalledFact:
    said = timestamp(NOON + timedelta(days=day))
    hit = fact_hit(
        name,
        *sources,
        subject="Ada",
        predicate=predicate,
        object=value,
        contradictions=against,
        last_confirmed_time=said,
        **fields,
    )
    return RecalledFact(hit.fact, 0.5, 0.5, RetrieverRank("facts", 1, 0.5), (("similarity", 0.5),))


def note(name: str, content: str, *sources: int, day: int = 0) -> RecalledNote:
    hit = note_hit(name, *sources)
    hit.note.content = content
    hit.note.time.CopyFrom(timestamp(NOON + timedelta(days=day)))
    return RecalledNote(hit.note, 0.5, 0.5, RetrieverRank("notes", 1, 0.5), (("similarity", 0.5),))


def order(resolved: Resolved) -> list[str]:
    return [memory.episode.query for memory in resolved.memories]


OLD, NEW = "I like coffee.", "I don't like coffee any more."


def test_spec_5_7_a_denial_is_a_conflict_and_what_was_said_last_stands() -> None:
    resolved = resolve((turn(1, OLD), turn(2, "Hello!"), turn(3, NEW, day=1)), ())
    assert resolved.conflicts == (
        Conflict(
            ConflictKind.NEGATION,
            "Ada likes coffee",
            uuid(3),
            MemoryKind.EPISODE,
            (uuid(1),),
            MemoryKind.EPISODE,
            ConflictPolicy.RECENCY,
            ConflictReason.LATER,
        ),
    )
    assert order(resolved) == [NEW, OLD, "Hello!"]


def test_spec_5_7_another_value_of_the_same_thing_is_a_conflict() -> None:
    said = ["I live in Leeds.", "I just moved to Lyon.", "I'm based in Turin now."]
    resolved = resolve(tuple(turn(number, text, day=number) for number, text in enumerate(said)), ())
    (conflict,) = resolved.conflicts
    assert (conflict.kind, conflict.subject) == (ConflictKind.VALUE, "Ada lives in")
    assert (conflict.winner_id, conflict.loser_ids) == (uuid(2), (uuid(1), uuid(0)))


def test_spec_5_7_what_stands_is_put_before_what_it_supersedes_and_its_score_says_why() -> None:
    before = (turn(1, "Hello!"), turn(2, OLD), turn(3, "Bye!"), turn(4, NEW, day=1), turn(5, "Again!"))
    resolved = resolve(before, ())
    assert order(resolved) == ["Hello!", NEW, OLD, "Bye!", "Again!"]
    lifted = resolved.memories[1].ranked
    assert lifted.score == 8.0
    assert dict(lifted.parts) == {"dense": 6.0, PART: 2.0}
    for memory in resolved.memories:
        assert memory.ranked.score == pytest.approx(sum(value for _, value in memory.ranked.parts))
    others = [memory for memory in resolved.memories if memory.ranked.episode_id != uuid(4)]
    assert others == [memory for memory in before if memory.ranked.episode_id != uuid(4)]


def test_spec_5_7_what_is_in_order_already_keeps_its_score() -> None:
    before = (turn(1, NEW, day=1), turn(2, OLD))
    resolved = resolve(before, ())
    assert resolved.memories == before
    assert resolved.conflicts


@pytest.mark.parametrize(
    ("policy", "preferred", "winner", "reason"),
    [
        (ConflictPolicy.RECENCY, (), 2, ConflictReason.LATER),
        (ConflictPolicy.CONFIDENCE, (), 1, ConflictReason.CONFIDENCE),
        (ConflictPolicy.IMPORTANCE, (), 1, ConflictReason.IMPORTANCE),
        (ConflictPolicy.USER_OVERRIDE, (1,), 1, ConflictReason.USER_CHOICE),
        (ConflictPolicy.USER_OVERRIDE, (2,), 2, ConflictReason.USER_CHOICE),
        (ConflictPolicy.USER_OVERRIDE, (1, 2), 2, ConflictReason.LATER),
        (ConflictPolicy.USER_OVERRIDE, (9,), 2, ConflictReason.LATER),
    ],
)
def test_spec_5_7_the_policy_decides(
    policy: ConflictPolicy, preferred: tuple[int, ...], winner: int, reason: ConflictReason
) -> None:
    turns = (turn(1, OLD, confidence=0.9, importance=0.8), turn(2, NEW, day=1, confidence=0.4, importance=0.3))
    choice = ConflictChoice(policy, frozenset(map(uuid, preferred)))
    (conflict,) = resolve(turns, (), choice).conflicts
    assert (conflict.winner_id, conflict.policy, conflict.reason) == (uuid(winner), policy, reason)
    facts = (
        fact("1", "Leeds", against=["2"], confidence=0.9, importance=0.8),
        fact("2", "Lyon", against=["1"], day=1, confidence=0.4, importance=0.3),
    )
    by_name = ConflictChoice(policy, frozenset(map(str, preferred)))
    (conflict,) = resolve((), facts, by_name).conflicts
    assert (conflict.winner_id, conflict.reason) == (str(winner), reason)


@pytest.mark.parametrize("policy", [ConflictPolicy.CONFIDENCE, ConflictPolicy.IMPORTANCE])
def test_spec_5_7_of_equals_the_last_stands(policy: ConflictPolicy) -> None:
    (conflict,) = resolve((turn(1, OLD), turn(2, NEW, day=1)), (), ConflictChoice(policy)).conflicts
    assert (conflict.winner_id, conflict.reason) == (uuid(2), ConflictReason.LATER)


def test_spec_5_7_a_confidence_that_is_not_told_is_neither_high_nor_low() -> None:
    choice = ConflictChoice(ConflictPolicy.CONFIDENCE)
    low = (turn(1, OLD), turn(2, NEW, day=1, confidence=0.4))
    high = (turn(1, OLD), turn(2, NEW, day=-1, confidence=0.6))
    assert [resolve(turns, (), choice).conflicts[0].winner_id for turns in (low, high)] == [uuid(1), uuid(2)]


def test_spec_5_7_the_configured_policy_holds_where_none_is_asked_for() -> None:
    configured = ConflictResolution(ConflictSettings(policy=ConflictPolicy.IMPORTANCE))
    turns = (turn(1, OLD, importance=0.9), turn(2, NEW, day=1, importance=0.1))
    assert configured(turns, ()).conflicts[0].winner_id == uuid(1)
    assert configured(turns, (), ConflictChoice(ConflictPolicy.RECENCY)).conflicts[0].winner_id == uuid(2)


def test_spec_5_7_what_loses_is_dropped_only_where_that_is_asked_for() -> None:
    turns = (turn(1, OLD, fact_ids=("a", "b")), turn(2, NEW, day=1), turn(3, "Hello!", fact_ids=("a", "b")))
    facts = (fact("a", "Leeds", 1, 3, against=["b"]), fact("b", "Lyon", 1, 3, against=["a"], day=1))
    assert len(resolve(turns, facts).memories) == 3
    dropping = ConflictResolution(ConflictSettings(drops_superseded=True))
    for resolved in (resolve(turns, facts, ConflictChoice(drops_superseded=True)), dropping(turns, facts)):
        assert order(resolved) == [NEW, "Hello!"]
        assert [hit.fact.fact_id for hit in resolved.facts] == ["b"]
        assert [memory.fact_ids for memory in resolved.memories] == [(), ("b",)]
        assert {conflict.loser_kind for conflict in resolved.conflicts} == {MemoryKind.EPISODE, MemoryKind.FACT}


def test_spec_5_7_what_other_people_say_is_no_conflict() -> None:
    assert resolve((turn(1, OLD), turn(2, NEW, day=1, speaker="Bob")), ()).conflicts == ()
    agent: dict[str, Any] = {"speaker": "", "role": common_pb2.MESSAGE_ROLE_ASSISTANT}
    assert resolve((turn(1, OLD, **agent), turn(2, NEW, day=1, **agent)), ()).conflicts == ()
    tool: dict[str, Any] = {"role": common_pb2.MESSAGE_ROLE_TOOL}
    assert resolve((turn(1, OLD, **tool), turn(2, NEW, day=1, **tool)), ()).conflicts == ()
    user: dict[str, Any] = {"speaker": ""}
    (conflict,) = resolve((turn(1, OLD, **user), turn(2, NEW, day=1, **user)), ()).conflicts
    assert conflict.subject == "likes coffee"


def test_spec_5_7_who_returns_to_what_they_said_first_is_believed() -> None:
    turns = (turn(1, OLD), turn(2, NEW, day=1), turn(3, OLD, day=2))
    (conflict,) = resolve(turns, ()).conflicts
    assert (conflict.winner_id, conflict.loser_ids) == (uuid(3), (uuid(2),))


def test_spec_5_7_only_so_many_turns_are_read_and_so_much_of_each() -> None:
    turns = (turn(1, OLD), turn(2, "Hello!"), turn(3, NEW, day=1))
    assert ConflictResolution(ConflictSettings(turns_max=2))(turns, ()).conflicts == ()
    assert ConflictResolution(ConflictSettings(turns_max=0))(turns, ()).conflicts == ()
    assert ConflictResolution(ConflictSettings(turn_chars_max=5))(turns, ()).conflicts == ()


def test_spec_5_7_facts_conflict_where_their_tier_says_so() -> None:
    facts = (
        fact("old", "Leeds", against=["new"], valid_to_time=timestamp(NOON)),
        fact("new", "Lyon", against=["old"], day=1),
        fact("else", "Turin", day=2),  # the tier links it to none
    )
    resolved = resolve((), facts)
    assert [hit.memory_id for hit in resolved.facts] == ["new", "old", "else"]
    assert resolved.conflicts == (
        Conflict(
            ConflictKind.VALUE,
            "Ada lives in",
            "new",
            MemoryKind.FACT,
            ("old",),
            MemoryKind.FACT,
            ConflictPolicy.RECENCY,
            ConflictReason.STILL_VALID,
        ),
    )


def test_spec_5_7_all_values_of_an_attribute_lose_to_the_one_that_stands() -> None:
    facts = (
        fact("a", "Leeds", against=["b"]),
        fact("b", "Lyon", against=["a", "c"], day=1),
        fact("c", "Turin", against=["b"], day=2),
    )
    (conflict,) = resolve((), facts).conflicts
    assert (conflict.winner_id, conflict.loser_ids) == ("c", ("b", "a"))


def test_spec_5_7_many_tastes_do_not_exclude_each_other() -> None:
    facts = (
        fact("likes tea", "tea", predicate="likes", against=["dislikes tea"]),
        fact("dislikes tea", "tea", predicate="dislikes", against=["likes tea"], day=1),
        fact("likes rum", "rum", predicate="likes", against=["dislikes rum"], day=2),
        fact("dislikes rum", "rum", predicate="dislikes", against=["likes rum"], day=1),
    )
    conflicts = resolve((), facts).conflicts
    told = {(c.kind, c.subject, c.winner_id, c.loser_ids) for c in conflicts}
    assert told == {
        (ConflictKind.NEGATION, "Ada dislikes tea", "dislikes tea", ("likes tea",)),
        (ConflictKind.NEGATION, "Ada likes rum", "likes rum", ("dislikes rum",)),
    }


def test_spec_5_7_a_turn_loses_with_the_facts_made_from_it() -> None:
    facts = (fact("old", "Leeds", 1, against=["new"]), fact("new", "Lyon", 2, against=["old"], day=1))
    turns = (
        turn(1, "Leeds has been home since May.", fact_ids=("old",)),
        turn(2, "Lyon it is.", day=1, fact_ids=("new",)),
    )
    resolved = resolve(turns, facts)
    assert order(resolved) == ["Lyon it is.", "Leeds has been home since May."]
    kinds = {conflict.loser_kind: (conflict.winner_id, conflict.loser_ids) for conflict in resolved.conflicts}
    assert kinds == {MemoryKind.FACT: ("new", ("old",)), MemoryKind.EPISODE: (uuid(2), (uuid(1),))}


def test_spec_5_7_a_turn_loses_to_a_fact_whose_turns_are_not_in_the_answer() -> None:
    facts = (fact("old", "Leeds", 1, against=["new"]), fact("new", "Lyon", 2, against=["old"], day=1))
    resolved = resolve((turn(1, "Leeds has been home since May.", fact_ids=("old",)),), facts)
    winners = {c.winner_id for c in resolved.conflicts if c.loser_kind is MemoryKind.EPISODE}
    assert winners == {"new"}


def test_spec_5_7_a_turn_stands_while_something_made_from_it_does() -> None:
    facts = (
        fact("old", "Leeds", 1, against=["new"]),
        fact("new", "Lyon", 2, against=["old"], day=1),
        fact("name", "Ada", 1, predicate="has_name"),
    )
    turns = (turn(1, "Ada of Leeds.", fact_ids=("old", "name")), turn(2, "Lyon it is.", day=1, fact_ids=("new",)))
    resolved = resolve(turns, facts)
    assert {conflict.loser_kind for conflict in resolved.conflicts} == {MemoryKind.FACT}
    assert resolved.memories == turns


def test_spec_5_7_turns_that_supersede_each_other_do_not_chase_each_other() -> None:
    first = "I live in Leeds. I like tea."
    second = "I live in Lyon. I don't like tea."
    choice = ConflictChoice(ConflictPolicy.RECENCY)
    facts = (
        fact("a", "Leeds", 1, against=["b"], day=5),  # confirmed later, elsewhere
        fact("b", "Lyon", 2, against=["a"], day=1),
    )
    turns = (turn(1, first, fact_ids=("a",)), turn(2, second, day=1, fact_ids=("b",)))
    resolved = resolve(turns, facts, choice)
    pairs = {(c.winner_id, loser) for c in resolved.conflicts for loser in c.loser_ids}
    assert (uuid(2), uuid(1)) in pairs  # as the turns say themselves
    assert (uuid(1), uuid(2)) not in pairs


def test_spec_5_7_a_fact_that_wins_over_a_turn_is_named_as_one() -> None:
    facts = (fact("old", "Leeds", 1, against=["new"]), fact("new", "Lyon", 2, against=["old"], day=1))
    resolved = resolve((turn(1, "Leeds has been home since May.", fact_ids=("old",)),), facts)
    kinds = {(c.winner_kind, c.loser_kind) for c in resolved.conflicts}
    assert kinds == {(MemoryKind.FACT, MemoryKind.EPISODE), (MemoryKind.FACT, MemoryKind.FACT)}


def test_spec_5_7_notes_that_quote_a_contradiction_conflict() -> None:
    notes = (
        note("old", f"Ada: {OLD}", 1),
        note("other", "Bob: I like coffee.", 2),
        note("new", f"Ada: {NEW}", 3, day=1),
    )
    resolved = resolve((), (), notes=notes)
    (conflict,) = resolved.conflicts
    assert (conflict.winner_id, conflict.loser_ids, conflict.loser_kind) == ("new", ("old",), MemoryKind.NOTE)
    assert [found.memory_id for found in resolved.notes] == ["new", "old", "other"]
    dropped = resolve((), (), ConflictChoice(drops_superseded=True), notes=notes)
    assert [found.memory_id for found in dropped.notes] == ["new", "other"]


def test_spec_5_7_a_note_loses_with_all_the_turns_it_was_made_from() -> None:
    turns = (turn(1, OLD), turn(2, NEW, day=1), turn(3, "Hello!"))
    notes = (note("of both", "Coffee was liked.", 1, 3), note("of the old", "Coffee is liked.", 1))
    lost = {loser: c.winner_id for c in resolve(turns, (), notes=notes).conflicts for loser in c.loser_ids}
    assert lost == {uuid(1): uuid(2), "of the old": uuid(2)}


def test_spec_5_7_conflicts_are_settled_before_candidates_are_cut_to_the_limit() -> None:
    turns = (turn(1, OLD), turn(2, "Hello!"), turn(3, NEW, day=1))
    assert order(resolve(turns, (), limit=2)) == [NEW, OLD]
    assert order(resolve(turns, (), ConflictChoice(drops_superseded=True), limit=2)) == [NEW, "Hello!"]


def test_spec_5_7_a_conflict_of_turns_that_are_all_cut_off_is_not_reported() -> None:
    turns = (turn(1, "Hello!"), turn(2, OLD), turn(3, NEW, day=1))
    assert resolve(turns, (), limit=1).conflicts == ()
    assert resolve(turns, (), limit=2).conflicts


TEXTS = [OLD, NEW, "I live in Leeds.", "I live in Lyon.", "My name is Ada.", "Hello!", "I like tea, I like coffee."]


@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.integers(0, 3), st.sampled_from(["Ada", "Bob"])), max_size=8),
    st.sampled_from(ConflictPolicy),
    st.booleans(),
)
def test_spec_5_7_nothing_is_lost_and_scores_go_down(
    said: list[tuple[str, int, str]],
    policy: ConflictPolicy,
    drops: bool,
) -> None:
    turns = tuple(turn(number, text, day=day, speaker=who) for number, (text, day, who) in enumerate(said, 1))
    resolved = resolve(turns, (), ConflictChoice(policy, drops_superseded=drops))
    ids = [memory.ranked.episode_id for memory in resolved.memories]
    losers = {loser for conflict in resolved.conflicts for loser in conflict.loser_ids}
    expected = {memory.ranked.episode_id for memory in turns} - (losers if drops else set())
    assert len(ids) == len(expected)
    assert set(ids) == expected
    scores = [memory.ranked.score for memory in resolved.memories]
    assert scores == sorted(scores, reverse=True)
    for memory in resolved.memories:
        assert memory.ranked.score == pytest.approx(sum(value for _, value in memory.ranked.parts))
    for conflict in resolved.conflicts:
        assert conflict.winner_id not in conflict.loser_ids
