"""What goes with a thing that is no more."""

from __future__ import annotations

import pytest

from services.common.text import split_sentences
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.partings.endings import goes_with_it
from services.common.values.reading.clauses import read_clauses
from services.common.values.reading.pieces import read_statement
from services.common.values.sentences import announces


def ends(earlier: str, later: str) -> bool:
    return any(
        supersedes(Said(earlier, "Ada"), Said(text, "Ada", announces(later))) in {Relation.UPDATE, Relation.CONTRADICT}
        for text in split_sentences(later)
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("For Otter I need a second tester.", "The board cancelled Project Otter today."),
        ("I feed Mitzi at seven.", "Mitzi died in the night."),
        ("Mitzi's basket is in the hall.", "Mitzi died in the night."),
        ("I take my scooter to college.", "My scooter was stolen."),
        ("The Polo is insured with Alder.", "The Polo was written off after the crash."),
        ("I teach pottery at Kiln Nine.", "Kiln Nine went bankrupt."),
        ("I get my rolls at Berger's.", "Berger's has closed for good."),
        ("I sing tenor in the choir.", "Our choir was wound up in June."),
        ("Bo and I go to Crete in June.", "Bo left me."),
        ("I commute to Boreal by train.", "I quit my job at Boreal."),
        ("The hotel in Oslo is booked.", "The Oslo trip fell through."),
        ("The cake for the wedding comes from Lottie's.", "We called off the wedding."),
        ("I swim on Tuesdays.", "Doctor's orders, no swimming this year."),
        ("Mitzi gets half a tablet every evening.", "Mitzi died in the night."),
        ("The Polo's spare key is at my aunt's.", "I sold the Polo to a dealer today."),
        ("My locker at Boreal is number 40.", "Handed in my badge at Boreal Logistics yesterday."),
        ("My husband Ivo does the cooking.", "Ivo and I got divorced in April."),
    ],
)
def test_spec_3_5_what_names_an_ended_thing_goes_with_it(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("For Plover I need a second tester.", "The board cancelled Project Otter today."),
        ("Rex's basket is in the hall.", "Mitzi died in the night."),
        ("I met Mitzi at the shelter.", "Mitzi died in the night."),
        ("I take my scooter to college.", "My sister's scooter was stolen."),
        ("My wife commutes to Boreal by train.", "I quit my job at Boreal."),
        ("Tina's wedding is on 9 May.", "We called off the wedding."),
        ("I was in Oslo last year.", "The Oslo trip fell through."),
        ("Oslo has a harbour.", "The Oslo trip fell through."),
        ("I like Anna a lot.", "Anna left me."),
        ("I swim on Tuesdays.", "No swimming today."),
        ("The choir meets on Thursdays.", "The choir was nearly dissolved."),
        ("I smoke.", "My father has quit smoking."),
        ("My tutor drives a Polo, too.", "I sold the Polo in May."),
        ("My dentist is called Ivo.", "Ivo and I got divorced in April."),
        ("The corner shop sells the Morning Post.", "We've cancelled the Morning Post."),
        ("The Alpine garden opens in May.", "I cancelled my membership of the Alpine Club."),
    ],
)
def test_spec_3_5_what_is_past_or_of_a_namesake_stays(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
    read = read_statement(earlier)
    assert not goes_with_it(read.clauses, earlier, read_statement(later).pieces)


def test_spec_3_5_a_verb_that_ends_like_a_past_is_none() -> None:
    """ "Need" and "feed" were read as past forms."""
    for text in ("I need a lamp.", "I feed the hens."):
        clauses = read_clauses(text)
        assert clauses is not None
        assert not clauses[0].past


def test_spec_3_5_a_day_in_a_name_belongs_to_it() -> None:
    assert ends("I sell jam at the Friday market.", "The council has abolished the Friday market.")
    assert not ends("I sell jam at the Sunday market.", "The council has abolished the Friday market.")
