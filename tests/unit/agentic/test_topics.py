"""What notes are about, as reports and answers list it."""

from __future__ import annotations

from dataclasses import replace

from services.agentic.insights.reports import topics_of
from tests.contract.note_samples import make_note


def test_spec_4_7_and_4_8_numbers_times_and_qualities_are_no_topics() -> None:
    said = [("Lisbon", "three", "new"), ("lisbon", "march", "8"), ("violin", "new"), ("8th floor",)]
    notes = [replace(make_note(number), keywords=keywords) for number, keywords in enumerate(said)]
    assert topics_of(notes, 10) == (("lisbon", 2), ("8th floor", 1), ("violin", 1))
