"""The Markdown of reflections: what is superseded says so, and no text passes for a mark or for structure."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mneme.agentic.v1 import insights_pb2, notes_pb2
from services.common.reflections import to_markdown

MISSING = "Which of these are superseded is not known"


def note(content: str, **fields: object) -> notes_pb2.Note:
    made = notes_pb2.Note(content=content, **fields)  # type: ignore[arg-type]
    made.time.FromDatetime(datetime(2026, 3, 1, tzinfo=UTC))
    return made


def report(**fields: object) -> insights_pb2.GetReflectionResponse:
    made = insights_pb2.GetReflectionResponse(**fields)  # type: ignore[arg-type]
    made.start_time.FromDatetime(datetime(2026, 3, 1, tzinfo=UTC))
    made.end_time.FromDatetime(datetime(2026, 3, 8, tzinfo=UTC))
    return made


def test_spec_3_12_each_line_says_whether_what_it_shows_is_superseded() -> None:
    ended, holds = note("The van is from 2014.", superseded_by="t"), note("The van is from 2016.")
    pair = insights_pb2.Contradiction(first=holds, second=ended)
    rendered = to_markdown(
        report(learned=[ended, holds], learned_count=7, contradictions=[pair], contradiction_count=30, unused=[ended])
    )
    assert rendered.splitlines() == [
        "# Reflection, 2026-03-01 to 2026-03-08",
        "",
        "## Learned (7)",
        "",
        "- 2026-03-01 **superseded** The van is from 2014.",
        "- 2026-03-01 The van is from 2016.",
        "",
        "## Contradicting (30)",
        "",
        "- 2026-03-01 The van is from 2016.",
        "  against: **superseded** The van is from 2014.",
        "",
        "## Unused (0)",
        "",
        "- 2026-03-01 **superseded** The van is from 2014.",
    ]


def test_spec_3_12_a_text_cannot_pass_for_a_mark_or_for_another_line() -> None:
    text = "**superseded** no\n- 2026-03-01 **superseded** yes\n## Unused (9) <b>~~x~~</b>"
    topic = insights_pb2.TopicCount(topic="a\n# b", note_count=2)
    rendered = to_markdown(report(learned=[note(text)], topics=[topic]))
    assert "**superseded**" not in rendered
    assert [line for line in rendered.splitlines() if line.startswith(("- ", "#", "Topics"))] == [
        "# Reflection, 2026-03-01 to 2026-03-08",
        "## Learned (0)",
        r"- 2026-03-01 \*\*superseded\*\* no - 2026-03-01 \*\*superseded\*\* yes \#\# Unused (9) \<b\>\~\~x\~\~\</b\>",
        r"Topics: a \# b (2)",
        "## Contradicting (0)",
        "## Unused (0)",
    ]


@pytest.mark.parametrize(
    ("one", "is_said"),
    [
        (note("Grey.", marks_missing=True), True),
        (note("Grey."), False),
        # Its mark is there; what is missing is the statements, for want of room.
        (note("Grey.", marks_missing=True, superseded_by="t"), False),
    ],
)
def test_spec_3_12_where_marks_are_missing_the_report_says_so(one: notes_pb2.Note, is_said: bool) -> None:
    holds = note("Blue.")
    pairs = [insights_pb2.Contradiction(first=one, second=holds), insights_pb2.Contradiction(first=holds, second=one)]
    for made in (report(learned=[one]), report(unused=[one]), *(report(contradictions=[pair]) for pair in pairs)):
        assert (MISSING in to_markdown(made)) is is_said
