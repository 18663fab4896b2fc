"""What a turn says about the statements that it corrects, and what their corrections are about."""

from __future__ import annotations

import pytest

from services.gateway.erasure.marking import Corrected, called_wrong, corrected_by, metadata_of

SENTENCE = "I live in Leeds with my dog Rex, and I work as a nurse."


def test_spec_3_12_a_turn_names_what_it_corrects_without_its_words() -> None:
    corrected = [
        Corrected("a"),
        Corrected("b", 0),
        Corrected("b", 2, called_wrong(SENTENCE, "I live in Leeds")),
        Corrected("c", 1, ()),
    ]
    metadata = metadata_of(corrected)
    assert metadata == {"mneme.corrects": "a,b:0,b:2,c:1", "mneme.corrects.words": "b:2:1.3,c:1:"}
    assert corrected_by(metadata) == corrected
    assert metadata_of(corrected[:2]) == {"mneme.corrects": "a,b:0"}


@pytest.mark.parametrize("words", ["", "x", "a", ":", "a:0", "a:0:x.y", "b:0:1"])
def test_metadata_that_somebody_made_up_name_no_words(words: str) -> None:
    (one,) = corrected_by({"mneme.corrects": "a:0", "mneme.corrects.words": words})
    assert (one.interaction_id, one.number) == ("a", 0)
    assert not one.words
    assert corrected_by({"mneme.corrects": "a:x", "mneme.corrects.words": "a:x:1"}) == []


@pytest.mark.parametrize(
    ("said_wrong", "right", "about"),
    [
        ("I live in Leeds", "I live in York.", "Leeds"),
        ("I live in Leeds with my dog Rex", "I live in York.", "Leeds dog Rex"),
        ("Leeds", "York.", "Leeds"),
        ("My dog Rex", "My dog Rex died.", "dog Rex My dog Rex died."),  # no word of it is wrong
        ("I don't work as a nurse", "I work as a nurse.", "work nurse I work as a nurse."),
        ("", "I live in York.", "I live in York."),
        ("", "Rex lives in York.", "lives in York"),
        ("", "Rex is a cat.", "Rex is a cat."),  # the name alone says what it is about
        ("", "I live in York with my dog Rex.", ""),  # half of the words: the text stands for the sentence
        ("", "Teaching.", ""),  # no word says which part is meant
        ("That is wrong", "Teaching.", ""),
        ("That is wrong", "I teach.", "I teach."),  # as "I work", of what somebody does
    ],
)
def test_spec_3_12_a_correction_is_about_what_it_calls_wrong_and_what_it_says(
    said_wrong: str, right: str, about: str
) -> None:
    words = called_wrong(SENTENCE, said_wrong) if said_wrong else None
    assert Corrected("a", 0, words).about(SENTENCE, right).words == about


@pytest.mark.parametrize(
    ("said_wrong", "right", "expected"),
    [
        ("I live in Leeds", "I live in York.", True),
        ("My dog Rex", "My dog Rex died.", False),  # no word of it is wrong
        ("", "I live in York.", False),
        ("That is wrong", "Teaching.", False),
    ],
)
def test_spec_3_12_a_correction_says_whether_it_is_about_words_called_wrong(
    said_wrong: str, right: str, expected: bool
) -> None:
    words = called_wrong(SENTENCE, said_wrong) if said_wrong else None
    assert Corrected("a", 0, words).about(SENTENCE, right).are_called_wrong == expected
