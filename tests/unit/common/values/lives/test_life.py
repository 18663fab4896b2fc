"""Events that end what somebody had said of themselves."""

from __future__ import annotations

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.lives.life import turns_a_life
from services.common.values.model import Relation
from services.common.values.sentences import announces, content_words


def ends(earlier: str, later: str) -> bool:
    return supersedes(Said(earlier, "Ada"), Said(later, "Ada", announces(later))) in {
        Relation.UPDATE,
        Relation.CONTRADICT,
    }


EVENTS = [
    ("I'm single.", "Bo and I are engaged."),
    ("I'm married to Bo.", "The divorce is final since Friday."),
    ("I smoke ten a day.", "Had my last cigarette in March."),
    ("I drink a bottle of wine a day.", "Four months sober."),
    ("We bank with Alder.", "All our savings accounts were moved over to Birch."),
    ("We get our electricity from Volta.", "Changed suppliers in May."),
    ("I'm a student in Basel.", "Picked up my diploma on Friday."),
    ("I'm a waiter at the Swan.", "Tomorrow is my last shift at the Swan."),
    ("I'm unemployed.", "Signed the contract with Hexa on Tuesday."),
    ("I run a bar in Lisbon.", "I handed the bar over to my niece."),
    ("I live with my parents.", "Got the keys to my own place yesterday."),
    ("I'm pregnant.", "Little Enno arrived last night."),
    ("My hair is long.", "Chopped it all off."),
    ("I have a beard.", "Shaved this morning."),
    ("I wear glasses.", "Had my eyes lasered."),
    ("I eat meat.", "I've gone vegetarian."),
    ("I'm vegan.", "Eating meat again."),
    ("I have a loan on the van.", "Last instalment went out yesterday."),
    ("I play for the Otters.", "I've signed with the Herons."),
    ("I work nights.", "They put me on days."),
]


@pytest.mark.parametrize(("earlier", "later"), EVENTS)
def test_spec_3_5_an_event_ends_what_somebody_said_of_themselves(earlier: str, later: str) -> None:
    assert ends(earlier, later)


@pytest.mark.parametrize(("earlier", "later"), EVENTS)
def test_spec_3_5_statements_about_one_field_of_life_find_each_other(earlier: str, later: str) -> None:
    assert content_words(earlier) & content_words(later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My sister smokes ten a day.", "Had my last cigarette in March."),
        ("I smoke ten a day.", "My brother had his last cigarette in March."),
        ("I'm single.", "My cousin got engaged."),
        ("I'm single.", "Bo might be single."),
        ("I smoke ten a day.", "I hope this was my last cigarette."),
        ("I'm vegan.", "Had a burger, just this once."),
        ("I live in a flat in Leith.", "Ida got the keys to a house."),
        ("I'm a waiter at the Swan.", "I work as a steward there."),
        ("I'm a student in Basel.", "I graduated from school ten years ago."),
    ],
)
def test_spec_3_5_what_happens_to_others_or_not_yet_ends_nothing(earlier: str, later: str) -> None:
    assert not ends(earlier, later)


def test_spec_3_5_an_event_that_names_somebody_needs_the_first_person() -> None:
    assert not turns_a_life("I'm single.", "Ida said yes.", is_own=False)
    assert turns_a_life("I'm single.", "I said yes.", is_own=True)
    assert turns_a_life("I'm pregnant.", "Little Enno arrived.", is_own=False)


def test_spec_3_5_an_event_at_a_named_place_is_the_speakers() -> None:
    assert ends("We live on the top floor.", "The removal van came, first night in the new house in Luton.")
    assert ends("I'm a postwoman in Galway.", "Last round with the bag on Friday.")


def test_spec_3_5_what_relatives_do_outlasts_what_the_speaker_gives_up() -> None:
    assert not ends("My husband drinks wine now and then.", "I don't drink wine any more.")
