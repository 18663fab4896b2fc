"""The value guard against a stress set of pairs, and the readings it rests on."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.values.comparison.compare import compare, relation
from services.common.values.model import DifferenceKind, Relation, ValueKind
from services.common.values.reading.clauses import read_clauses
from services.common.values.words.quantities import Token, ValueReader
from tests.support.examples import share_of

PAIRS: Final = [json.loads(line) for line in (Path(__file__).parent / "pairs.jsonl").read_text("utf-8").splitlines()]
CONFLICTS: Final = {Relation.UPDATE, Relation.CONTRADICT}
FOUND: Final = [(Relation(pair["relation"]), relation(pair["a"], pair["b"]), pair) for pair in PAIRS]


def test_spec_3_5_the_stress_set_is_large_and_covers_every_relation() -> None:
    counts = Counter(expected for expected, _, _ in FOUND)
    assert len(PAIRS) >= 300
    assert min(counts[Relation(name)] for name in ("same", "update", "contradict", "compatible", "unrelated")) >= 45
    assert len({pair["kind"] for pair in PAIRS}) >= 15


@pytest.mark.parametrize(
    ("one", "other"), [("qzx5", "qzx6"), ("Hello there.\nqzx5", "Hello there.\nqzx6"), ("42", "43")]
)
def test_texts_that_end_in_a_value_alone_can_be_compared(one: str, other: str) -> None:
    assert relation(one, other) in Relation
    assert relation(one, one) is Relation.SAME


def test_spec_3_5_nothing_retires_what_is_the_same_compatible_or_unrelated() -> None:
    wrong = [pair for expected, found, pair in FOUND if expected not in CONFLICTS and found in CONFLICTS]
    assert wrong == []


def test_spec_3_5_nine_of_ten_true_changes_are_found() -> None:
    updates = [found for expected, found, _ in FOUND if expected is Relation.UPDATE]
    contradictions = [found for expected, found, _ in FOUND if expected is Relation.CONTRADICT]
    assert updates.count(Relation.UPDATE) >= 0.9 * len(updates)
    assert contradictions.count(Relation.CONTRADICT) >= 0.9 * len(contradictions)


def test_spec_3_6_nothing_that_differs_is_the_same() -> None:
    wrong = [pair for expected, found, pair in FOUND if expected is not Relation.SAME and found is Relation.SAME]
    assert wrong == []
    same = [found for expected, found, _ in FOUND if expected is Relation.SAME]
    assert same.count(Relation.SAME) >= 0.85 * len(same)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I take the tram to work.", "I stopped taking aspirin."),
        ("I'm down to 78 kilos now.", "I got my bike back from repair."),
        ("We have a dog.", "We have a garden now."),
        ("I no longer have a cat.", "I no longer have headaches."),
        ("Unless you pay now, the fee is 20 euros.", "The fee is 35 euros."),
        ("I've learnt to cook.", "I stopped learning Dutch."),
        ("The trip took three hours.", "The trip takes five hours."),
        ("I live near the station.", "I moved to Bremen."),
        ("The concert was loud.", "The concert was cancelled."),
        ("My mother is a nurse.", "My mother is a singer now and then."),
        ("I can meet on Monday.", "I can meet on Tuesday."),
        ("I have an appointment on 3 May.", "I have an appointment on 7 May."),
        ("I want to visit Rome.", "I want to visit Paris now."),
        ("I go to yoga.", "I go to pilates now."),
        ("I was tired.", "I'm not tired."),
        ("She lives in Rome.", "She lives in Paris."),
        ("I have two jobs.", "I finished two reports."),
        ("We come back on Sunday.", "We leave on Friday, same time."),
        ("The kitchen light is broken.", "The hall light has been fixed."),
        ("Room 12 is locked.", "Room 14 is unlocked."),
        ("My friend is Anna.", "My friend is Bea."),
        ("I have a dog.", "My neighbour's dog died."),
        ("The rent is 700 euros.", "The gym fee went up to 740 euros."),
        ("The fee is 20 euros for adults.", "The fee is 10 euros for children."),
    ],
)
def test_spec_3_5_statements_that_share_a_verb_retire_nothing(earlier: str, later: str) -> None:
    assert relation(earlier, later) not in CONFLICTS


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I prefer tea to coffee.", "I prefer coffee to tea."),
        ("Tom was called by Ben.", "Tom called Ben."),
        ("Ben called Tom.", "Tom called Ben."),
        ("Tom is Ben's teacher.", "Ben is Tom's teacher."),
        ("We moved the files from Alpha to Beta.", "We moved the files from Beta to Alpha."),
    ],
)
def test_spec_3_6_who_does_what_to_whom_is_never_turned_round(earlier: str, later: str) -> None:
    assert relation(earlier, later) is not Relation.SAME
    assert relation(earlier, later) not in CONFLICTS


@pytest.mark.parametrize(
    ("text", "kind", "unit", "amount"),
    [
        ("2 litres", ValueKind.QUANTITY, "ml", 2000),
        ("an hour and a half", ValueKind.QUANTITY, "s", 5400),
        ("half an hour", ValueKind.QUANTITY, "s", 1800),
        ("90 minutes", ValueKind.QUANTITY, "s", 5400),
        ("two decades", ValueKind.QUANTITY, "s", 20 * 31_557_600),
        ("forty-two", ValueKind.NUMBER, "", 42),
        ("two million", ValueKind.NUMBER, "", 2_000_000),
        ("three hundred and", ValueKind.NUMBER, "", 300),
        ("a dozen", ValueKind.NUMBER, "", 12),
        ("a pair of", ValueKind.NUMBER, "", 2),
        ("$12,000", ValueKind.MONEY, "USD", 12_000),
        ("12k dollars", ValueKind.MONEY, "USD", 12_000),
        ("60 euros", ValueKind.MONEY, "EUR", 60),
        ("50%", ValueKind.QUANTITY, "share", 0.5),
        ("half past six", ValueKind.TIME, "12h", 390),
        ("a quarter to eight", ValueKind.TIME, "12h", 465),
        ("3 pm", ValueKind.TIME, "24h", 900),
        ("15:00", ValueKind.TIME, "24h", 900),
        ("9:15 am", ValueKind.TIME, "24h", 555),
        ("noon", ValueKind.TIME, "24h", 720),
    ],
)
def test_spec_3_5_numbers_and_units_are_read(text: str, kind: ValueKind, unit: str, amount: float) -> None:
    value = ValueReader([Token(word, word.lower()) for word in text.split()]).read()[0]
    assert not isinstance(value, str)
    assert (value.kind, value.unit) == (kind, unit)
    assert value.low == pytest.approx(amount)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("the third of March", ValueKind.DATE, "03-03"),
        ("March 3rd", ValueKind.DATE, "03-03"),
        ("1 September 2026", ValueKind.DATE, "2026-09-01"),
        ("2026-09-01", ValueKind.DATE, "2026-09-01"),
        ("Friday", ValueKind.DATE, "friday"),
        ("QX7RT2", ValueKind.IDENTIFIER, "QX7RT2"),
        ("LH 438", ValueKind.IDENTIFIER, "LH438"),
        ("020 7946 0018", ValueKind.IDENTIFIER, "02079460018"),
        ("10.0.4.12", ValueKind.IDENTIFIER, "10.0.4.12"),
        ("v1.4.2", ValueKind.IDENTIFIER, "1.4.2"),
        ("/srv/data", ValueKind.IDENTIFIER, "/srv/data"),
        ("kim@alpha.example", ValueKind.IDENTIFIER, "kim@alpha.example"),
        ("three nil", ValueKind.NUMBER, "3-0"),
        ("3-0", ValueKind.NUMBER, "3-0"),
    ],
)
def test_spec_3_5_dates_and_identifiers_are_read(text: str, kind: ValueKind, expected: str) -> None:
    value = ValueReader([Token(word, word.lower()) for word in text.split()]).read()[0]
    assert not isinstance(value, str)
    assert (value.kind, value.text) == (kind, expected)


def test_spec_3_5_differences_are_named() -> None:
    by_kind = {
        difference.kind: difference
        for difference in compare("The fee is 90 dollars.", "The fee is 90 pounds.").differences
    }
    assert (by_kind[DifferenceKind.UNIT].earlier, by_kind[DifferenceKind.UNIT].later) == ("90 USD", "90 GBP")
    negated = compare("I'm allergic to nuts.", "I'm not allergic to nuts.")
    assert [difference.kind for difference in negated.differences] == [DifferenceKind.NEGATION]


def test_spec_3_5_what_cannot_be_read_is_unknown() -> None:
    assert relation("", "I live in Bonn.") is Relation.UNKNOWN
    assert relation("I live in Bonn.", "word " * 500) is Relation.UNKNOWN


@given(st.sampled_from(PAIRS))
def test_spec_3_6_every_statement_is_the_same_as_itself(pair: dict[str, str]) -> None:
    assert relation(pair["a"], pair["a"]) in {Relation.SAME, Relation.UNKNOWN, Relation.COMPATIBLE}


@given(
    st.integers(0, 9_999), st.integers(0, 9_999), st.sampled_from(["The fee is {} euros.", "The PIN is {}.", "I'm {}."])
)
def test_spec_3_6_statements_with_different_numbers_are_never_the_same(first: int, second: int, form: str) -> None:
    found = relation(form.format(first), form.format(second))
    assert (found is Relation.SAME) == (first == second)


@settings(max_examples=share_of(200))
@given(st.text(max_size=120), st.text(max_size=120))
def test_spec_3_5_any_text_is_read_without_an_error(earlier: str, later: str) -> None:
    assert relation(earlier, later) in Relation


@pytest.mark.parametrize(
    "filler", ["a ", "1 ", "I ", "from ", "half a ", ", ", "'s ", "no ", "and I ", "one ", "a-", "1:"]
)
def test_spec_3_5_long_runs_are_read_in_linear_time(filler: str) -> None:
    for chars in (600, 64 * 1024):
        text = (filler * chars)[:chars]
        best = 1.0
        for _ in range(3):
            started = time.process_time()
            read_clauses(text)
            best = min(best, time.process_time() - started)
        assert best < 0.02
