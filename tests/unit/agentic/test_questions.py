"""Questions in plain English are read, or refused in plain words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from services.agentic.insights.question import Intent, parse_question
from services.agentic.insights.service import fitting_notes
from services.agentic.model import NoteKind
from services.agentic.upkeep_store import StoredNote
from tests.contract.note_samples import make_note

NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)  # a Wednesday


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "intent", "topic", "kind", "start", "end"),
    [
        ("What do you know about my sister's garden?", Intent.RETRIEVE, "sister's garden", None, None, None),
        ("Lisbon", Intent.RETRIEVE, "Lisbon", None, None, None),
        ("Show me all preferences", Intent.FILTER, "", NoteKind.PREFERENCE, None, None),
        ("Which facts about tea?", Intent.FILTER, "tea", NoteKind.FACT, None, None),
        ("What did I say last week?", Intent.FILTER, "", None, "2026-03-02", "2026-03-09"),
        ("notes about boats from this month", Intent.FILTER, "boats", None, "2026-03-01", "2026-04-01"),
        ("What happened yesterday", Intent.FILTER, "", None, "2026-03-10", "2026-03-11"),
        ("Show procedures from October", Intent.FILTER, "", NoteKind.PROCEDURE, "2025-10-01", "2025-11-01"),
        ("Which things did I learn on Monday?", Intent.FILTER, "", None, "2026-03-09", "2026-03-10"),
        ("what was decided about the boat two days ago?", Intent.FILTER, "boat", None, "2026-03-09", "2026-03-10"),
        ("Who came to the party last summer?", Intent.FILTER, "came party", None, "2025-06-01", "2025-09-01"),
        ("notes between May 3 and May 9 2025", Intent.FILTER, "", None, "2025-05-03", "2025-05-10"),
        ("facts about rent before 2026-01-05", Intent.FILTER, "rent", NoteKind.FACT, None, "2026-01-05"),
        ("facts about rent until the 5th of January 2026", Intent.FILTER, "rent", NoteKind.FACT, None, "2026-01-06"),
        ("notes after last week", Intent.FILTER, "", None, "2026-03-09", None),
        ("What did I like in the last 10 days?", Intent.FILTER, "", NoteKind.PREFERENCE, "2026-03-01", "2026-03-12"),
        ("What do I like about Lisbon?", Intent.FILTER, "Lisbon", NoteKind.PREFERENCE, None, None),
        ("how often did I mention tea?", Intent.AGGREGATE, "tea", None, None, None),
        ("What's the total number of notes about tea?", Intent.AGGREGATE, "tea", None, None, None),
        ("What does the word hygge mean?", Intent.RETRIEVE, "word hygge mean", None, None, None),
        ("Change of address?", Intent.RETRIEVE, "Change address", None, None, None),
        ("Remember what I said about Paris?", Intent.RETRIEVE, "Paris", None, None, None),
        ("List everything", Intent.RETRIEVE, "", None, None, None),
        ("The late fee of the library", Intent.RETRIEVE, "late fee library", None, None, None),
        ("observations in May", Intent.FILTER, "", NoteKind.OBSERVATION, "2025-05-01", "2025-06-01"),
        ("facts in 2024", Intent.FILTER, "", NoteKind.FACT, "2024-01-01", "2025-01-01"),
        ("notes since 2026-01-05", Intent.FILTER, "", None, "2026-01-05", None),
        ("how many preferences did I state last month?", Intent.AGGREGATE, "", NoteKind.PREFERENCE, "2026-02-01",
         "2026-03-01"),
        ("How many notes are there about my boat?", Intent.AGGREGATE, "boat", None, None, None),
        ("How often have I mentioned Lisbon?", Intent.AGGREGATE, "Lisbon", None, None, None),
        ("How many times did I swim?", Intent.AGGREGATE, "swim", None, None, None),
        ("How many observations were recorded this year?", Intent.AGGREGATE, "", NoteKind.OBSERVATION, "2026-01-01",
         "2027-01-01"),
        ("Tell me what I noted yesterday", Intent.FILTER, "", None, "2026-03-10", "2026-03-11"),
    ],
)  # fmt: skip
def test_spec_4_7_a_question_is_read(
    question: str, intent: Intent, topic: str, kind: NoteKind | None, start: str | None, end: str | None
) -> None:
    parsed = parse_question(question, NOW)
    assert parsed.refusal == ""
    assert (parsed.intent, parsed.topic, parsed.kind) == (intent, topic, kind)
    assert (parsed.start_time, parsed.end_time) == (start and day(start), end and day(end))


def test_spec_4_7_topics_are_counted() -> None:
    for question in (
        "What topics did I talk about last week?",
        "my most common topics",
        "What do I talk about?",
        "Which topics came up this month?",
        "What topics did we discuss in January 2026?",
        "What were the main themes last month?",
        "What have we been talking about this month?",
    ):
        parsed = parse_question(question, NOW)
        assert (parsed.intent, parsed.by_topic, parsed.topic) == (Intent.AGGREGATE, True, ""), question


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("Forget everything about Tom", "Forget"),
        ("Remember that I like tea.", "Remember"),
        ("Update my address", "Remember"),
        ("What is the average importance of my notes?", '"average"'),
        ("what do you know?", "names no topic"),
    ],
)
def test_spec_4_7_what_cannot_be_answered_is_refused_clearly(question: str, part: str) -> None:
    assert part in parse_question(question, NOW).refusal


def test_spec_4_7_notes_of_a_time_are_counted_however_many_of_other_times_are_nearer() -> None:
    near, far = np.array([1.0, 0.0], dtype=np.float32), np.array([0.6, 0.8], dtype=np.float32)

    def stored(number: int, time: datetime, vector: np.ndarray) -> StoredNote:
        return StoredNote(replace(make_note(number), time=time), vector)

    old = [stored(number, NOW - timedelta(days=300), near) for number in range(1, 301)]
    recent = [stored(number, NOW - timedelta(days=7), far) for number in range(301, 304)]
    parsed = parse_question("How many notes about the boat are there from last week?", NOW)
    found = fitting_notes([*old, *recent], parsed, near, 0.5)
    assert [note.note_id for note in found] == [one.note.note_id for one in recent]
    assert len(fitting_notes([*old, *recent], parse_question("How many notes about the boat?", NOW), near, 0.5)) == 303
