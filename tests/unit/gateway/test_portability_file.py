"""The file of a user, on bytes in memory."""

from __future__ import annotations

import io
import json

import pytest

from services.common.errors import InvalidArgument
from services.common.portability.lines import dump
from services.gateway.portability.file import LINE_BYTES_MAX, PAGE_LINES, TIERS, FileWriter, read_whole


def line(kind: str, text: str) -> str:
    return dump({"kind": kind, "record": {"text": text}})


def file_of(lines: list[str]) -> io.BytesIO:
    writer = FileWriter()
    return io.BytesIO(writer.header("ada") + writer.records(lines) + writer.end())


def test_spec_6_7_the_records_of_each_tier_are_found_at_their_place() -> None:
    lines = [
        *(line("gateway.interactions", f"{n} é") for n in range(3)),
        *(line("semantic.facts", "x" * n) for n in range(PAGE_LINES + 1)),
        line("agentic.notes", "the last"),
    ]
    whole = read_whole(file_of(lines))
    found = {tier: list(whole.pages(tier)) for tier in reversed(TIERS)}
    assert [len(page) for page in found["semantic"]] == [PAGE_LINES, 1]
    assert found["episodic"] == []
    assert [one for tier in TIERS for page in found[tier] for one in page] == lines


def test_spec_6_7_a_page_of_large_records_ends_early() -> None:
    large = [line("semantic.code_files", "x" * 700_000) for _ in range(3)]
    whole = read_whole(file_of([*large, line("semantic.facts", "x" * 10), line("semantic.facts", "y")]))
    assert [len(page) for page in whole.pages("semantic")] == [1, 1, 3]


def test_spec_6_7_a_record_that_is_too_large_for_a_tier_is_refused() -> None:
    assert read_whole(file_of([line("semantic.code_files", "x" * (LINE_BYTES_MAX - 100))])).record_count == 1
    with pytest.raises(InvalidArgument, match="line 2: is too long"):
        read_whole(file_of([line("semantic.code_files", "x" * LINE_BYTES_MAX)]))


def test_spec_6_7_records_in_another_order_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="line 3"):
        read_whole(file_of([line("semantic.facts", "a"), line("gateway.interactions", "b")]))
    assert json.loads(file_of([]).readline()) == {"format": "mneme-user", "user_id": "ada", "version": 1}
