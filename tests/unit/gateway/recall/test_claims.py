"""What speakers claim of themselves, and what they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.recall.answer.claims import Claim, claims_of


def yes(topic: str) -> Claim:
    return Claim(topic)


def no(topic: str) -> Claim:
    return Claim(topic, is_denied=True)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("I like coffee.", yes("likes coffee")),
        ("Actually, I really love the Beatles!", yes("likes beatles")),
        ("I don't like coffee any more.", no("likes coffee")),
        ("I\u2019m not a big fan of jazz anymore", no("likes jazz")),
        ("I no longer enjoy long walks, but never mind.", no("likes long walks")),
        ("I've gone off sushi.", no("likes sushi")),
        ("I can't stand coriander", no("likes coriander")),
        ("I prefer tea these days.", yes("likes tea")),
        ("I eat meat.", yes("eat meat")),
        ("I do not eat meat.", no("eat meat")),
        ("I still have a car.", yes("have car")),
        ("I don't have a car any more.", no("have car")),
        ("Please enable dark mode.", yes("enables dark mode")),
        ("Disable dark mode please", no("enables dark mode")),
        ("I'm vegan now", yes("is vegan")),
        ("I am no longer a smoker.", no("is smoker")),
        ("I'm married!", Claim("relationship status", "married")),
        ("I am 34 years old.", Claim("age", "34")),
        ("I live in New York, near the park.", Claim("lives in", "new york")),
        ("I recently moved to Lyon.", Claim("lives in", "lyon")),
        ("I'm based in Turin these days", Claim("lives in", "turin")),
        ("I work at Siemens now.", Claim("works at", "siemens")),
        ("I've just joined Bosch.", Claim("works at", "bosch")),
        ("My favorite colour is now green.", Claim("favourite colour", "green")),
        ("My new phone number is 555-1234.", Claim("phone number", "555 1234")),
        ("By the way my email is ada@mneme.org now.", Claim("email", "ada@mneme.org")),
    ],
)
def test_spec_5_7_a_plain_statement_claims_one_thing(text: str, claim: Claim) -> None:
    assert claims_of(text) == (claim,)


@pytest.mark.parametrize(
    "text",
    [
        "Do I like coffee?",
        "If I like coffee, say so.",
        "I would love coffee.",
        "I used to like coffee.",
        'She said "I like coffee".',
        "Maybe I like coffee.",
        "I like it a lot.",
        "I love your painting.",
        "I like what we did there.",
        "I like the way in which all of us went on and on along the river that day.",
        "I don't have a car.",  # may never have had one: it takes back nothing
        "I have no time.",
        "I like people who are kind.",  # and others not
        "I don't like coffee when it is cold.",
        "My favorite part is the end.",
        "My favourite colours are red and blue.",
        "My favourite author is Woolf or Joyce.",
        "My sister lives in Leeds.",
        "I moved to Lyon in 1999.",
        "I moved to the next room.",
        "We like coffee.",
        "You live in Leeds.",
        "",
        "??? ... !!!",
    ],
)
def test_spec_5_7_what_is_not_plainly_stated_claims_nothing(text: str) -> None:
    assert claims_of(text) == ()


def test_spec_5_7_one_turn_may_claim_several_things() -> None:
    text = "I live in Leeds. I don't like coffee, but I like tea. My name is Ada."
    assert claims_of(text) == (
        Claim("lives in", "leeds"),
        no("likes coffee"),
        yes("likes tea"),
        Claim("name", "ada"),
    )


def test_spec_5_7_a_turn_that_contradicts_itself_claims_neither() -> None:
    assert claims_of("I like coffee. I don't like coffee any more. I like tea.") == (yes("likes tea"),)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (yes("likes tea"), no("likes tea"), True),
        (yes("likes tea"), yes("likes tea"), False),
        (yes("likes tea"), no("likes green tea"), False),
        (Claim("lives in", "leeds"), Claim("lives in", "lyon"), True),
        (Claim("lives in", "leeds"), Claim("works at", "lyon"), False),
        (Claim("lives in", "leeds"), Claim("lives in", "leeds city"), False),
        (Claim("name", "ada"), Claim("name", "ada"), False),
    ],
)
def test_spec_5_7_claims_contradict_each_other_both_ways(one: Claim, other: Claim, expected: bool) -> None:
    assert one.contradicts(other) is expected
    assert other.contradicts(one) is expected


WORDS = st.lists(
    st.sampled_from(["I", "don't", "like", "live", "in", "my", "favourite", "is", "no longer", "Leeds", ".", ","]),
    max_size=30,
).map(" ".join)


@given(st.one_of(st.text(max_size=300), WORDS))
def test_spec_5_7_whatever_is_said_claims_are_few_words_and_agree(text: str) -> None:
    claims = claims_of(text)
    assert len(set(claims)) == len(claims)
    for claim in claims:
        assert claim.topic.strip()
        assert len(claim.value.split()) <= 6
        assert not any(claim.contradicts(other) for other in claims)
