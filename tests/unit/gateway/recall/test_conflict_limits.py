"""Facts and notes below the limit take part when conflicts are settled."""

from __future__ import annotations

from services.gateway.recall.answer.conflicts import ConflictResolution
from services.gateway.recall.answer.lifting import PART
from services.gateway.recall.choices import ConflictChoice
from services.gateway.recall.model import DerivedLimits
from tests.unit.gateway.recall.test_conflicts import NEW, OLD, fact, note, turn

resolve = ConflictResolution()


def test_spec_5_7_a_fact_below_the_limit_that_wins_takes_the_place_of_the_loser() -> None:
    facts = (
        fact("old", "Leeds", 1, against=["new"]),
        *(fact(f"else {number}", f"value {number}", predicate=f"has_{number}") for number in range(9)),
        fact("new", "Lyon", 2, against=["old"], day=1),
    )
    said = (turn(1, "I live in Leeds.", fact_ids=("old",)), turn(9, "Hello!", fact_ids=("new", "else 8")))
    resolved = resolve(said, facts, derived_limits=DerivedLimits(facts=10, notes=10))
    assert [hit.memory_id for hit in resolved.facts] == ["new", "old", *(f"else {number}" for number in range(8))]
    assert dict(resolved.facts[0].parts).keys() == {"similarity", PART}
    # Turns name the facts of the response alone.
    assert [memory.fact_ids for memory in resolved.memories] == [("old",), ("new",)]

    dropped = resolve(said, facts, ConflictChoice(drops_superseded=True), derived_limits=DerivedLimits(10, 10))
    assert [hit.memory_id for hit in dropped.facts] == ["new", *(f"else {number}" for number in range(9))]


def test_spec_5_7_notes_below_the_limit_take_the_places_of_those_that_are_dropped() -> None:
    notes = (
        note("a", f"Ada: {OLD}"),
        note("b", "Ada: Hello!"),
        note("c", f"Ada: {NEW}", day=1),
        note("d", "Ada: Bye!"),
    )
    limits = DerivedLimits(facts=10, notes=2)
    assert [hit.memory_id for hit in resolve((), (), notes=notes, derived_limits=limits).notes] == ["c", "a"]
    dropped = resolve((), (), ConflictChoice(drops_superseded=True), notes=notes, derived_limits=limits)
    assert [hit.memory_id for hit in dropped.notes] == ["c", "b"]
