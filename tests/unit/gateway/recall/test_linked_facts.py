"""Facts that contradict each other because links join them."""

from __future__ import annotations

from services.gateway.recall.choices import ConflictChoice
from services.gateway.recall.model import ConflictKind
from tests.unit.gateway.recall.test_conflicts import fact, resolve


def test_spec_3_5_facts_of_a_callers_own_predicate_contradict_by_their_links_alone() -> None:
    two, three, boat = (
        fact("1", "2 pianos", against=["2"], predicate="has"),
        fact("2", "3 pianos", against=["1"], predicate="has", day=1),
        fact("3", "a boat", against=["4"], predicate="has", day=2),
    )
    (conflict,) = resolve((), (two, three, boat), ConflictChoice()).conflicts
    assert (conflict.winner_id, conflict.loser_ids) == ("2", ("1",))


def test_spec_3_5_of_three_homes_the_first_and_the_last_contradict_by_the_one_between() -> None:
    homes = [
        fact("1", "Leeds", against=["2"]),
        fact("2", "Lyon", against=["1", "3"], day=1),
        fact("3", "Ulm", against=["2"], day=2, predicate="Lives in"),
    ]
    (conflict,) = resolve((), tuple(homes), ConflictChoice()).conflicts
    assert (conflict.winner_id, set(conflict.loser_ids)) == ("3", {"1", "2"})


def test_spec_3_5_texts_that_are_linked_contradict_and_others_do_not() -> None:
    texts = [
        fact(name, "", against=other, predicate="", day=int(name))
        for name, other in (("1", "2"), ("2", "1"), ("3", "9"))
    ]
    for number, hit in enumerate(texts):
        hit.fact.subject = ""
        hit.fact.text = f"The meeting is at {number}."
    (conflict,) = resolve((), tuple(texts), ConflictChoice()).conflicts
    assert (conflict.winner_id, conflict.loser_ids, conflict.kind) == ("2", ("1",), ConflictKind.VALUE)
    assert conflict.subject == "The meeting is at 1."
