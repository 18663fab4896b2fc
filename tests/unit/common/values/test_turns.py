"""Changes told in other words: states of life, partings, dates and amounts by the phrases of the data files."""

from __future__ import annotations

import json
import re
import time
from datetime import date, timedelta
from pathlib import Path

import pytest

import services.common.values
from services.common.values.holding import Said, supersedes
from services.common.values.keys import statement_keys
from services.common.values.lives.beginnings import fields_told, lives_on
from services.common.values.model import Relation
from services.common.values.partings.given_up import is_given_up
from services.common.values.premises import rests_on
from services.common.values.reading.whose import is_subject_speaker, people_in, spoken, turned_to
from services.common.values.replacement.shifting import is_set_anew
from services.common.values.sentences import announces
from services.common.values.words.phrases import compiled, forms, read_phrases, value_words

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)
_DAY = date(2025, 1, 8)
_PAIRS = [
    json.loads(line) for line in (Path(__file__).parent / "turns.jsonl").read_text("utf-8").splitlines() if line.strip()
]
_SLOWEST_SECONDS = 0.05


@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: f"{pair['earlier']} / {pair['later']}")
def test_spec_3_5_a_change_in_other_words_ends_what_it_changes_and_nothing_else(pair: dict[str, str | int]) -> None:
    earlier, later = str(pair["earlier"]), str(pair["later"])
    said = Said(later, "Ada", announces(later), _DAY + timedelta(days=int(pair["days"])))
    found = supersedes(Said(earlier, "Ada", announces(earlier), _DAY), said) in _ENDS
    assert found is pair["ends"]


@pytest.mark.parametrize("pair", [pair for pair in _PAIRS if pair["ends"]], ids=lambda pair: str(pair["later"]))
def test_spec_3_5_statements_that_end_each_other_find_each_other(pair: dict[str, str | int]) -> None:
    assert statement_keys(str(pair["earlier"])) & statement_keys(str(pair["later"]))


def test_spec_3_5_what_another_speaker_tells_of_themselves_ends_nothing() -> None:
    assert supersedes(Said("I work at Acme.", "Ada"), Said("Handed in my badge on Friday.", "Ben")) not in _ENDS


@pytest.mark.parametrize(
    "later",
    [
        "I nearly handed in my badge on Friday.",
        "I might hand in my badge.",
        "I didn't hand in my badge.",
        "Should I hand in my badge?",
        'My sister wrote: "Handed in my badge on Friday."',
        "My sister handed in her badge.",
        "Ten years ago I handed in my badge at the bank.",
        "In the film the hero handed in his badge.",
    ],
)
def test_spec_3_5_what_is_denied_wished_quoted_or_of_others_is_no_event(later: str) -> None:
    assert not lives_on("I work at Acme.", later, is_new=False)


def test_spec_3_5_a_state_for_some_days_is_no_new_state() -> None:
    assert lives_on("I drive to work.", "I'm on the train these days.", is_new=True)
    assert not lives_on("I drive to work.", "I'm on the train this week.", is_new=True)


def test_spec_3_5_the_life_of_a_relative_is_read_like_the_speakers() -> None:
    assert people_in("My sister is pregnant.") == ("sister",)
    assert turned_to("My sister Ana is pregnant, she is due in May.", "sister") == " i is pregnant , i is due in May . "
    assert turned_to("I saw Tom, he has a new job.", "tom").split()[:3] == ["they", "saw", "i"]
    assert lives_on("My sister is pregnant.", "Little Noor arrived on Tuesday.", is_new=False)
    assert not lives_on("My sister is pregnant.", "My cousin had a girl on Tuesday.", is_new=False)


def test_spec_3_5_rivals_need_the_change_and_one_purpose() -> None:
    assert is_given_up("I use an iPhone.", "I went over to Android.")
    assert not is_given_up("I use an iPhone.", "I like Android.")
    assert not is_given_up("I use Windows at home.", "At work we went over to Linux.")


def test_spec_3_5_a_date_that_has_passed_is_not_moved() -> None:
    earlier, later = "My exam is on Monday.", "My exam was pushed back to Wednesday."
    assert is_set_anew(earlier, later, is_new=False, day=_DAY, later_day=_DAY + timedelta(days=2))
    assert not is_set_anew(earlier, later, is_new=False, day=_DAY, later_day=_DAY + timedelta(days=60))


@pytest.mark.parametrize(
    ("premise", "statement", "later"),
    [
        ("I work at Nordlys.", "My desk at Nordlys is by the window.", "I jumped ship to Helix."),
        ("I live in Ghent.", "My landlord in Ghent is grumpy.", "I upped sticks to Bergen."),
    ],
)
def test_spec_3_5_what_rests_on_a_state_falls_with_an_event_in_other_words(
    premise: str, statement: str, later: str
) -> None:
    assert rests_on(Said(statement, "Ada"), Said(premise, "Ada"), Said(later, "Ada"))


def test_spec_3_5_what_outlasts_a_state_stays() -> None:
    premise, later = Said("I live in Ghent.", "Ada"), Said("I upped sticks to Bergen.", "Ada")
    assert not rests_on(Said("My sister lives in Ghent.", "Ada"), premise, later)
    assert not rests_on(Said("I studied in Ghent.", "Ada"), premise, later)


def test_forms_of_a_verb() -> None:
    assert {"hand", "hands", "handed", "handing"} <= forms("hand")
    assert {"quit", "quitting"} <= forms("quit")
    assert {"drop", "dropped", "dropping"} <= forms("drop")
    assert {"marry", "married", "marries"} <= forms("marry")


def test_a_phrase_reads_alternatives_options_gaps_and_values() -> None:
    (phrase,) = read_phrases("hand~ in the? notice|badge .. at {V}")
    match = compiled(phrase.pattern).search(spoken("I finally handed in my badge last week at Acme Tools."))
    assert match is not None
    assert value_words(match["v"]) == {"acme", "tool"}
    assert compiled(phrase.pattern).search(spoken("I handed in my badge at the door.")) is None
    assert phrase.anchors


def test_the_subject_of_an_event() -> None:
    said = spoken("My sister said it, and I finally quit.")
    assert is_subject_speaker(said, said.index("quit"))
    said = spoken("After ten years my sister quit.")
    assert not is_subject_speaker(said, said.index("quit"))


def test_every_phrase_of_the_data_files_compiles_can_be_found_and_is_fast() -> None:
    worst = [f" {unit * (250 // len(unit))} . " for unit in ("i am ", "the ", "my new ", "A a ", "it is now ")]
    folder = Path(services.common.values.__file__).parent
    lines = [
        line
        for file in sorted(folder.rglob("*.toml"))
        if file.name != "contrasts.toml"
        for line in file.read_text("utf-8").splitlines()
    ]
    phrases = list(read_phrases("\n".join(line for line in lines if line[:1] in "*{" or line[:1].islower())))
    listed = [phrase for phrase in phrases if " = " not in phrase.text]
    assert len(listed) > 2_000
    for phrase in listed:
        assert phrase.anchors, phrase.text
        pattern = compiled(phrase.pattern)
        assert min(_seconds(pattern, worst) for _ in range(3)) < _SLOWEST_SECONDS, phrase.text


def _seconds(pattern: re.Pattern[str], texts: list[str]) -> float:
    begin = time.process_time()
    for text in texts:
        pattern.search(text)
    return time.process_time() - begin


def test_long_texts_tell_no_state() -> None:
    assert fields_told("I quit. " * 40) == frozenset()
