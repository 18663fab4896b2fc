"""Parts of sentences that say something by themselves, and what takes their place in parts of later ones."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.reading.parts import split_parts
from services.common.values.restatement.cores import cores

TAKES_ITS_PLACE = [
    ("My bike is a Koga, in case you order parts.", "My bike is a Gazelle since Friday, and it has seven gears."),
    (
        "We rehearse on Mondays, top floor, eight sharp.",
        "The hall is flooded, so from next week we rehearse on Tuesdays.",
    ),
    (
        "Our studio is on the second floor, bell says Ortiz.",
        "swapped with the lawyers, so our studio is on the fifth floor now",
    ),
    (
        "My dentist is the practice by the station, the one with the fish.",
        "no more of that. my dentist is Dr Osei, she is gentle",
    ),
    (
        "Guests may smoke on the terrace behind the bar.",
        "After the fire: guests may not smoke on the terrace from today.",
    ),
    ("The heating is switched off in the east wing, it was too loud.", "The heating is switched on in the east wing."),
    ("I swim in the lake every morning.", "With the new job I don't swim in the lake any more, it's too far."),
    ("the reach of my scooter is 40 km", "tyres are worn, the reach of my scooter is 28 km at best"),
    ("The old bridge is closed for repairs, we go by the dam.", "The old bridge is open, we go over it like before."),
    ("I listen to the radio while cooking now, music tired me.", "I listen to opera while cooking again."),
    ("Hotel Aurora has twelve rooms.", "After knocking down a wall Hotel Aurora has nine rooms."),
    ("I eat muesli for breakfast.", "Gave in to the smell, I eat toast for breakfast now."),
    ("The export is enabled for guests.", "Too much abuse, so as of this release the export isn't enabled for guests."),
]
LEAVES_IT = [
    ("My bike is a Koga, in case you order parts.", "My sister's bike is a Gazelle since Friday."),
    ("We rehearse on Mondays, top floor.", "The children's choir rehearses on Tuesdays now, top floor."),
    (
        "I'm trying to fix the login page, but it fails.",
        "I'm trying to update the plan, and the sprint ends in March now.",
    ),
    ("I walk the dog at seven.", "With Ana I walk the dog at nine."),
    (
        "We keep all commits when we merge.",
        "In the legal repository we squash commits when we merge, the auditors want it.",
    ),
    ("I have two cats, a dog and a hen.", "I have two cats from the shelter, they are shy."),
    ("My car is red, a real beauty.", "My car is fast, I love it."),
    ("I'll keep you posted, promise.", "I'll keep the red one, it fits better now."),
    ("Truck 12 goes to Graz, as usual.", "Truck 21 goes to Trieste now."),
    (
        "The limit on the search API is 50 calls.",
        "After the test we raised it, the limit on the upload API is 120 calls.",
    ),
    ("Your channel has 3,100 subscribers.", "Woke up and the channel has 9,800 subscribers."),
    ("The bridge is closed, they say.", "Tom says, the bridge is open."),
    ("The shop sells bread, milk and eggs.", "If the shop sells flour now, I'd be glad."),
]


def ends(earlier: str, later: str) -> bool:
    found = supersedes(Said(earlier, "Ada", day=date(2025, 1, 8)), Said(later, "Ada", day=date(2025, 5, 12)))
    return found in {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(("earlier", "later"), TAKES_ITS_PLACE)
def test_spec_3_5_a_remark_does_not_hide_what_takes_the_place_of_a_statement(earlier: str, later: str) -> None:
    assert any(ends(earlier, part) for part in (later, *later.split(". ")))


@pytest.mark.parametrize(("earlier", "later"), LEAVES_IT)
def test_spec_3_5_a_part_about_something_else_takes_nothing_back(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


def test_parts_are_those_with_a_subject_and_a_verb() -> None:
    said = "The chapel is taken, so from this week the choir sings on Fridays, same hour."
    assert next(core.text for core in cores(said)) == "The chapel is taken"
    assert cores("I like tea and cake")[0].is_rest is False
    assert [core.text for core in cores("When it rains, the bus is late, take care.")] == []
    assert cores('She said "the hall is closed", I think.') == ()
    assert cores("Is the hall closed, by chance?") == ()
    assert cores("x " * 400) == ()


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("Yusra needs glasses, so she sits at the front now.", "Yusra sits at the front now"),
        ("My son changed schools, he is in year three now.", "My son is in year three now"),
        ("Yusra likes Tom, he plays chess.", "he plays chess"),
        ("Yusra likes her brother, he plays chess.", "he plays chess"),
        ("The doctor rang, she is in Rome.", "she is in Rome"),
    ],
)
def test_spec_3_5_a_pronoun_is_whom_the_part_before_is_about(text: str, second: str) -> None:
    assert split_parts(text)[1] == second
