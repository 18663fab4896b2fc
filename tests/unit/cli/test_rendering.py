from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from mneme.gateway.v1 import recall_pb2
from mneme_client import (
    Explanation,
    Memory,
    MemoryKind,
    RecalledFact,
    RetrieverRank,
    Scope,
    ScorePart,
    SourceTrust,
    Tier,
    TierBacklog,
    TierReport,
    TierState,
    Turn,
    from_wire_recall,
)
from services.cli import rendering
from services.cli.mcp.text import memory_line

EXPLANATION = Explanation(
    retrievers=(
        RetrieverRank("dense", 2, 0.5),
        RetrieverRank("lexical", 1, 7.0),
        RetrieverRank("new-retriever", 13, 1.0),
    ),
    parts=(
        ScorePart("dense", 0.41),
        ScorePart("length", -0.02),
        ScorePart("time", 0.3),
        ScorePart("lexical", 0.2),
        ScorePart("new-part", -0.1),
    ),
)


def _printed(value: object) -> str:
    stream = io.StringIO()
    Console(file=stream, width=160).print(value)
    return stream.getvalue()


def test_retrievers_are_named_best_first() -> None:
    words = rendering.retrievers_in_words(EXPLANATION)
    assert words == "found by its words (1st), by meaning (2nd), new-retriever (13th)"
    assert rendering.retrievers_in_words(Explanation()) == "found beside another memory"


def test_the_greatest_parts_are_named_and_the_rest_summed_up() -> None:
    words = rendering.parts_in_words(EXPLANATION)
    assert words == "meaning +0.41, when +0.30, shared words +0.20, new-part -0.10, other -0.02"


@pytest.mark.parametrize(("number", "text"), [(1, "1st"), (11, "11th"), (22, "22nd"), (103, "103rd"), (112, "112th")])
def test_ordinals(number: int, text: str) -> None:
    assert rendering.ordinal(number) == text


def test_remembered_text_cannot_command_the_terminal() -> None:
    printed = _printed(rendering.plain("\x1b]0;owned\x07\x9b31m \u202eevil [bold]x[/bold]\x00"))
    assert not set(printed) & set("\x1b\x07\x9b\u202e\x00")
    assert "[bold]x[/bold]" in printed


def test_a_memory_is_a_row_with_its_reasons() -> None:
    memory = Memory(
        memory_id="m",
        kind=MemoryKind.EPISODE,
        turn=Turn("I moved", speaker="Ana", time=datetime(2026, 5, 8, 13, 56, tzinfo=UTC)),
        conversation_id="c",
        position=0,
        score=0.789,
        explanation=EXPLANATION,
        fact_ids=(),
        note_ids=(),
        scope=Scope(),
        source_trust=SourceTrust.NAMED_SPEAKER,
    )
    printed = _printed(rendering.memory_table([memory], explain=True))
    for part in (
        "0.79",
        "2026-05-08 13:56",
        "Ana",
        "I moved",
        "by meaning (2nd)",
        "shared words +0.20",
        "source: a named speaker",
    ):
        assert part in printed


def _fact(*, superseded_by: str = "", ended: datetime | None = None) -> RecalledFact:
    message = recall_pb2.RecalledFact(superseded_by=superseded_by, source_trust=recall_pb2.SOURCE_TRUST_TOOL)
    message.fact.text = "Ana moved."
    if ended is not None:
        message.fact.valid_to_time.FromDatetime(ended)
    return from_wire_recall.recalled_fact(message)


def test_spec_7_4_facts_and_notes_say_whose_words_they_rest_on_where_reasons_are_wanted() -> None:
    assert str(rendering.derived_text(_fact(), explain=True)) == "Ana moved. (source: a tool)"
    assert str(rendering.derived_text(_fact(), explain=False)) == "Ana moved."
    assert len({rendering.source_in_words(trust) for trust in SourceTrust}) == len(SourceTrust)


def test_spec_3_12_a_corrected_fact_shows_no_day_until_which_it_held() -> None:
    message = recall_pb2.RecalledFact()
    message.fact.text, message.fact.superseded_by = "Ana moved.", "m2"
    for time in (message.fact.first_observed_time, message.fact.valid_to_time):
        time.FromDatetime(datetime(2026, 3, 15, tzinfo=UTC))
    found = from_wire_recall.recalled_fact(message)
    assert str(rendering.derived_text(found, explain=False)) == "Ana moved. (superseded)"


def test_spec_3_12_a_recall_marks_what_holds_no_more() -> None:
    ended = datetime(2026, 3, 15, tzinfo=UTC)
    assert str(rendering.derived_text(_fact(ended=ended), explain=False)) == "Ana moved. (until 2026-03-15)"
    assert str(rendering.derived_text(_fact(superseded_by="f2"), explain=False)) == "Ana moved. (superseded)"
    note = recall_pb2.RecalledNote(superseded_by="m2")
    note.note.content = "Ana: I moved."
    assert (
        str(rendering.derived_text(from_wire_recall.recalled_note(note), explain=False)) == "Ana: I moved. (superseded)"
    )
    message = recall_pb2.Memory(memory_id="m", superseded_by="m2")
    message.turn.content = "I live in Leeds with Tom."
    whole = from_wire_recall.memory(message)
    assert "I live in Leeds with Tom. (superseded)" in _printed(rendering.memory_table([whole]))
    assert memory_line(whole) == "[m] undated, unspecified (superseded): I live in Leeds with Tom."
    message.superseded_statements.add(statement="I live in Leeds", whole_turn=False)
    part = from_wire_recall.memory(message)
    assert "I live in Leeds with Tom. (superseded in part)" in _printed(rendering.memory_table([part]))
    assert "(superseded in part)" in memory_line(part)


def test_what_is_missing_is_said() -> None:
    stream = io.StringIO()
    report = TierReport(Tier.AGENTIC, TierState.FAILED, "DEADLINE_EXCEEDED", timedelta(), 0)
    rendering.print_degraded(Console(file=stream), [report], degraded=True)
    assert "The agentic tier failed: DEADLINE_EXCEEDED." in stream.getvalue()
    assert "may be incomplete" in stream.getvalue()


def test_json_has_names_and_numbers() -> None:
    text = rendering.as_json((TierBacklog(Tier.PROFILE, 1, 0, timedelta(seconds=1.5)),))
    assert json.loads(text) == [{"tier": "PROFILE", "pending_count": 1, "dead_count": 0, "oldest_age": 1.5}]


@pytest.mark.parametrize(("value", "text"), [(timedelta(milliseconds=2), "2.0 ms"), (timedelta(seconds=90), "90.0 s")])
def test_durations_have_the_unit_that_suits_them(value: timedelta, text: str) -> None:
    assert rendering.seconds(value) == text


def test_numbers_of_things_are_told_in_words() -> None:
    assert [rendering.counted(count, "fact") for count in (0, 1, 2)] == ["0 facts", "1 fact", "2 facts"]


def test_counts_of_a_receipt_are_told_in_words() -> None:
    counts = {"interactions": 1, "data_keys": 1, "reduced_facts": 2, "feedback": 3}
    assert rendering.counts_in_words(counts) == "1 data key, 3 feedback, 1 interaction, 2 reduced facts"
    assert rendering.counts_in_words({}) == ""
