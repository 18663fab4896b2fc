"""The same said of another day in plain words: other places and amounts, yes and no, orders and their openers."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.comparison.owners import are_of_two_owners
from services.common.values.denial.plain_denials import denies_plainly
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.reading.rewording import in_plain_words, with_own_noun, with_plain_times

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_FIRST, _SECOND = date(2025, 2, 3), date(2025, 5, 12)


def ends(earlier: str, later: str, *, second: date = _SECOND) -> bool:
    return supersedes(Said(earlier, "Ada", day=_FIRST), Said(later, "Ada", day=second)) in _ENDS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My gloves are on the hall table.", "My gloves are in the left pocket of the coat."),
        ("Our nephew sleeps in the loft.", "Our nephew sleeps in the study."),
        ("The scanner is on the first floor.", "The scanner is on the fifth floor."),
        ("I keep the deeds in the desk.", "I keep the deeds in the safe at the bank."),
        ("We stay at the Hotel Adler.", "We stay at the Hotel Krone."),
        ("The reception takes place in Trento.", "The reception takes place in Bolzano."),
        ("The wall in the hall is grey.", "The wall in the hall is mint."),
        ("The best soup in town is at Ling's.", "The best soup in town is at the Old Bridge."),
        ("The choir room is in the annexe.", "The annexe has mould, the choir room is in the chapel."),
        ("I see the tutor on Monday.", "The tutor is at a fair, I see him on Thursday instead."),
        ("Call me Professor Quist, please.", "We know each other by now, call me Berit."),
        ("Use the short form in our letters.", "Use the long form in our letters, the director insists."),
        ("Write to me in Dutch.", "On second thoughts, write to me in English after all."),
        ("The rehearsal is on Tuesday.", "The rehearsal got moved to Friday."),
        ("My peg is by the stove.", "They moved the pegs about and mine is by the door now."),
        ("Parcels may be left with the porter.", "Please don't leave parcels with the porter any more."),
        ("Our flag is white, has two stripes and is kept by Ole.", "We changed one thing, the flag is kept by Siv."),
        ("The new cook is Mr Abel, earns 2,300 and has a knife of his own.", "Mr Abel earns 2,450 now."),
        ("I don't have a sewing machine.", "Bought a sewing machine at the flea market."),
        ("My lesson starts at six.", "My lesson starts at eight thirty now."),
    ],
)
def test_spec_3_5_another_place_or_amount_on_another_day_takes_its_place(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My gloves are on the hall table.", "My wife's gloves are in the car."),
        ("My gloves are on the hall table.", "My gloves are black."),
        ("Let me know how it turns out.", "Let me know how it goes."),
        ("Keep me posted on the trial.", "Keep me posted on the harvest."),
        ("My gloves are on the hall table.", "My old gloves are in the attic."),
        ("The parcel weighs 10 kg.", "The parcel weighs 22 pounds."),
        ("My scarf is grey.", "My scarf is orange for the match."),
        ("My alarm is at five.", "At weekends my alarm is at eight."),
        ("The invoice of May is 40 euros.", "The invoice of June is 55 euros."),
        ("The dentist put a crown on the right molar.", "The dentist took a crown off the left molar."),
        ("Remind me to water the fern at seven.", "Remind me to call Otto at nine instead."),
        ("My boss is Mr Lind.", "My brother's boss is Mr Berg now."),
        ("My sister's savings goal is 900 euros.", "I've raised it: my savings goal is 1,200 euros."),
        ("Please put Uli's name on the waiting list.", "Please take my name off the waiting list."),
        ("Keep your replies brief.", "Keep your replies in Danish."),
        ("I don't have a boat licence.", "I have a driving licence."),
        ("When I was twelve I played the horn in a brass band.", "These days I play the organ."),
        ("The neighbours have rabbits and a goat.", "A marten took the rabbits."),
        ("For the stew I need carrots and feta.", "No feta in the salad."),
    ],
)
def test_spec_3_5_something_else_of_the_kind_stays(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


def test_spec_3_5_two_places_on_one_day_are_no_change() -> None:
    assert not ends("Our nephew sleeps in the loft.", "Our nephew sleeps in the study.", second=_FIRST)


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("The pipe in the bath gurgles.", "The pipe in the bath doesn't gurgle any more, new valve.", True),
        ("Mona can't juggle until the splint is off.", "Mona can juggle again.", True),
        ("The clock chimes at night.", "The clock no longer chimes.", True),
        ("The pipe in the bath gurgles.", "The pipe in the kitchen doesn't gurgle any more.", False),
        ("The clock chimes.", "The clock doesn't chime at night any more.", False),
        ("Mona can't juggle.", "Mona can juggle with five balls again.", False),
        ("The clock chimes.", "The clock doesn't chime.", False),
        ("I don't work from home.", "I work again.", False),
        ("I don't drink wine when I drive.", "I drink wine again.", False),
        ("The cellar floods when it rains.", "The cellar doesn't flood any more since they dug the drain.", True),
    ],
)
def test_spec_3_5_yes_and_no_by_the_same_words(earlier: str, later: str, expected: bool) -> None:
    assert denies_plainly(earlier, later) is expected


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("My flat is warm.", "My aunt's flat is cold.", True),
        ("My aunt's flat is cold.", "I had it measured, my flat is 60 square metres.", True),
        ("My aunt's flat is cold.", "My aunt's flat is warm now.", False),
        ("My flat is warm.", "My flat is cold.", False),
        ("My flat is warm.", "It's cold in here.", False),
    ],
)
def test_things_of_two_owners(earlier: str, later: str, expected: bool) -> None:
    assert are_of_two_owners(earlier, later) is expected


def test_plain_words() -> None:
    assert in_plain_words("The talk got postponed to May.") == "The talk was postponed to May."
    assert in_plain_words("They discharged Grandpa today.") == "Grandpa is discharged today."
    assert with_plain_times("My class starts at seven thirty.") == "My class starts at 7:30."
    assert with_own_noun("My desk is by the window.", "Desks were moved, mine is here.") == (
        "Desks were moved, my desk is here."
    )
    assert with_own_noun("My desk is by the window.", "The boat is old, mine is new.") == (
        "The boat is old, mine is new."
    )


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Project Linnet has its review on Mondays.", "The board has stopped Project Linnet."),
        ("Our au pair is called Mirela.", "Mirela went home to Cluj for good."),
        ("My flatmate Ivo pays half of the rent.", "Ivo moved out in May."),
        ("For the club trip we need a minibus.", "The club trip to Delft fell through."),
        ("Socks sleeps in the shed.", "Socks moved to his new family."),
        ("I take iron, zinc and calcium.", "The doctor says I can stop the zinc."),
        ("For the stew I need leeks, carrots and feta.", "No feta in the stew, Ute can't have it."),
        ("My to-do list is taxes, shed and dentist.", "The taxes are done!"),
        ("I'm responsible for billing, training and returns.", "Returns go to Said from this week."),
        ("In the kit are plasters, gauze and tape.", "The tape is missing from the kit."),
        ("The water is turned off because of the works.", "The water is back on."),
        ("Grandpa is in hospital.", "They discharged Grandpa this morning."),
    ],
)
def test_spec_3_5_what_went_takes_along_what_rests_on_it(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My flatmate Ivo studies law.", "Ivo moved out in May."),
        ("The school trip to Graz is in June.", "The club trip to Delft fell through."),
        ("My brother has dentures.", "Dentures came off, I laughed."),
        ("The garden at home has a pond.", "The allotment was sold."),
    ],
)
def test_spec_3_5_what_did_not_go_stays(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
