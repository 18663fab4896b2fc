"""Dates in statements."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.semantic.facts.extraction.dates import find_date

THURSDAY = datetime(2026, 1, 29, 20, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "past", "iso"),
    [
        ("on Friday the 17th of April", False, "2026-04-17"),
        ("on April 17, 2027", False, "2027-04-17"),
        ("2026-02-03", False, "2026-02-03"),
        ("on the 3rd of March", True, "2025-03-03"),
        ("on the 20th of January", False, "2026-01-20"),
        ("next Tuesday", False, "2026-02-03"),
        ("on Saturday", False, "2026-01-31"),
        ("on Saturday", True, "2026-01-24"),
        ("last Sunday", True, "2026-01-25"),
        ("on Thursday", False, "2026-02-05"),
        ("the day after tomorrow", False, "2026-01-31"),
        ("last night", True, "2026-01-28"),
        ("in June", False, "2026-06"),
        ("in June", True, "2025-06"),
        ("in January", False, "2026-01"),
        ("last January", True, "2025-01"),
        ("in March 2024", True, "2024-03"),
        ("next summer", False, "2026-06"),
        ("last winter", True, "2025-12"),
        ("in three weeks", False, "2026-02-19"),
        ("two months ago", True, "2025-11"),
        ("a year ago", True, "2025"),
        ("since 2015", False, "2015"),
        ("next year", False, "2027"),
        ("this weekend", False, "2026-01-31"),
        ("on the 5th", False, "2026-02-05"),
        ("on the 5th", True, "2026-01-05"),
        ("on the 31st", True, "2025-12-31"),
        ("on the 29th of February", False, "2028-02-29"),
    ],
)
def test_expressions(text: str, past: bool, iso: str) -> None:
    found = find_date(f"it happens {text}", THURSDAY, past=past)
    assert found is not None
    assert found.iso == iso
    assert f"it happens {text}"[found.begin : found.end].strip() in text


@pytest.mark.parametrize("text", ["", "at 7 pm", "may I go", "we march on", "on 31 June", "the second one", "Sundays"])
def test_what_is_no_date(text: str) -> None:
    assert find_date(text, THURSDAY, past=False) is None


def test_the_first_expression_counts() -> None:
    found = find_date("tomorrow, or on Monday", THURSDAY, past=False)
    assert found is not None
    assert found.iso == "2026-01-30"


@pytest.mark.parametrize(("text", "explicit"), [("on 3 May 2026", True), ("on 3 May", False), ("in May 2026", False)])
def test_full_dates_need_no_resolving(text: str, explicit: bool) -> None:
    found = find_date(text, THURSDAY, past=False)
    assert found is not None
    assert found.is_explicit is explicit


def test_days_count_in_utc() -> None:
    from_the_west = datetime.fromisoformat("2026-01-29T23:30:00-05:00")
    found = find_date("today", from_the_west, past=False)
    assert found is not None
    assert found.iso == "2026-01-30"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("moved it to April 17", "2026-04-17"),
        ("moved it to January 20", "2026-01-20"),  # just gone by
        ("moved it to June", "2026-06"),
        ("moved it to Saturday", "2026-01-31"),
        ("moved it to the 5th", "2026-02-05"),
        ("moved it from Tuesday to Saturday", "2026-01-31"),
        ("raised it from March", "2026-03"),
        ("raised it from November", "2025-11"),  # nearer than the next one
        ("raised it starting March 1", "2026-03-01"),
        ("moved it on April 17", "2025-04-17"),
        ("moved it in June", "2025-06"),
    ],
)
def test_a_time_that_a_clause_of_the_past_sets_is_to_come(text: str, iso: str) -> None:
    found = find_date(text, THURSDAY, past=True, goals={"to", "from"})
    assert found is not None
    assert found.iso == iso


def test_a_month_behind_to_is_a_date_only_where_a_time_is_set() -> None:
    assert find_date("gave it to May", THURSDAY, past=True) is None
