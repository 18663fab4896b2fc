"""Questions in plain English are read, or refused in plain words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.agentic.config import InsightSettings
from services.agentic.insights.question import Intent, parse_question, read_question
from services.agentic.insights.service import fitting_notes
from services.agentic.model import NoteKind
from services.agentic.upkeep_store import StoredNote
from services.common.embedding.vectors import Vector
from services.common.speaker_names import Names
from tests.contract.note_samples import angle, make_note

NOW = datetime(2026, 3, 11, 15, 30, tzinfo=UTC)  # a Wednesday


NEAR, FAR = angle(0), angle(53)  # cosine 0.6


def stored(number: int, time: datetime, vector: Vector) -> StoredNote:
    return StoredNote(replace(make_note(number), time=time), vector)


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
        ("What am I allergic to?", Intent.RETRIEVE, "allergic", None, None, None),
        ("What was my first car?", Intent.RETRIEVE, "first car", None, None, None),
        ("notes from last month", Intent.FILTER, "", None, "2026-02-01", "2026-03-01"),
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
        ("What was my first note?", '"first note"'),
        ("Show me my oldest three facts", '"oldest three facts"'),
        ("How many observations and facts?", '"observations and facts"'),
        ("facts, my preferences", "two kinds"),
    ],
)
def test_spec_4_7_what_cannot_be_answered_is_refused_clearly(question: str, part: str) -> None:
    assert part in parse_question(question, NOW).refusal


@pytest.mark.parametrize(
    ("question", "count_max", "kind"),
    [
        ("latest notes", None, None),
        ("Show me my 3 newest notes", 3, None),
        ("the last two preferences", 2, NoteKind.PREFERENCE),
        ("What was my most recent note?", 1, None),
    ],
)
def test_spec_4_7_the_newest_notes_are_no_topic(question: str, count_max: int | None, kind: NoteKind | None) -> None:
    parsed = parse_question(question, NOW)
    assert (parsed.refusal, parsed.topic, parsed.newest) == ("", "", True)
    assert (parsed.count_max, parsed.kind) == (count_max, kind)
    notes = [stored(number, NOW - timedelta(days=number), NEAR) for number in range(1, 6)]
    notes = [StoredNote(replace(one.note, kind=kind or NoteKind.FACT), one.vector) for one in notes]
    found = fitting_notes(notes, read_question(question, NOW, Names.of(())), [], InsightSettings())
    assert [note.note_id for note in found] == [one.note.note_id for one in notes[:count_max]]


def test_spec_4_7_the_newest_notes_about_a_topic_come_newest_first() -> None:
    older, newer = stored(1, NOW - timedelta(days=9), NEAR), stored(2, NOW - timedelta(days=2), FAR)
    asked = read_question("latest notes about the boat", NOW, Names.of(()))
    assert (asked.topic, asked.parsed.newest) == ("boat", True)
    assert [note.note_id for note in fitting_notes([older, newer], asked, [NEAR], InsightSettings())] == [
        newer.note.note_id,
        older.note.note_id,
    ]


@pytest.mark.parametrize(
    ("question", "shown", "topic", "text", "kind"),
    [
        ("Where does Ann live?", "Ann live", "live", "Where does I live?", None),
        ("Who is Ann's sister?", "Ann's sister", "sister", "Who is my sister?", None),
        ("What did Ann paint last week?", "Ann paint", "paint", "What did I paint  ?", None),
        ("What does Ann like?", "Ann like", "", "", NoteKind.PREFERENCE),
        ("What do you know about Ann?", "Ann", "", "", None),
        ("How many notes about tea does Ann have?", "tea Ann", "tea", "", None),
        ("Where does Clara live?", "Clara live", "Clara live", "Where does Clara live?", None),
    ],
)
def test_spec_4_7_a_speaker_is_shown_by_name_and_looked_for_in_the_first_person(
    question: str, shown: str, topic: str, text: str, kind: NoteKind | None
) -> None:
    asked = read_question(question, NOW, Names.of(("Ann", "Bob", "User")))
    assert (asked.parsed.topic, asked.topic, asked.text, asked.parsed.kind) == (shown, topic, text, kind)
    assert asked.named == (() if "Clara" in question else (0,))


def said(number: int, speaker: str, content: str) -> StoredNote:
    return StoredNote(replace(make_note(number), speaker=speaker, content=content), NEAR)


def test_spec_4_7_of_a_speaker_that_a_question_names_other_speakers_notes_are_not_meant() -> None:
    of_ann, of_bob = said(1, "Ann", "Ann: I drive a Volvo."), said(2, "Bob", "Bob: I drive a Fiat.")
    on_ann = said(3, "Bob", "Bob: Ann drives to work.")
    written = said(4, "", "The car is parked at the station.")
    notes = [of_ann, of_bob, on_ann, written]
    asked = read_question("What car does Ann drive?", NOW, Names.of(("", "Ann", "Bob")))
    found = {note.note_id for note in fitting_notes(notes, asked, [NEAR], InsightSettings())}
    assert found == {one.note.note_id for one in (of_ann, on_ann, written)}
    asked = read_question("How many notes are there about Ann?", NOW, Names.of(("", "Ann", "Bob")))
    found = {note.note_id for note in fitting_notes(notes, asked, [], InsightSettings())}
    assert found == {one.note.note_id for one in (of_ann, on_ann)}


def test_spec_4_7_where_no_note_is_near_the_nearest_answer_a_question_but_are_not_counted() -> None:
    notes = [StoredNote(make_note(1), angle(66)), StoredNote(make_note(2), angle(70))]  # cosines 0.41 and 0.34
    settings = InsightSettings()
    asked = read_question("What is my job?", NOW, Names.of(()))
    assert [note.note_id for note in fitting_notes(notes, asked, [angle(0)], settings)] == [notes[0].note.note_id]
    counted = read_question("How many notes about my job?", NOW, Names.of(()))
    assert fitting_notes(notes, counted, [angle(0)], settings) == []
    near = StoredNote(make_note(3), angle(60))
    assert [note.note_id for note in fitting_notes([*notes, near], asked, [angle(0)], settings)] == [near.note.note_id]


def test_spec_4_7_a_note_is_as_near_as_to_the_nearer_of_topic_and_question() -> None:
    notes = [StoredNote(make_note(1), angle(0)), StoredNote(make_note(2), angle(90))]
    asked = read_question("Which car do I drive?", NOW, Names.of(()))
    found = fitting_notes(notes, asked, [angle(0), angle(85)], InsightSettings())
    assert [note.note_id for note in found] == [notes[0].note.note_id, notes[1].note.note_id]


def test_spec_4_7_notes_of_a_time_are_counted_however_many_of_other_times_are_nearer() -> None:
    old = [stored(number, NOW - timedelta(days=300), NEAR) for number in range(1, 301)]
    recent = [stored(number, NOW - timedelta(days=7), FAR) for number in range(301, 304)]
    asked = read_question("How many notes about the boat are there from last week?", NOW, Names.of(()))
    found = fitting_notes([*old, *recent], asked, [NEAR], InsightSettings())
    assert [note.note_id for note in found] == [one.note.note_id for one in recent]
    asked = read_question("How many notes about the boat?", NOW, Names.of(()))
    assert len(fitting_notes([*old, *recent], asked, [NEAR], InsightSettings())) == 303
