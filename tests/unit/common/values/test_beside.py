"""What a change of a sentence leaves of it."""

from __future__ import annotations

import pytest

from services.common.values.beside import is_beside, says_more

SENTENCE = "I'm allergic to nuts, and the builder comes on Monday."
ALLERGY = "Ada is allergic to nuts"


@pytest.mark.parametrize(
    ("read", "sentence", "changed", "expected"),
    [
        (ALLERGY, SENTENCE, "The builder comes on Tuesday.", True),
        (ALLERGY, SENTENCE, "Monday", True),
        (ALLERGY, SENTENCE, "I'm not allergic to nuts any more.", False),
        (ALLERGY, SENTENCE, "My allergies are gone.", False),  # nothing says which part that is about
        (ALLERGY, "I can't eat nuts, and the builder comes on Monday.", "The builder comes on Tuesday.", False),
        (ALLERGY, "", "The builder comes on Tuesday.", False),  # all of the turn
        (ALLERGY, SENTENCE, "", False),
        ("Ada lives in Oslo", "I live in Oslo with my wife.", "My wife and I moved to Bergen.", False),
        ("Ada works at Acme", "I work at Acme, and I live in Leeds.", "I started at Globex last week.", False),
        ("Ada lives in Leeds", "I work at Acme, and I live in Leeds.", "I started at Globex last week.", True),
        ("Ada works at Acme with Bob", "I work at Acme with Bob.", "Bob and I both lost our jobs.", False),
    ],
)
def test_spec_3_5_what_repeats_other_words_of_a_sentence_is_beside_its_change(
    read: str, sentence: str, changed: str, expected: bool
) -> None:
    assert is_beside(read, sentence, changed, subject="Ada") == expected


@pytest.mark.parametrize(
    ("sentence", "changed", "expected"),
    [
        (SENTENCE, "The builder comes on Tuesday.", True),
        (SENTENCE, "I'm not allergic to nuts any more.", True),
        (SENTENCE, "I'm not allergic to nuts any more, and the builder comes on Tuesday.", False),
        (SENTENCE, "My allergies are gone.", False),  # nothing says which part that is about
        ("I like salt and pepper crisps.", "I don't like pepper crisps.", False),  # a word is no part
        ("The van is from 2014.", "The van is from 2016.", False),
        ("", "The van is from 2016.", False),
    ],
)
def test_spec_3_5_a_sentence_says_more_than_what_changes_where_a_part_is_beside_it(
    sentence: str, changed: str, expected: bool
) -> None:
    assert says_more(sentence, changed) == expected
