"""Whether a word of a text is the name that a query of Forget means."""

from __future__ import annotations

import pytest

from services.gateway.erasure.bearers import is_of_a_make
from services.gateway.erasure.wording import words_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My lodger Bosch pays on the first.", False),
        ("Bosch has a key to the cellar.", False),
        ("The Bosch affair cost me sleep.", False),
        ("Ask the Bosch family.", False),
        ("The Bosch drill in the cellar needs a plug.", True),
        ("I sold the Bosch toaster.", True),
    ],
)
def test_a_name_between_an_article_and_a_thing_is_a_make(text: str, expected: bool) -> None:
    words = list(words_of(text))
    place = next(place for place, word in enumerate(words) if word.bare == "bosch")
    assert is_of_a_make(words, place) is expected
