"""What stands before or around a statement, one name of two people, and what is not meant as true."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.model import Relation
from services.common.values.reading.openers import without_opener
from services.common.values.reading.rewording import in_plain_words, with_plain_times
from services.common.values.reading.unreal import is_unreal, unreal_places
from services.common.values.restatement.restated import goes_back_to_another_number
from services.common.values.restatement.titled import is_titled_anew
from services.common.values.sentences import stated_part

MAY = date(2025, 5, 5)
JUNE = date(2025, 6, 9)


def ends(earlier: str, later: str) -> bool:
    found = supersedes(Said(earlier, "Ada", day=MAY), Said(later, "Ada", day=JUNE))
    return found in {Relation.UPDATE, Relation.CONTRADICT}


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Please note that I prefer the aisle.", "I prefer the aisle."),
        ("The upshot is that my boss is Ms Birch.", "my boss is Ms Birch."),
        ("The rumour is that my boss is Ms Birch.", "The rumour is that my boss is Ms Birch."),
        ("The plan is that we move to Bath.", "The plan is that we move to Bath."),
        ("For the runbook: we release on Fridays.", "we release on Fridays."),
        ("For the wiki: use short sentences.", "For the wiki: use short sentences."),
        ("For the slides: we use the dark theme.", "For the slides: we use the dark theme."),
        ("and the seniors train on Fridays", "the seniors train on Fridays"),
        ("and a third lamp", "and a third lamp"),
        ("But so does my brother, he says", "But so does my brother, he says"),
    ],
)
def test_spec_3_5_what_stands_before_a_statement_is_set_aside(text: str, rest: str) -> None:
    assert without_opener(text).text == rest


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("One change from June onwards: we meet at six.", "we meet at six now"),
        ("A small change to the plan: we meet at six, in the hall.", "we meet at six now, in the hall"),
        ("No change: we meet at six.", "No change: we meet at six."),
        ("I take the bus once more.", "I take the bus again."),
        ("Go back to writing in English, please.", "Please write in English again"),
    ],
)
def test_spec_3_5_a_change_is_read_in_plain_words(text: str, plain: str) -> None:
    assert in_plain_words(text) == plain


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("We fly three weeks from today.", "We fly in three weeks."),
        ("The exam is in a fortnight's time.", "The exam is in two weeks."),
        ("From today the exam is oral.", "From today the exam is oral."),
    ],
)
def test_spec_3_5_a_span_from_today_is_no_word_of_change(text: str, plain: str) -> None:
    assert with_plain_times(text) == plain


@pytest.mark.parametrize(
    ("earlier", "later", "is_end"),
    [
        # headings, conjunctions, participles and adverbs
        ("For the handbook: we order paper from Lund, weekly.", "One change from May: we order paper from Holm.", True),
        ("The juniors train on Mondays, in the gym.", "And the juniors train on Tuesdays from now on, sorry.", True),
        ("I prefer a top bunk now.", "Having fallen out twice, I prefer a bottom bunk once more.", True),
        ("The choir sings on Mondays, in the crypt.", "The choir now sings on Fridays, same hour.", True),
        ("The choir sings on Mondays, in the crypt.", "The choir usually sings on Fridays, same hour.", False),
        (
            "The job sends the reports at night.",
            "Please fix the page, the job does not send the reports at night any more.",
            True,
        ),
        ("Our key is under the pot.", "Since the break-in our key is at Marta's.", True),
        ("We fly to Crete three weeks from today.", "They moved us, we fly to Crete in two days.", False),
        # what follows from what somebody says
        ("My bus is the 12.", "Tom says the road is open, so my bus is the 14 now.", True),
        ("My bus is the 12.", "Tom says my bus is the 14 now.", False),
        # only for once
        ("My lesson is on Thursday.", "My lesson is on Friday this time.", False),
        # people of one name
        ("Jan senior drives the van.", "Jan junior drives the truck now, the old one's been traded in.", False),
        ("Jan junior drives the van.", "Jan junior drives the truck now.", True),
        ("Big Eva sleeps upstairs.", "Little Eva sleeps in the den now.", False),
        ("Our Emma is at university.", "Emma at number 9 has left university.", False),
        ("Grandad Joe has a hearing aid.", "Grandad Bill got rid of his hearing aid.", False),
        ("Aunt Pat minds the kids on Fridays.", "Aunt Vi minds the kids on Fridays now.", True),
        # one of several things, as an order
        ("Packing: tent, stove, two ropes.", "Scrap the stove, Ida brings hers.", True),
        ("Packing: tent, stove, two ropes.", "Swap the tent for the big one.", True),
        ("Packing: tent, stove, two ropes.", "Skip the stove check video.", False),
        ("Shopping: bread, leeks, jam.", "Honey instead of jam, please.", True),
        ("Shopping: bread, leeks, jam.", "Don't forget the jam.", False),
        ("Shopping: bread, leeks, jam.", "We're out of jam.", False),
        # long remarks
        ("We're flying to Malta on 8 July, five nights at the Hotel Lux, car from the airport.", "Malta's off.", True),
        # play and figures of speech
        ("I live in Leeds.", "In the game I live in Rome now.", False),
        ("I live in Leeds.", "I live in Rome now.", True),
        ("I drink coffee.", "Sure, I've given up coffee, and I'm the Queen of Sheba.", False),
    ],
)
def test_spec_3_5_remarks_hide_no_change_and_others_make_none(earlier: str, later: str, *, is_end: bool) -> None:
    assert ends(earlier, later) is is_end


def test_spec_3_5_a_fact_about_somebodys_thing_moves_no_date() -> None:
    earlier = Said("Marek and I have been a couple since the summer.", "Ada", day=MAY)
    later = Said("Marek's birthday is 11 March.", "Ada", is_announced=True, day=JUNE)
    assert supersedes(earlier, later) is Relation.UNRELATED


@pytest.mark.parametrize(
    ("earlier", "later", "is_new"),
    [
        (
            "The title of my thesis is 'Salt and Empire'.",
            "So the title of my thesis is 'Brine: A History', at last.",
            True,
        ),
        ('The project is called "Falcon".', 'Our project is called "Osprey".', True),
        ('The project is called "Falcon".', 'The project is called "Osprey".', True),
        ('The project is called "Falcon".', 'The other project is called "Osprey".', False),
        ("My dog is called 'Rex'.", "My dog is called 'Rex', the good boy.", False),
        ("My motto is 'slow'.", "My motto is 'steady'.", False),
        ("The hens are 'Ada' and 'Eva'.", "The hens are 'Eva' and 'Ada'.", False),
    ],
)
def test_spec_3_5_a_name_in_quotation_marks_is_another(earlier: str, later: str, *, is_new: bool) -> None:
    assert is_titled_anew(earlier, later) is is_new


@pytest.mark.parametrize(
    ("earlier", "later", "is_back"),
    [
        ("Dad's staying till Easter, so dinners for five.", "Back to dinners for four, please!", True),
        ("Dad's staying till Easter, so dinners for five.", "Back to dinners for five, please!", False),
        ("Dad's staying till Easter, so dinners for five.", "Back to work at four.", False),
        ("We order 12 crates.", "We're not back to 10 crates yet.", False),
    ],
)
def test_spec_3_5_one_goes_back_to_another_number(earlier: str, later: str, *, is_back: bool) -> None:
    assert goes_back_to_another_number(earlier, later) is is_back


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ("Could you write to me in English again?", "Please write to me in English again"),
        ("can you call me Bea from now on?", "Please call me Bea from now on"),
        ("Can you explain it again?", "Can you explain it again?"),
        ("Could you write to me in English?", "Could you write to me in English?"),
    ],
)
def test_spec_3_5_a_request_that_holds_from_now_on_is_an_order(asked: str, stated: str) -> None:
    assert stated_part(asked) == stated


@pytest.mark.parametrize(
    ("sentence", "unreal"),
    [
        ("In my novel I work as a spy.", True),
        ("In another life I'm a pastry chef.", True),
        ("I practically live at the gym.", True),
        ("I live on the moon, obviously.", True),
        ("In the game I broke my arm.", False),
        ("I live near the gym.", False),
        ("I practise the flute.", False),
    ],
)
def test_spec_3_5_fiction_and_figures_of_speech_are_not_meant(sentence: str, *, unreal: bool) -> None:
    assert is_unreal(sentence) is unreal


@pytest.mark.parametrize(
    ("sentences", "places"),
    [
        (["I'm Ada.", "Let's do a role-play.", "I have three dogs.", "I live in Rome."], {1, 2, 3}),
        (["Let's pretend I'm a pilot.", "Seriously though, I live in Ulm."], {0}),
        (["I love Mondays.", "Not."], {0, 1}),
        (["I have a mock interview on Friday.", "I live in Ulm."], set()),
        (["My role-play group meets on Fridays.", "I have two dogs."], set()),
        (["I'll be a father.", "You're my best friend and I'm a nurse."], set()),
        (["Just kidding."], {0}),
    ],
)
def test_spec_3_5_play_goes_on_and_the_next_words_take_back(sentences: list[str], places: set[int]) -> None:
    assert unreal_places(sentences) == places
