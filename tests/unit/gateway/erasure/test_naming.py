"""Whether a word of a text is the name that a query of Forget means."""

from __future__ import annotations

import pytest

from services.gateway.erasure.naming import is_name
from services.gateway.erasure.wording import words_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My lodger Bosch pays on the first.", True),
        ("Bosch has a key to the cellar.", True),
        ("The Bosch affair cost me sleep.", True),
        ("Ask the Bosch family.", True),
        ("The Bosch drill in the cellar needs a plug.", False),
        ("I sold the Bosch toaster.", False),
    ],
)
def test_a_name_between_an_article_and_a_thing_is_a_make(text: str, expected: bool) -> None:
    words = list(words_of(text))
    place = next(place for place, word in enumerate(words) if word.bare == "bosch")
    assert is_name(words, place, ("bosch",)) is expected
