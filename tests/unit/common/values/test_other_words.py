"""Updates told in other words: questions with one answer, numbers of one measure, and what is left behind."""

from __future__ import annotations

from datetime import date

import pytest

from services.common.values.holding import Said, supersedes
from services.common.values.lives.asked import answers_anew, slots_of
from services.common.values.model import Relation, Value, ValueKind
from services.common.values.sentences import content_words
from services.common.values.words.newness import plainly
from services.common.values.words.quantities import ValueReader
from services.common.values.words.tokens import tokenize

_ENDS = (Relation.UPDATE, Relation.CONTRADICT)


@pytest.mark.parametrize(
    ("text", "kind", "unit", "low", "high"),
    [
        ("four and a half kilos", ValueKind.QUANTITY, "g", 4_500, 4_500),
        ("three to four weeks", ValueKind.QUANTITY, "s", 3 * 604_800, 4 * 604_800),
        ("3-4 weeks", ValueKind.QUANTITY, "s", 3 * 604_800, 4 * 604_800),
        ("at half eight", ValueKind.TIME, "12h", 510, 510),
        ("twenty to nine", ValueKind.TIME, "12h", 520, 520),
        ("7.30 pm", ValueKind.TIME, "24h", 1_170, 1_170),
        ("at six", ValueKind.TIME, "12h", 360, 360),
        ("twice a week", ValueKind.QUANTITY, "frequency", 2 / 604_800, 2 / 604_800),
        ("once a fortnight", ValueKind.QUANTITY, "frequency", 1 / 1_209_600, 1 / 1_209_600),
        ("every two hours", ValueKind.QUANTITY, "frequency", 1 / 7_200, 1 / 7_200),
        ("80 square metres", ValueKind.QUANTITY, "area", 80, 80),
        ("1 gigabit", ValueKind.QUANTITY, "bit", 1e9, 1e9),
        ("am up to 35 km", ValueKind.QUANTITY, "m", 35_000, 35_000),
    ],
)
def test_spec_3_5_spoken_values_are_read(text: str, kind: ValueKind, unit: str, low: float, high: float) -> None:
    values = [item for item in ValueReader(tokenize(text)).read() if isinstance(item, Value)]
    (value,) = values
    assert (value.kind, value.unit) == (kind, unit)
    assert (value.low, value.high) == pytest.approx((low, high))


@pytest.mark.parametrize("text", ["from three to four euros", "2-1", "half of it", "he went to nine shops"])
def test_spec_3_5_what_only_looks_like_a_range_or_a_time_is_none(text: str) -> None:
    values = [item for item in ValueReader(tokenize(text)).read() if isinstance(item, Value)]
    assert all(value.low == value.high and value.kind is not ValueKind.TIME for value in values)


@pytest.mark.parametrize(
    ("earlier", "later", "is_new", "is_anew"),
    [
        ("I bank with Quay Bank.", "All our savings went to Miners Union.", True, True),
        ("I get up at six.", "My alarm is set for seven.", False, True),
        ("I get up at six.", "I get up at 6.", False, False),
        ("I get up at six.", "At weekends I sleep till ten.", True, False),
        ("I work for Halden.", "I work for Norrvik.", False, False),
        ("I work for Halden.", "I work for Norrvik.", True, True),
        ("I work for Halden.", "I joined Norrvik.", False, True),
        ("My number is 555 0100.", "You can reach me on 555 0199.", False, True),
        ("My email is kim@quay.example.", "Write to me at kim@pier.example.", False, True),
        ("My boss is Ida Moss.", "I report to Lew Hart.", False, True),
        ("I live in Oban.", "I'm based in Oban.", True, False),
    ],
)
def test_spec_3_5_a_question_with_one_answer_has_the_last_one(
    earlier: str, later: str, *, is_new: bool, is_anew: bool
) -> None:
    assert answers_anew(earlier, later, is_new=is_new, is_other_day=True) is is_anew


def test_spec_3_5_two_answers_of_one_day_need_a_word_of_change() -> None:
    assert not answers_anew("My boss is Ida Moss.", "I report to Lew Hart.", is_new=False, is_other_day=False)


def test_spec_3_5_answers_of_one_question_are_candidates_of_each_other() -> None:
    assert slots_of("I get up at six.") == {"rising"}
    assert content_words("I get up at six.") & content_words("I sleep till eight.") == {"slot:rising"}


@pytest.mark.parametrize(
    ("text", "plain", "is_new"),
    [
        ("team lead is noor now btw", "team lead is noor now", False),
        ("Dr Orban is my dentist.", "my dentist is Dr Orban", False),
        ("Noor is our captain now.", "our captain is Noor now", False),
        ("Ida is the best.", "Ida is the best", False),
        ("After the flood next door: the key is with Ida.", "the key is with Ida", True),
        ("With your help, we can do it.", "With your help, we can do it", False),
    ],
)
def test_spec_3_5_chat_words_roles_and_reasons_are_set_aside(text: str, plain: str, *, is_new: bool) -> None:
    assert plainly(text) == (plain, is_new)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My office is at the end of the hall.", "They moved my desk to the annexe."),
        ("I wake up at five.", "I sleep till half past seven."),
        ("My phone number is 555 0100.", "Text me on 555 0177."),
    ],
)
def test_spec_3_5_a_later_day_has_the_answer_that_holds(earlier: str, later: str) -> None:
    first = Said(earlier, "Ada", day=date(2025, 2, 3))
    assert supersedes(first, Said(later, "Ada", day=date(2025, 5, 12))) in _ENDS
