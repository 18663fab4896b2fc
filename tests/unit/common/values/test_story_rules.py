"""Rules for what stories tell: openers, orders, numbered things, platforms, doers, and one measure in two systems."""

from __future__ import annotations

import pytest

from services.common.values.comparison.conversions import are_one_measure
from services.common.values.comparison.designated import are_two_designated
from services.common.values.model import Value
from services.common.values.reading.irony import is_ironic
from services.common.values.reading.openers import without_opener
from services.common.values.replacement.assigned import is_given_another
from services.common.values.replacement.doers import is_done_by_another
from services.common.values.replacement.platforms import platform_keys, runs_elsewhere
from services.common.values.restatement.countermands import is_countermanded
from services.common.values.sentences import is_statement
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "rest", "is_new"),
    [
        ("Hello, my cat goes to doctor Weiss.", "my cat goes to doctor Weiss.", False),
        ("Dear movers, we live on the third floor.", "we live on the third floor.", False),
        ("no i'm not a member of the union", "i'm not a member of the union", False),
        ("ok done, i'm a member now", "i'm a member now", False),
        ("Heads up all, the quiz is on Monday.", "the quiz is on Monday.", True),
        ("fyi the agents run ubuntu 24.04", "the agents run ubuntu 24.04", False),
        ("No milk for the cat.", "No milk for the cat.", False),
        ("Thanks for the soup, it was lovely.", "Thanks for the soup, it was lovely.", False),
        ("Yeah, I agree.", "Yeah, I agree.", False),
    ],
)
def test_spec_3_5_openers_are_set_aside(text: str, rest: str, is_new: bool) -> None:
    assert without_opener(text) == (rest, is_new)


@pytest.mark.parametrize(
    ("text", "states"),
    [("Hi, my number is 0551 2233.", True), ("Hi Ben!", False), ("Thanks a lot, Ben", False), ("Good morning.", False)],
)
def test_spec_3_5_a_greeting_alone_states_nothing(text: str, states: bool) -> None:
    assert is_statement(text) is states


def _amount(text: str) -> Value:
    (value,) = (item for item in ValueReader(tokenize(text)).read() if isinstance(item, Value))
    return value


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [
        ("4 degrees Celsius", "39 degrees Fahrenheit", True),
        ("4 degrees Celsius", "36 degrees Fahrenheit", False),
        ("is 20 C", "is 68 F", False),  # exactly equal, and no matter of rounding
        ("10 miles", "16 km", True),
        ("10 miles", "18 km", False),
        ("23 kg", "51 lbs", True),
        ("23 kg", "60 lbs", False),
        ("2.4 bar", "35 psi", True),
        ("23 kg", "23.2 kg", False),
        ("50 inches", "51 inches", False),
        ("50 litres", "13 gallons", False),  # whose gallons is not said
    ],
)
def test_spec_3_5_one_measure_in_two_systems(first: str, second: str, is_one: bool) -> None:
    one, other = _amount(first), _amount(second)
    assert are_one_measure(one, other) is is_one
    assert are_one_measure(other, one) is is_one


@pytest.mark.parametrize(
    ("earlier", "later", "is_taken_back"),
    [
        ("tag me when you close a ticket", "no need to tag me when you close a ticket", True),
        ("tag me when you close a ticket", "don't tag me any more", True),
        ("tag me when you close a ticket", "don't tag me when you open a ticket", False),
        ("don't ring the bell if the door is locked", "ring the bell if the door is locked", True),
        ("don't ring the bell", "ring the bell if the door is locked", False),
        ("Use British spelling in letters.", "Use American spelling in letters from now on.", True),
        ("Use British spelling in letters.", "Use American spelling in reports from now on.", False),
        ("Use British spelling in letters.", "Use American spelling in letters.", False),
        ("for deploys ping Oskar", "for deploys ping Yelena now, Oskar gave her the keys", True),
        ("Water the ferns on Monday.", "Water the cactus on Monday now.", False),
    ],
)
def test_spec_3_5_orders_are_taken_back_by_their_own_words(earlier: str, later: str, is_taken_back: bool) -> None:
    assert is_countermanded(earlier, later) is is_taken_back


