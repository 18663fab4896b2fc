"""What had been recorded at a time, in a recall."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mneme.agentic.v1 import notes_pb2
from mneme.semantic.v1 import facts_pb2, supersessions_pb2
from mneme.session.v1 import session_pb2
from services.common.ids import Uuid7Ids, made_time
from services.gateway.recall.model import CoarseResult
from services.gateway.recall.stages.known import as_known
from services.gateway.recall.superseded import OwnerSuperseded
from tests.support.clock import START, FakeClock


def test_an_identifier_says_when_it_was_made() -> None:
    assert made_time(Uuid7Ids(FakeClock()).new_id()) == START
    assert made_time("6f1c9d3a-1111-4222-8333-444455556666") is None
    assert made_time("ffffffff-ffff-7000-8000-000000000000") is None  # beyond the year 9999
    assert made_time("turn 1") is None


def test_spec_3_7_turns_recorded_later_are_left_out_with_what_rests_on_them_alone() -> None:
    clock = FakeClock()
    ids = Uuid7Ids(clock)
    early = ids.new_id()
    clock.advance(days=2)
    late = ids.new_id()
    hits = [
        facts_pb2.ScoredFact(fact=facts_pb2.Fact(fact_id=name, derived_from=sources))
        for name, sources in (("a", [early]), ("b", [early, late]), ("c", [late]), ("d", []))
    ]
    known = as_known(CoarseResult(facts=tuple(hits)), START)
    assert [hit.fact.fact_id for hit in known.facts] == ["a", "b", "d"]
    assert known.sources.excluded == {late}


def test_spec_3_7_recent_turns_recorded_later_are_left_out() -> None:
    turns = [session_pb2.SessionTurn(interaction_id=Uuid7Ids(FakeClock()).new_id())]
    for name, days in (("said early", 0), ("said late", 2)):
        turn = session_pb2.SessionTurn(interaction_id=f"6f1c9d3a-1111-4222-8333-44445555666{days}")
        turn.turn.content = name
        turn.turn.time.FromDatetime(START + timedelta(days=days))
        turns.append(turn)
    clock = FakeClock()
    clock.advance(days=2)
    turns.append(session_pb2.SessionTurn(interaction_id=Uuid7Ids(clock).new_id()))
    known = as_known(CoarseResult(recent_turns=tuple(turns)), START + timedelta(days=1))
    assert list(known.recent_turns) == turns[:2]


def test_spec_3_7_a_supersession_recorded_later_was_not_known() -> None:
    one = supersessions_pb2.Supersession(memory_id="a", superseded_by="b")
    one.end_time.FromDatetime(datetime(2025, 3, 1, tzinfo=UTC))
    one.create_time.FromDatetime(datetime(2025, 6, 1, tzinfo=UTC))
    found = OwnerSuperseded.of(1, [one])
    now = datetime(2025, 7, 1, tzinfo=UTC)
    assert "a" in found.at(now)
    assert "a" not in found.at(now, datetime(2025, 5, 1, tzinfo=UTC))


def test_spec_3_7_a_note_of_no_turn_is_left_out_where_it_was_written_later() -> None:
    hits = []
    for name, days, sources in (("early", 0, ()), ("late", 2, ()), ("of a turn", 2, ["turn 1"]), ("undated", None, ())):
        note = notes_pb2.Note(note_id=name, derived_from=sources)
        if days is not None:
            note.create_time.FromDatetime(START + timedelta(days=days))
        hits.append(notes_pb2.ScoredNote(note=note))
    known = as_known(CoarseResult(notes=tuple(hits)), START + timedelta(days=1))
    assert [hit.note.note_id for hit in known.notes] == ["early", "of a turn", "undated"]
