"""The file of a user, on bytes in memory."""

from __future__ import annotations

import io
import json

import pytest

from services.common.errors import FieldViolation, InvalidArgument
from services.common.portability.lines import dump
from services.common.validation import Violations
from services.gateway.portability.file import (
    LINE_BYTES_MAX,
    PAGE_LINES,
    TIERS,
    FileWriter,
    WholeFile,
    in_file,
    read_whole,
)


def line(kind: str, text: str) -> str:
    return dump({"kind": kind, "record": {"text": text}})


def file_of(lines: list[str]) -> io.BytesIO:
    writer = FileWriter()
    return io.BytesIO(writer.header("ada") + writer.records(lines) + writer.end())


def any_user(user_id: str) -> None:
    """Takes every id."""


def read(file: io.BytesIO) -> WholeFile:
    return read_whole(file, any_user)


def refused(lines: list[str]) -> str:
    """What is wrong with a file of these lines."""
    with pytest.raises(InvalidArgument) as caught:
        read(file_of(lines))
    (violation,) = caught.value.violations
    assert violation.field_path == "data"
    return violation.description


def test_spec_6_7_the_records_of_each_tier_are_found_at_their_place() -> None:
    lines = [
        *(line("gateway.interactions", f"{n} é") for n in range(3)),
        *(line("semantic.facts", "x" * n) for n in range(PAGE_LINES + 1)),
        line("agentic.notes", "the last"),
    ]
    whole = read(file_of(lines))
    found = {tier: list(whole.pages(tier)) for tier in reversed(TIERS)}
    assert [len(page.lines) for page in found["semantic"]] == [PAGE_LINES, 1]
    assert found["episodic"] == []
    assert [one for tier in TIERS for page in found[tier] for one in page.lines] == lines


def test_spec_6_7_a_page_of_large_records_ends_early() -> None:
    large = [line("semantic.code_files", "x" * 700_000) for _ in range(3)]
    whole = read(file_of([*large, line("semantic.facts", "x" * 10), line("semantic.facts", "y")]))
    assert [len(page.lines) for page in whole.pages("semantic")] == [1, 1, 3]


def test_spec_6_7_a_record_that_is_too_large_for_a_tier_is_refused() -> None:
    assert read(file_of([line("semantic.code_files", "x" * (LINE_BYTES_MAX - 100))])).record_count == 1
    assert refused([line("semantic.code_files", "x" * LINE_BYTES_MAX)]) == "line 2: is too long"


def test_spec_6_7_records_in_another_order_are_refused() -> None:
    found = refused([line("semantic.facts", "a"), line("gateway.interactions", "b")])
    assert found == "line 3: is not written as an export writes it"
    assert json.loads(file_of([]).readline()) == {"format": "mneme-user", "user_id": "ada", "version": 1}


def test_spec_6_7_what_a_tier_refuses_is_named_by_its_line_in_the_file() -> None:
    lines = [line("gateway.interactions", "a"), *(line("semantic.facts", f"{n}") for n in range(PAGE_LINES + 2))]
    first, second = read(file_of(lines)).pages("semantic")
    assert (first.line, second.line) == (3, 3 + PAGE_LINES)
    wrong = InvalidArgument("is wrong", violations=[FieldViolation("lines[1]", "is wrong")])
    for page, place in ((first, 4), (second, 4 + PAGE_LINES)):
        found = in_file(wrong, page)
        assert found.violations == (FieldViolation("data", f"line {place}: is wrong"),)
    (found_in_page,) = in_file(InvalidArgument("does not fit"), second).violations
    assert found_in_page.description == "lines 203 to 204: does not fit"


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        ({"user_id": "a\0b"}, "line 1: user_id holds a control character"),
        ({"user_id": "\ud800"}, "line 1: user_id holds a control character"),
        ({"user_id": ""}, "line 1: user_id is required"),
        ({"user_id": 7}, "line 1: is not the header of an export"),
        ({"version": "9" * 10_000}, "the file has another version than 1, which this server reads"),
    ],
)
def test_spec_6_7_a_header_that_names_no_user_is_refused(header: dict[str, object], cause: str) -> None:
    first = {"format": "mneme-user", "user_id": "ada", "version": 1, **header}
    file = io.BytesIO(json.dumps(first).encode() + b"\n")

    def check_user(user_id: str) -> None:
        violations = Violations()
        violations.identifier("user_id", user_id, chars_max=128)
        violations.raise_if_any()

    with pytest.raises(InvalidArgument) as caught:
        read_whole(file, check_user)
    assert caught.value.violations == (FieldViolation("data", cause),)


def test_spec_6_7_a_record_with_a_nul_which_stores_cannot_hold_is_refused_before_anything_is_written() -> None:
    assert refused([line("semantic.facts", "a\0b")]) == "line 2: is no record of an export"
    assert read(file_of([line("semantic.facts", "a\\u0000b")])).record_count == 1  # written with a backslash
