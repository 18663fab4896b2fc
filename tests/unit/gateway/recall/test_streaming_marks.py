"""What the parts of a streamed recall say of superseded statements, and of times."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta

import pytest

from mneme.agentic.internal.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import supersessions_pb2
from mneme.session.v1 import session_pb2
from services.common.ids import Uuid7Ids
from services.gateway.convert import recall_stream_response
from services.gateway.journal.model import Tier
from services.gateway.recall.answer.streaming import TierResult, stream_recall
from services.gateway.recall.choices import ConflictChoice
from tests.support.clock import FakeClock
from tests.unit.gateway.recall.test_pipeline import pipeline
from tests.unit.gateway.recall.test_streaming import ORDERS, QUERY, answer_of, full_tiers, gates, ids, pieces
from tests.unit.gateway.tiers import ADA, NOON, FakeTiers, episode, fact_hit, facts_answer, note_hit, session_turn, uuid


def superseding_tiers() -> FakeTiers:
    """Turn 8 supersedes turns 1, 2 and 7, from which a note and a fact were made."""
    tiers = full_tiers()
    window = session_pb2.Session(conversation_id="c1", turns=[session_turn(7)])
    tiers.session.method("get").answer = session_pb2.GetSessionResponse(session=window)
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(
        episodes=[episode(number, f"text {number}") for number in (1, 2, 3, 8)]
    )
    answer = facts_answer([fact_hit("f", 1, similarity=1.0)])
    answer.revision = 1
    for number, said in ((1, "fact f"), (2, "note n"), (7, "hi")):
        one = answer.superseded.add(supersession_id=uuid(number), memory_id=uuid(number), superseded_by=uuid(8))
        one.statement, one.reason = said, supersessions_pb2.SUPERSESSION_REASON_UPDATED
        one.end_time.FromDatetime(NOON - timedelta(days=1))
        one.create_time.FromDatetime(NOON - timedelta(days=1))
    tiers.facts.method("search_candidates").answer = answer
    return tiers


@pytest.mark.parametrize("order", ORDERS)
async def test_spec_5_12_pieces_name_what_supersedes_as_far_as_that_is_known(order: Sequence[Tier]) -> None:
    tiers = superseding_tiers()
    running = pipeline(tiers)

    async def marks() -> dict[Tier, tuple[dict[str, str], set[str]]]:
        gate_of = gates(tiers)
        found: dict[Tier, tuple[dict[str, str], set[str]]] = {}
        async with aclosing(stream_recall(running, ADA, QUERY, deadline_seconds=5.0)) as stream:
            for tier in order:
                gate_of[tier].set()
                piece = await anext(stream)
                assert isinstance(piece, TierResult)
                message = recall_stream_response(piece).tier_result
                hits = {hit.memory_id: hit.superseded_by for hit in message.memories}
                hits |= {hit.fact.fact_id: hit.superseded_by for hit in message.facts}
                hits |= {hit.note.note_id: hit.superseded_by for hit in message.notes}
                hits |= {turn.interaction_id: turn.superseded_by for turn in message.recent_turns}
                statements = {one.statement for turn in message.recent_turns for one in turn.superseded_statements}
                statements |= {one.statement for turn in message.memories for one in turn.superseded_statements}
                found[tier] = {name: by for name, by in hits.items() if by}, statements
        return found

    every = {
        Tier.EPISODIC: ({uuid(1): uuid(8)}, {"fact f"}),
        Tier.SEMANTIC: ({"f": uuid(8)}, set()),
        Tier.AGENTIC: ({"n": uuid(8)}, set()),
        Tier.SESSION: ({uuid(7): uuid(8)}, {"hi"}),
    }
    unknown = order[: order.index(Tier.SEMANTIC)]
    first = await marks()
    assert {tier: first[tier] for tier in unknown} == dict.fromkeys(unknown, ({}, set()))
    assert {tier: first[tier] for tier in order if tier not in unknown} == {
        tier: every[tier] for tier in order if tier not in unknown
    }
    assert await marks() == every, "by what is cached"


async def test_spec_5_12_pieces_lack_what_is_superseded_where_the_request_drops_it() -> None:
    running = pipeline(superseding_tiers())
    query = replace(QUERY, conflicts=ConflictChoice(drops_superseded=True))
    await running.run(ADA, query, deadline_seconds=5.0)  # what is superseded is cached then
    found = [piece async for piece in stream_recall(running, ADA, query, deadline_seconds=5.0)]
    assert (answer_of(found, Tier.SEMANTIC).facts, answer_of(found, Tier.AGENTIC).notes) == ((), ())
    assert uuid(1) not in ids(answer_of(found, Tier.EPISODIC))


@pytest.mark.parametrize("order", ORDERS)
async def test_spec_3_7_no_piece_holds_what_was_recorded_later(order: Sequence[Tier]) -> None:
    tiers, clock = full_tiers(), FakeClock()
    known, early = clock.now(), Uuid7Ids(clock).new_id()
    clock.advance(days=1)
    late = Uuid7Ids(clock).new_id()
    turns = [session_turn(1), session_turn(2)]
    turns[0].interaction_id, turns[1].interaction_id = early, late
    window = session_pb2.Session(conversation_id="c1", turns=turns)
    tiers.session.method("get").answer = session_pb2.GetSessionResponse(session=window)
    note, fact = note_hit("n"), fact_hit("f")
    note.note.derived_from[:], fact.fact.derived_from[:] = [late], [late]
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=[note])
    tiers.facts.method("search_candidates").answer = facts_answer([fact])
    gate_of = gates(tiers)
    async with pieces(tiers, replace(QUERY, known_at=known)) as stream:
        for tier in order:
            gate_of[tier].set()
            piece = await anext(stream)
            assert (piece.facts, piece.notes) == ((), ())
            assert [turn.interaction_id for turn in piece.recent_turns] == ([early] if tier is Tier.SESSION else [])
        last = await anext(stream)
    assert [turn.interaction_id for turn in last.recent_turns] == [early]