@pytest.mark.parametrize(
    ("earlier", "later", "is_another"),
    [
        (
            "I've got plot 14 down at Tanner's Lane.",
            "They've shuffled us about at Tanner's Lane, I've got plot 27 now.",
            True,
        ),
        ("My parking space is number 7.", "I have space 19 now.", True),
        ("I've got plot 14.", "I've got plot 14 now.", False),
        ("I've got plot 14.", "I've got plot 27.", False),
        ("I've got plot 14.", "I've got plot 27 now as well.", False),
        ("I've got locker 14 at the baths.", "I've got locker 3 at the gym now.", False),
        ("My sister has plot 14.", "I've got plot 27 now.", False),
        ("I have 3 cats.", "I have 4 cats now.", False),
    ],
)
def test_spec_3_5_another_numbered_thing(earlier: str, later: str, is_another: bool) -> None:
    assert is_given_another(earlier, later, is_told=False) is is_another


@pytest.mark.parametrize(
    ("earlier", "later", "is_elsewhere"),
    [
        ("We deploy the shop with Jenkins.", "The shop goes out through GitLab pipelines now.", True),
        ("We use Travis for CI.", ".travis.yml is removed, builds run on GitHub Actions", True),
        ("We use Travis for CI.", "Builds run on GitHub Actions.", False),
        ("We use Travis for the library.", "The website's builds run on GitHub Actions now.", False),
        ("We deploy the shop with Jenkins.", "The shop doesn't go through GitLab pipelines now.", False),
        ("The shop runs on Heroku.", "The shop might run on Fly now.", False),
        ("I play the violin.", "I play on the cello now.", False),
    ],
)
def test_spec_3_5_another_platform_for_the_same_thing(earlier: str, later: str, is_elsewhere: bool) -> None:
    assert runs_elsewhere(earlier, later, is_told=False) is is_elsewhere


def test_spec_3_5_statements_on_platforms_of_one_kind_find_each_other() -> None:
    assert platform_keys("We use Travis for CI.") & platform_keys("Builds run on GitHub Actions now.")
    assert not platform_keys("I like Travis.")


@pytest.mark.parametrize(
    ("earlier", "later", "is_another"),
    [
        ("I run the Tuesday tea.", "Bridget runs the Tuesday tea now.", True),
        ("Jonas cooks on Wednesdays.", "Pia cooks on Wednesdays now.", True),
        ("Jonas cooks on Wednesdays.", "Pia cooks on Fridays now.", False),
        ("I edit the parish newsletter.", "The newsletter has found a younger editor.", True),
        ("I sing in the choir.", "The choir has a new conductor.", False),
        ("I drive a Golf.", "Tom drives a Golf now.", False),
        ("I take the bus.", "Tom takes the bus now.", False),
        ("I take the minutes.", "Tom takes the minutes now.", True),
        ("I run on Mondays.", "Tom runs on Mondays now.", False),
        ("I run the marathon.", "Tom runs the marathon now.", False),
        ("I run the Tuesday tea.", "Bridget helps me run the Tuesday tea now.", False),
        ("I run the Tuesday tea.", "Bridget runs the Tuesday tea.", False),
    ],
)
def test_spec_3_5_somebody_else_does_it_now(earlier: str, later: str, is_another: bool) -> None:
    assert is_done_by_another(earlier, later, is_told=False) is is_another


@pytest.mark.parametrize(
    ("earlier", "later", "are_two"),
    [
        ("The rent of flat 3A is 780 pounds.", "I have changed the rent of flat 3B, it is 860 pounds now.", True),
        ("The rent of flat 3A is 780 pounds.", "I have changed the rent of flat 3A, it is 860 pounds now.", False),
        ("Essay one is due on Monday.", "They moved essay two, it is due on Friday now.", True),
        ("The order is forty loaves for Saturdays.", "The order is sixty loaves for Sundays now.", True),
        ("I have locker 14.", "I have locker 52 now.", False),
    ],
)
def test_spec_3_5_numbered_things_of_one_kind_are_told_apart(earlier: str, later: str, are_two: bool) -> None:
    assert are_two_designated(earlier, later) is are_two


@pytest.mark.parametrize(
    ("text", "is_meant_otherwise"),
    [
        ('Yes yes, I speak perfect Finnish: "kiitos" and "hei hei".', True),
        ("I love Mondays, said nobody ever.", True),
        ("Lucky me, I get to spend Sunday at the dump.", True),
        ("Of course I own three yachts, and pigs fly.", True),
        ("My daughter speaks perfect Finnish, this is not a joke.", False),
        ("I speak three languages: Finnish, Swedish and Arabic.", False),
        ("Yes, I speak fluent Finnish.", False),
    ],
)
def test_spec_3_1_boasts_that_take_themselves_back_are_ironic(text: str, is_meant_otherwise: bool) -> None:
    assert is_ironic(text) is is_meant_otherwise
