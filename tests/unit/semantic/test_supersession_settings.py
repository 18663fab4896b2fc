"""With how many others a statement is compared."""

from __future__ import annotations

import pytest

from services.semantic.config import SupersessionSettings


@pytest.mark.parametrize(("words", "candidates"), [(0, 12), (3, 12), (6, 12), (9, 18), (12, 24), (32, 24)])
def test_a_statement_of_more_words_is_compared_with_more(words: int, candidates: int) -> None:
    assert SupersessionSettings().candidates_of(words) == candidates


def test_the_maximum_wins() -> None:
    assert SupersessionSettings(candidates_min=50, candidates_max=20).candidates_of(1) == 20
