"""What "it", "she" and "he" stand for in the next sentence."""

from __future__ import annotations

import pytest

from services.common.values.reading.antecedents import with_antecedents
from services.common.values.reading.rewording import with_apostrophes


@pytest.mark.parametrize(
    ("before", "sentence", "resolved"),
    [
        ("My phone fell into the lake.", "It's dead.", "My phone is dead."),
        ("I dropped my phone in the lake.", "It's dead.", "My phone is dead."),
        ("I love the new office.", "It's on the third floor.", "The new office is on the third floor."),
        ("My landlord raised the rent.", "It's 900 now.", "The rent is 900 now."),
        ("The plumber looked at the boiler.", "It's beyond repair.", "The boiler is beyond repair."),
        ("We parted with the monolith tonight.", "It's gone for good.", "The monolith is gone for good."),
        ("Yesterday was Ilse's last day with us.", "She is off to Lima.", "Ilse is off to Lima."),
        ("I sold the bike to Jan.", "He loves it.", "Jan loves it."),
        ("My sister called.", "She's moved to Rome.", "My sister's moved to Rome."),
        ("Mirela is off sick.", "Until she is back, bugs go to Jan.", "Until Mirela is back, bugs go to Jan."),
        ("A lorry backed into the Fiat on Friday.", "Total loss.", "The Fiat is a total loss"),
    ],
)
def test_spec_3_5_the_sentence_before_says_what_is_meant(before: str, sentence: str, resolved: str) -> None:
    assert with_antecedents([before, sentence]) == [before, resolved]


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("The dog ate my sock.", "It's gone."),
        ("Tom met Ann.", "She moved to Rome."),
        ("The meeting is at ten.", "It is important to be there."),
        ("The weather is awful.", "It's over 30 degrees."),
        ("My mum's car was stolen.", "It's gone."),
        ("I like tea.", "It's gone."),
        ("My sister met Ann.", "She moved to Rome."),
        ("The weekend was long.", "It's over."),
    ],
)
def test_spec_3_5_nothing_is_put_in_where_it_is_not_plain(before: str, sentence: str) -> None:
    assert with_antecedents([before, sentence]) == [before, sentence]


def test_spec_3_5_a_thing_may_be_named_two_sentences_before() -> None:
    said = ["A lorry backed into the Fiat.", "Nobody was hurt.", "It has gone to the scrapyard."]
    assert with_antecedents(said)[2] == "The Fiat has gone to the scrapyard."
    assert with_antecedents([*said[:2], "Really nobody.", "It has gone to the scrapyard."])[3].startswith("It")


def test_spec_3_5_typographic_apostrophes_are_read() -> None:
    assert with_antecedents(["I dropped my phone in the lake.", "It\u2019s dead."])[1] == "My phone is dead."


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("im on the stall", "i'm on the stall"),
        ("she doesnt smoke", "she doesn't smoke"),
        ("shes off", "she's off"),
        ("i cant eat", "i can't eat"),
        ("its fine", "its fine"),
        ("we were in", "we were in"),
    ],
)
def test_spec_3_5_apostrophes_that_are_left_out_are_put_in(typed: str, written: str) -> None:
    assert with_apostrophes(typed) == written
