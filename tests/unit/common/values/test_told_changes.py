"""Changes by the words around a statement: since when it holds, another number, orders, and conditions that pass."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.text import split_sentences
from services.common.values.denial.conditions import passes_over
from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.restatement.orders import in_plain_form, is_taken_off
from services.common.values.restatement.restated import gives_another_number
from services.common.values.sentences import announces
from services.common.values.words.newness import plainly

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)


def ends(earlier: str, later: str) -> bool:
    """Whether a sentence of a later turn ends the earlier statement."""
    said = Said(earlier, "Ada", announces(earlier), date(2025, 2, 3))
    sentences = split_sentences(later)
    return any(
        supersedes(
            said, Said(text, "Ada", announces(" ".join(sentences[max(0, number - 1) : number + 1])), date(2025, 5, 12))
        )
        in _ENDS
        for number, text in enumerate(sentences)
    )


@pytest.mark.parametrize(
    ("text", "plain", "is_new"),
    [
        ("Since the merger the chairman is Bo Lind.", "the chairman is Bo Lind", True),
        ("After the holidays my tutor is Ms Ode.", "my tutor is Ms Ode", True),
        ("My shift starts at nine from June.", "My shift starts at nine", True),
        ("The quota is 40 as of this week, says the board.", "The quota is 40, says the board", True),
        ("Update: our host is Otter.", "our host is Otter", True),
        ("Well, my tutor is Ms Ode.", "my tutor is Ms Ode", False),
        ("From 1978 to 1984 I taught at Ibadan.", "From 1978 to 1984 I taught at Ibadan", False),
        ("I take a nap after lunch.", "I take a nap after lunch", False),
        ("Since our last chat, I've been reading.", "Since our last chat, I've been reading", False),
    ],
)
def test_spec_3_5_words_that_say_since_when_are_set_aside(text: str, plain: str, is_new: bool) -> None:
    assert plainly(text) == (plain, is_new)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The curator is Ida Moss.", "Since the reopening the curator is Lew Hart."),
        ("We hold our book club at the Swan.", "We hold our book club at the Anchor now."),
        ("i use paper for my notes", "i use a tablet for my notes now"),
        ("My bed is by the door.", "My bed is under the skylight now."),
        ("We train in the old gym.", "We train in the new hall from this month."),
    ],
)
def test_spec_3_5_a_value_since_a_moment_ends_the_one_before(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Soak my beans for 8 hours in cold water.",
            "Still hard. Soak my beans for 12 hours in cold water and salt them late.",
        ),
        ("The lift may carry 6 people.", "I misread the plate: the lift may carry 4 people."),
        ("We need 12 tents.", "We need 15 tents, three more have joined."),
        ("The plot is 300 square metres.", "The survey says the plot is 340 square metres."),
        ("Ring me at 6:30.", "Ring me at 7 from tomorrow."),
    ],
)
def test_spec_3_5_another_number_of_the_same_ends_the_one_before(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The van may carry 700 kg.", "I misread the plate: the lorry may carry 2.8 tonnes."),
        ("The shelf is 2 metres long.", "The shelf is 200 cm long."),
        ("I ran 5 km.", "I ran 8 km."),
        ("We bought 12 tents.", "We bought 15 tents."),
        ("It took 40 minutes.", "It took 55 minutes."),
        ("The buns bake at 220 degrees.", "Bake the loaf at 190 degrees."),
    ],
)
def test_spec_3_5_a_number_of_something_else_ends_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
    assert not gives_another_number(earlier, later, is_told=False)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The radiator in the study is off.", "Radiator in the study is running again."),
        ("The ferry ramp is closed, use the bridge.", "The ferry ramp has reopened."),
        ("I've lost my hearing aid.", "My hearing aid is back."),
        ("My bike is at the workshop.", "Got my bike back from the workshop."),
        ("There's no gas in the hut.", "Gas in the hut is back on."),
        ("I have the mumps.", "I'm over the mumps."),
        ("The kiln is broken.", "kiln's been fixed"),
        ("I'm on sick leave.", "I'm fit again."),
    ],
)
def test_spec_3_5_a_condition_ends_when_the_thing_is_as_it_was(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The radiator in the attic is off.", "Radiator in the study is running again."),
        ("Hugo's arm is in a cast.", "My arm is healed."),
        ("The shop is closed on Mondays.", "The shop is open on Tuesdays."),
        ("The kiln is broken.", "I hope the kiln is fixed soon."),
        ("The north gate is closed for good.", "The south gate is open again."),
    ],
)
def test_spec_3_5_the_condition_of_another_thing_ends_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
    assert not passes_over((earlier,), (later,))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("You can ring me after eight.", "Please don't ring me after eight any more."),
        ("Show me the weather at breakfast.", "No need to show me the weather at breakfast."),
        ("You may open my parcels.", "You may no longer open my parcels."),
        ("Keep me on the rota.", "Take me off the rota."),
        ("The menu has soup, trout and trifle.", "We had to drop the trout from the menu."),
    ],
)
def test_spec_3_5_orders_and_permissions_take_each_other_back(earlier: str, later: str) -> None:
    assert ends(earlier, later)


def test_spec_3_5_what_is_taken_off_must_be_named_with_its_whole() -> None:
    assert is_taken_off("Invite Ada, Ben and Cleo to the review.", "take Ben off the review")
    assert not is_taken_off("Invite Ada and Ben to the lunch.", "take Ben off the review")
    assert not is_taken_off("Invite Ada, Ben and Cleo to the review.", "don't take Ben off the review")
    assert in_plain_form("You can call me.", "I called him.") == ("You can call me.", "I called him.")
    assert not ends("You may open my parcels.", "You may no longer open my letters.")


def test_spec_3_5_food_and_drink_is_taken_in_another_manner() -> None:
    assert ends("I take my tea with honey now.", "I drink my tea plain again.")
    assert not ends("I take my coffee with milk.", "I drink my tea plain again.")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I buy my tea from Roe & Co.", "I buy my tea from Lark since they closed."),
        ("The door code is 1209.", "They changed the door code, it's 7741 now."),
        ("I'm allergic to wasps.", "Turns out I'm not allergic to wasps."),
        ("You must sign in with a key.", "You no longer have to sign in with a key."),
        ("The course has 22 pupils.", "The course has 24 pupils, two joined."),
        ("I can't climb, sprained wrist.", "I can climb again."),
        ("I wear clogs now.", "I wear boots again, the clogs hurt."),
        ("My hobbies are chess, judo and baking.", "I've stopped judo."),
        ("The road to the mill is flooded.", "The road is clear again."),
        ("My mother lives in Dundee.", "My mother has moved in with her sister, she lives in Oban now."),
    ],
)
def test_spec_3_5_what_stands_around_a_change_hides_it_no_more(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My old laptop has 8 GB.", "My new laptop has 16 GB."),
        ("The Monday course is full.", "The Tuesday course is cancelled."),
        ("Breakfast is at seven.", "Dinner is at eight."),
        ("I keep the spare key at Nora's.", "I keep the car key in the drawer now."),
        ("I'm vegan.", "My doctor suggested eating fish again."),
        ("I work at Boreal.", "I nearly quit Boreal last week."),
        ("My head hurts.", "My back hurts now."),
        ("I go to the gym on Mondays.", "I left the gym at nine."),
        ("I read the Herald.", "I finished the Herald crossword."),
        ("I design courtyards for a living.", "I have to finish the courtyard first."),
        ("I sing in the choir.", "I must leave the choir before nine."),
        ("My laptop is on the desk.", "I closed the laptop."),
        ("My brother lives in Ulm.", "My brother has met Tom, he lives in Bonn now."),
    ],
)
def test_spec_3_5_two_things_of_a_kind_and_near_misses_stay(earlier: str, later: str) -> None:
    assert not ends(earlier, later)
