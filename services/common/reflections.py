"""The Markdown of a reflection: what the tier returns, and the gateway renders anew once its notes are marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC
from itertools import chain
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from mneme.agentic.v1 import insights_pb2, notes_pb2

_ESCAPES: Final = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>#|~"})
_SUPERSEDED: Final = "**superseded** "
"""Before what holds no more. No text can pass for it: its asterisks would be escaped."""
_MARKS_MISSING: Final = "Which of these are superseded is not known: the semantic tier did not respond in time."


def to_markdown(report: insights_pb2.GetReflectionResponse) -> str:
    """The report for people. What notes say stands in lines of its own, with no line break or markup of theirs."""
    lines = [f"# Reflection, {_day(report.start_time)} to {_day(report.end_time)}", ""]
    if any(note.marks_missing and not note.superseded_by for note in _notes(report)):
        lines += [_MARKS_MISSING, ""]
    lines += _section("Learned", report.learned_count, map(_item, report.learned))
    if report.topics:
        lines += ["", "Topics: " + ", ".join(f"{_plain(one.topic)} ({one.note_count})" for one in report.topics)]
    pairs = (f"{_item(pair.first)}\n  against: {_said(pair.second)}" for pair in report.contradictions)
    # A tier of an earlier version does not count them.
    lines += ["", *_section("Contradicting", max(report.contradiction_count, len(report.contradictions)), pairs)]
    lines += ["", *_section("Unused", report.unused_count, map(_item, report.unused))]
    return "\n".join(lines) + "\n"


def _section(title: str, count: int, items: Iterable[str]) -> list[str]:
    return [f"## {title} ({count})", "", *(list(items) or ["Nothing."])]


def _notes(report: insights_pb2.GetReflectionResponse) -> Iterator[notes_pb2.Note]:
    return chain(report.learned, report.unused, *((pair.first, pair.second) for pair in report.contradictions))


def _item(note: notes_pb2.Note) -> str:
    return f"- {_day(note.time)} {_said(note)}"


def _said(note: notes_pb2.Note) -> str:
    return f"{_SUPERSEDED if note.superseded_by else ''}{_plain(note.content)}"


def _day(time: Timestamp) -> str:
    return f"{time.ToDatetime(tzinfo=UTC):%Y-%m-%d}"


def _plain(text: str) -> str:
    return " ".join(text.split()).translate(_ESCAPES)
