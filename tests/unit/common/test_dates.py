from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.dates import YEARS_BACK, TimeRange, read_time_ranges

SATURDAY = datetime(2026, 11, 21, 15, 30, tzinfo=UTC)


def days(start: str, end: str) -> TimeRange:
    return TimeRange.of(*(datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (start, end)))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What happened on 7 July, 2023?", "2023-07-07", "2023-07-08"),
        ("What happened on July 7th 2023?", "2023-07-07", "2023-07-08"),
        ("the 7th of July 2023", "2023-07-07", "2023-07-08"),
        ("on Sept. 4, 2023", "2023-09-04", "2023-09-05"),
        ("logs of 2023-07-07", "2023-07-07", "2023-07-08"),
        ("logs of 2023-07", "2023-07-01", "2023-08-01"),
        ("in March 2023", "2023-03-01", "2023-04-01"),
        ("December of 2024", "2024-12-01", "2025-01-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("the summer of 2021", "2021-06-01", "2021-09-01"),
        ("winter 2021", "2021-12-01", "2022-03-01"),
        ("between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("from 3 May 2022 to June 2022", "2022-05-03", "2022-07-01"),
        ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
        ("since 2020", "2020-01-01", "2026-11-22"),
        ("since last May", "2026-05-01", "2026-11-22"),
        ("last June", "2026-06-01", "2026-07-01"),
        ("last December", "2025-12-01", "2026-01-01"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("yesterday", "2026-11-20", "2026-11-21"),
        ("the day before yesterday", "2026-11-19", "2026-11-20"),
        ("this morning", "2026-11-21", "2026-11-22"),
        ("last night", "2026-11-20", "2026-11-21"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last Monday", "2026-11-16", "2026-11-17"),
        ("last Saturday", "2026-11-14", "2026-11-15"),
        ("on Saturday", "2026-11-21", "2026-11-22"),
        ("three days ago", "2026-11-18", "2026-11-19"),
        ("two weeks ago", "2026-11-04", "2026-11-11"),
        ("a couple of months ago", "2026-09-01", "2026-10-01"),
        ("12 months ago", "2025-11-01", "2025-12-01"),
        ("5 years ago", "2021-01-01", "2022-01-01"),
        ("in the past 3 weeks", "2026-10-31", "2026-11-22"),
        ("since Tuesday", "2026-11-17", "2026-11-22"),
        ("two Fridays ago", "2026-11-13", "2026-11-14"),
        ("a fortnight ago", "2026-11-04", "2026-11-11"),
        ("half a year ago", "2026-04-01", "2026-07-01"),
        ("in Q3 2024", "2024-07-01", "2024-10-01"),
        ("last Christmas", "2025-12-24", "2025-12-27"),
        ("on New Year's Eve 2023", "2023-12-31", "2024-01-01"),
        ("Valentine\N{RIGHT SINGLE QUOTATION MARK}s Day of 2025", "2025-02-14", "2025-02-15"),
    ],
)
def test_spec_5_5_one_time_is_read(text: str, start: str, end: str) -> None:
    assert read_time_ranges(text, SATURDAY) == (days(start, end),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Who are you?",
        "May I march and fall?",
        "Where is the christmas tree?",
        "Who wrote on Christmas cards?",
        "Is the report due by Friday?",
        "What is the spring of his watch?",
        "She second-guessed the 2023-13 build",
        "He ran 100 metres in 12 seconds",
        "version 1/2/20",
    ],
)
def test_what_names_no_time_gives_none(text: str) -> None:
    assert read_time_ranges(text, SATURDAY) == ()


def test_a_month_without_a_year_may_be_that_of_any_recent_year() -> None:
    found = read_time_ranges("What did we do in July?", SATURDAY)
    assert len(found) == YEARS_BACK + 1
    assert found[0] == days("2026-07-01", "2026-08-01")
    assert found[-1] == days("2016-07-01", "2016-08-01")


def test_a_day_that_is_not_in_every_year_is_taken_where_it_is() -> None:
    assert read_time_ranges("on 29 February", SATURDAY) == tuple(
        days(f"{year}-02-29", f"{year}-03-01") for year in (2024, 2020, 2016)
    )


def test_a_numeric_date_is_read_in_both_orders() -> None:
    assert read_time_ranges("7/8/2023", SATURDAY) == (
        days("2023-07-08", "2023-07-09"),
        days("2023-08-07", "2023-08-08"),
    )
    assert read_time_ranges("25/8/2023", SATURDAY) == (days("2023-08-25", "2023-08-26"),)


def test_several_times_are_all_read_in_the_order_of_the_text() -> None:
    assert read_time_ranges("Was it in 2021, or on 3 May 2022?", SATURDAY) == (
        days("2021-01-01", "2022-01-01"),
        days("2022-05-03", "2022-05-04"),
    )


def test_days_are_those_of_utc() -> None:
    early_in_tokyo = datetime(2026, 11, 22, 3, tzinfo=timezone(timedelta(hours=9)))
    assert read_time_ranges("yesterday", early_in_tokyo) == (days("2026-11-20", "2026-11-21"),)


WORDS_TEXT = (
    "last in May 31 2 2023 week weeks ago 999 since between and to June summer fall a few years past - / "
    "Feb on Monday , the yesterday spring 29 February"
)


@given(
    st.lists(st.sampled_from(WORDS_TEXT.split()), max_size=12).map(" ".join),
    st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1)),  # noqa: DTZ001
)
def test_any_text_is_read_without_error_into_proper_ranges(text: str, now: datetime) -> None:
    for found in read_time_ranges(text, now.replace(tzinfo=UTC)):
        assert found.start < found.end


@given(
    st.lists(
        st.sampled_from([*WORDS_TEXT.split(), "weekend", "year", "December", "9999", "tonight", "ago", "day"]),
        max_size=12,
    ).map(" ".join),
    st.one_of(
        st.datetimes(timezones=st.timezones()),
        st.datetimes(max_value=datetime(12, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
        st.datetimes(min_value=datetime(9998, 11, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    ),
)
def test_at_the_ends_of_the_calendar_ranges_are_proper_times_or_dropped(text: str, now: datetime) -> None:
    for found in read_time_ranges(text, now):
        start, end = (datetime.fromtimestamp(seconds, UTC) for seconds in (found.start, found.end))
        assert start < end


@pytest.mark.parametrize("text", ["yesterday", "last year", "last month", "last week", "6 weeks ago"])
def test_before_the_first_day_there_is_no_time(text: str) -> None:
    assert read_time_ranges(text, datetime(1, 1, 1, tzinfo=UTC)) == ()


@pytest.mark.parametrize("text", ["this weekend", "today", "this year", "since last May"])
def test_after_the_last_day_there_is_no_time(text: str) -> None:
    assert read_time_ranges(text, datetime(9999, 12, 31, 23, tzinfo=UTC)) == ()


def test_at_the_ends_of_the_calendar_the_years_that_exist_are_kept() -> None:
    assert [found.start for found in read_time_ranges("in June", datetime(2, 7, 1, tzinfo=UTC))] == [
        datetime(year, 6, 1, tzinfo=UTC).timestamp() for year in (2, 1)
    ]
    abroad = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))  # in UTC the day before
    assert read_time_ranges("in June", abroad) == ()
