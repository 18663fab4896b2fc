"""Which texts say nearly the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.context.duplicates import NearDuplicates, without_duplicates


def is_same(one: str, other: str, similarity_min: float = 0.8) -> bool:
    told = NearDuplicates(similarity_min)
    assert told.earlier(one) is None
    return told.earlier(other) == 0


BASE = "we walked the long green trail by the old river and then we had lunch at a small place near the bridge"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("I love tea.", "i love tea", True),
        (BASE, BASE + " again", True),
        (BASE, BASE.replace("lunch", "dinner"), True),
        (BASE, "something else was said here about a boat and its captain", False),
        (BASE + " for 30 euros", BASE + " for 40 euros", False),
        (BASE, BASE.replace("we had", "we never had"), False),
        (BASE + " with Ruth", BASE + " with Anna", False),
        (BASE, BASE.replace("then we had", "then we didn't have"), False),
        ("Yes", "yes!", True),
        ("Yes", "No", False),
    ],
)
def test_spec_5_8_near_duplicates_are_known_and_a_number_name_or_negation_makes_a_difference(
    one: str, other: str, expected: bool
) -> None:
    assert is_same(one, other) is expected


@given(st.text().filter(lambda text: any(letter.isalnum() for letter in text)))
def test_spec_5_8_every_text_is_the_same_as_itself(text: str) -> None:
    assert is_same(text, text)


def test_spec_5_8_the_first_of_those_that_say_the_same_is_kept_and_knows_the_others() -> None:
    texts = ["I love tea.", "Dogs bark.", "I love tea!", "i love TEA"]
    assert without_duplicates(texts, str, similarity_min=0.8) == [
        ("I love tea.", ("I love tea!", "i love TEA")),
        ("Dogs bark.", ()),
    ]
