"""What goes with a thing that a query names, and what a thing of the speaker's is called."""

from __future__ import annotations

import pytest

from services.gateway.erasure.called import is_said_of, name_of_thing, names_it
from services.gateway.erasure.matching import Rules, choose
from services.gateway.erasure.queries import read


@pytest.mark.parametrize(
    ("query", "text", "is_meant"),
    [
        ("the trip to Norway", "The cabin in Norway costs 700 euros.", True),
        ("the trip to Norway", "My colleague is from Norway.", False),
        ("my engagement to Tom", "Tom's mother bakes the wedding cake.", True),
        ("my engagement to Tom", "My brother's wedding is in May.", False),
        ("the Otter project", "My Otter team meets on Mondays.", True),
        ("our neighbour Mrs Tan", "I have a nice tan.", False),
        ("Dr Lee", "Bruce Lee films are great.", False),
        ("Dr Lee", "I saw Dr Lee on Monday.", True),
    ],
)
def test_spec_3_13_what_goes_with_a_named_thing_is_meant(query: str, text: str, *, is_meant: bool) -> None:
    assert choose(read(query), [text], [0.3], Rules()) == ([0] if is_meant else [])


def test_spec_3_13_a_thing_is_meant_by_the_name_that_the_speaker_gives_it() -> None:
    texts = ["I drive a red Mazda.", "The Mazda needs new brakes.", "My neighbour has a Mazda.", "My bike is old."]
    named = name_of_thing(read("my car"), texts)
    assert named is not None
    assert [is_said_of(named, text) or names_it(named, text) for text in texts] == [True, True, False, False]


def test_spec_3_13_a_thing_with_two_names_is_meant_by_none() -> None:
    assert name_of_thing(read("my boat"), ["My boat is called Ilse.", "My boat is called Nora."]) is None
    assert name_of_thing(read("my sister's boat"), ["My boat is called Ilse."]) is None
