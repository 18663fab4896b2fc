"""Which turns speak of the thing that a query names."""

from __future__ import annotations

import pytest

from services.gateway.erasure.followups import Line
from services.gateway.erasure.queries import read
from services.gateway.erasure.same_matter import Matter, same_matter, thing_of


def matter(query: str, *said: str | tuple[str, str], chosen: tuple[int, ...] = (0,)) -> Matter:
    """What turns speak of; a tuple is a conversation and a text."""
    lines = [
        Line(str(n), *((one[0], n, "Ada", one[1]) if isinstance(one, tuple) else ("c1", n, "Ada", one)))
        for n, one in enumerate(said)
    ]
    thing = thing_of(query, read(query))
    assert thing is not None
    return same_matter(thing, {str(n) for n in chosen}, {line.turn_id: line.text for line in lines}, lines)


@pytest.mark.parametrize(
    ("query", "first", "later"),
    [
        ("the surprise party for Bo", "we throw a surprise party for bo", "the cake for the surprise party is here"),
        ("Bo's surprise party", "Bo's surprise party is at the lake.", "The cake for the party is from Lindner."),
        ("the trip to Lisbon with Ana", "My trip to Lisbon with Ana is in May.", "The trip costs 900 euros."),
        ("my knee surgery at St Jude", "My knee surgery at St Jude is near.", "The taxi after the surgery is set."),
    ],
)
def test_spec_3_13_the_same_thing_goes_without_its_name(query: str, first: str, later: str) -> None:
    assert matter(query, first, later).same == {"1"}


@pytest.mark.parametrize(
    ("query", "first", "later"),
    [
        ("the party for Bo", "The party for Bo is at the lake.", "I'll bring salad to the party for Ed."),
        ("the party for Bo", "The party for Bo is at the lake.", "Ed's party is on Sunday."),
        ("the surprise party for Bo", "The surprise party for Bo is at noon.", "The company party is on Sunday."),
        ("the trip to Lisbon", "The trip to Lisbon is in May.", "My trip to Rome is in June."),
        ("my surgery at St Jude", "My surgery at St Jude is in May.", "My mother's surgery at St Jude went well."),
        ("Bo's baby shower", "Bo's baby shower is at noon.", "The shower in the guest bathroom leaks."),
        ("the trip to Lisbon", "The trip to Lisbon is in May.", "I need a suitcase for a trip."),
        ("the party for Bo", "The party for Bo is at noon.", "Their party was loud."),
    ],
)
def test_spec_3_13_another_thing_of_the_kind_stays(query: str, first: str, later: str) -> None:
    assert not matter(query, first, later).same


def test_spec_3_13_what_is_said_of_the_other_thing_stays() -> None:
    said = ["The trip to Lisbon is in May.", "My trip to Rome is in July.", "The trip takes nine hours."]
    assert matter("the trip to Lisbon", *said).unsure == {"2"}


def test_spec_3_13_what_a_name_chose_of_another_thing_stays() -> None:
    said = ["The trip to Lisbon with Ana is in May.", "My trip to Rome with Ana was wet."]
    assert matter("the trip to Lisbon with Ana", *said, chosen=(0, 1)).another == {"1"}


def test_spec_3_13_in_another_conversation_only_where_no_other_one_is_known() -> None:
    said = [("c1", "The surprise party for Bo is at noon."), ("c2", "Beer is ordered for the surprise party.")]
    assert matter("the surprise party for Bo", *said).same == {"1"}
    other = ("c3", "The surprise party for Lou is in the attic.")
    assert matter("the surprise party for Bo", *said, other).unsure == {"1"}


def test_spec_3_13_the_noun_alone_is_of_what_its_conversation_names() -> None:
    said = [("c1", "The pottery workshop in Delft is booked."), ("c2", "The pottery workshop has aprons.")]
    found = matter("the pottery workshop in Delft", *said, ("c2", "The car is in the workshop."))
    assert found.same == {"1"}
    assert found.unsure == {"2"}


@pytest.mark.parametrize(
    "query", ["my salary", "our neighbour Martha", "that I failed the test in Rome", "8 Mill Lane"]
)
def test_a_query_that_names_no_thing_among_others(query: str) -> None:
    assert thing_of(query, read(query)) is None
