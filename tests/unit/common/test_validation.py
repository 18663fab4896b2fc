from __future__ import annotations

import math
from enum import IntEnum

import pytest

from services.common.errors import InvalidArgument, Reason
from services.common.validation import Violations


class Colour(IntEnum):
    RED = 1


def raised(violations: Violations) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        violations.raise_if_any()
    return caught.value


def test_a_good_request_raises_nothing() -> None:
    violations = Violations()
    assert violations.text("user_id", "alice", chars_max=5)
    assert violations.text("note", "", chars_max=5, required=False)
    assert violations.count("turns", 2, count_min=1, count_max=2)
    assert violations.number("weight", 1.0, low=0.0, high=1.0)
    assert violations.uuid("id", "018f4d3e-0000-7000-8000-000000000000")
    assert violations.enum("colour", 1, Colour)
    violations.raise_if_any()


def test_everything_wrong_is_named_at_once() -> None:
    violations = Violations()
    assert not violations.text("user_id", "  ", chars_max=5)
    assert not violations.text("turns[3].content", "x" * 6, chars_max=5)
    assert not violations.number("weight", math.nan, low=0.0, high=1.0)
    error = raised(violations)

    assert [v.field_path for v in error.violations] == ["user_id", "turns[3].content", "weight"]
    assert (error.reason, error.metadata) == (Reason.INVALID_FIELD, {})


def test_one_kind_of_violation_gives_its_reason_and_its_facts() -> None:
    violations = Violations()
    violations.text("a", "x" * 6, chars_max=5)
    violations.text("b", "x" * 7, chars_max=5)
    error = raised(violations)

    assert (error.reason, error.metadata) == (Reason.TEXT_TOO_LONG, {"limit": "5", "actual": "6"})
    assert len(error.violations) == 2


def test_a_list_that_is_too_long() -> None:
    violations = Violations()
    assert not violations.count("turns", 3, count_max=2)
    error = raised(violations)

    assert (error.reason, error.metadata) == (Reason.TOO_MANY_ITEMS, {"limit": "2", "actual": "3"})


@pytest.mark.parametrize("count_min", [1, 2])
def test_a_list_that_is_too_short(count_min: int) -> None:
    violations = Violations()
    assert not violations.count("turns", 0, count_min=count_min, count_max=2)
    assert raised(violations).reason is Reason.INVALID_FIELD


@pytest.mark.parametrize(("value", "words"), [(0, "required"), (9, "unknown")])
def test_an_enum_is_known_and_set(value: int, words: str) -> None:
    violations = Violations()
    assert not violations.enum("colour", value, Colour)
    error = raised(violations)

    assert error.reason is Reason.UNKNOWN_ENUM_VALUE
    assert words in error.violations[0].description


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.01, 1.01])
def test_a_number_is_finite_and_in_its_range(value: float) -> None:
    violations = Violations()
    assert not violations.number("weight", value, low=0.0, high=1.0)
    assert raised(violations).reason is Reason.INVALID_FIELD


@pytest.mark.parametrize(
    ("low", "high", "unit", "words"),
    [
        (0.0, 1.0, "", "must be between 0 and 1"),
        (0.1, 0.5, "", "must be between 0.1 and 0.5"),
        (1.0, 2_592_000.0, "s", "must be between 1 and 2,592,000 s"),
    ],
)
def test_spec_7_2_bounds_are_told_in_full(low: float, high: float, unit: str, words: str) -> None:
    violations = Violations()
    assert not violations.number("ttl", -1.0, low=low, high=high, unit=unit)
    assert [found.description for found in raised(violations).violations] == [words]


@pytest.mark.parametrize("value", ["", "x", "018f4d3e"])
def test_an_id_is_a_uuid(value: str) -> None:
    violations = Violations()
    assert not violations.uuid("id", value)
    assert [v.field_path for v in raised(violations).violations] == ["id"]


def test_no_text_holds_a_nul() -> None:
    violations = Violations()
    assert not violations.text("a", "x\x00y", chars_max=5)
    assert raised(violations).reason is Reason.INVALID_FIELD


@pytest.mark.parametrize(("asked", "used"), [(0, 50), (1, 1), (200, 200), (201, 200)])
def test_a_page_has_a_size(asked: int, used: int) -> None:
    violations = Violations()
    assert violations.page_size(asked, default=50, maximum=200) == used
    violations.raise_if_any()


def test_a_negative_page_size_is_wrong() -> None:
    violations = Violations()
    violations.page_size(-1, default=50, maximum=200)
    assert [v.field_path for v in raised(violations).violations] == ["page_size"]


def test_what_a_conversion_raises_is_taken_over_once() -> None:
    def fail() -> int:
        inner = Violations()
        inner.add("scope.level", "is required")
        inner.raise_if_any()
        return 1

    violations = Violations()
    assert [violations.read(fail, 7), violations.read(lambda: 2, 7), violations.read(fail, 8)] == [7, 2, 8]
    assert [found.field_path for found in raised(violations).violations] == ["scope.level"]


def test_violations_of_a_conversion_are_taken_over() -> None:
    inner = Violations()
    inner.text("a", "x" * 6, chars_max=5)
    outer = Violations()
    outer.include(raised(inner))
    error = raised(outer)

    assert (error.reason, error.metadata["actual"]) == (Reason.TEXT_TOO_LONG, "6")


@pytest.mark.parametrize("value", ["", " ", "\u3000", "xxxxxx", "a\x00", "a\x1fb", "a\n", "\x7f", "a\ud800"])
def test_an_id_that_is_not_valid(value: str) -> None:
    violations = Violations()
    assert not violations.identifier("user_id", value, chars_max=5)
    assert raised(violations).violations[0].field_path == "user_id"


@pytest.mark.parametrize("value", ["a", "a b", "ä\u4f60", "a-b", "x" * 5])
def test_an_id_that_is_valid(value: str) -> None:
    violations = Violations()
    assert violations.identifier("user_id", value, chars_max=5)
    assert violations.identifier("request_id", "", chars_max=5, required=False)
    violations.raise_if_any()
