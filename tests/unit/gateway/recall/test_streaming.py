"""A recall in pieces, on tiers that answer when they are told to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from mneme.agentic.internal.v1 import notes_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.session.v1 import session_pb2
from services.common.errors import DeadlineExceeded, MnemeError, StoreUnavailable
from services.common.scope import Scope, ScopeLevel
from services.gateway.journal.model import RecallRecord, Tier
from services.gateway.journal.recall_log import RecallLog
from services.gateway.recall.answer.streaming import TierResult, stream_recall
from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.model import RECALL_TIERS, Recalled, RecallQuery, TierState
from services.gateway.recall.pipeline import RecallPipeline
from services.gateway.recall.settings import RecallSettings
from tests.support.clock import FakeClock, SequentialIds
from tests.unit.gateway.recall.test_pipeline import make_stages, pipeline
from tests.unit.gateway.tiers import (
    ADA,
    NEVER,
    NOON,
    FakeJournal,
    FakeMethod,
    FakeTiers,
    candidates,
    episode,
    fact_hit,
    facts_answer,
    note_hit,
    session_turn,
    uuid,
)

QUERY = RecallQuery(
    "ada",
    "Where does Ada live?",
    2,
    NOON,
    conversation_id="c1",
    scoring=ScoringChoice(Profile.PLAIN, {"facts": 10.0}),  # so that a fact moves its turn to the top
)
SECRET = Scope(ScopeLevel.PROJECT, "secret")
ORDERS = (RECALL_TIERS, tuple(reversed(RECALL_TIERS)), (Tier.SEMANTIC, Tier.EPISODIC, Tier.AGENTIC, Tier.SESSION))


def full_tiers() -> FakeTiers:
    tiers = FakeTiers()
    tiers.episodic.method("search_candidates").answer = candidates([1, 2, 3], dense=[0.9, 0.5, 0.4])
    episodes = [episode(number, f"text {number}") for number in (1, 2, 3)]
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(episodes=episodes)
    facts = [fact_hit("f", 3, similarity=1.0), fact_hit("hidden", 1, scope=SECRET)]
    tiers.facts.method("search_candidates").answer = facts_answer(facts)
    notes = [note_hit("n", 2), note_hit("hidden", 1, scope=SECRET)]
    tiers.notes.method("search").answer = notes_pb2.SearchNotesResponse(hits=notes)
    window = session_pb2.Session(conversation_id="c1", turns=[session_turn(7), session_turn(8, scope=SECRET)])
    tiers.session.method("get").answer = session_pb2.GetSessionResponse(session=window)
    return tiers


def searches(tiers: FakeTiers) -> dict[Tier, FakeMethod]:
    return {
        Tier.SESSION: tiers.session.method("get"),
        Tier.EPISODIC: tiers.episodic.method("search_candidates"),
        Tier.SEMANTIC: tiers.facts.method("search_candidates"),
        Tier.AGENTIC: tiers.notes.method("search"),
    }


def gates(tiers: FakeTiers, *names: Tier) -> dict[Tier, asyncio.Event]:
    """Lets the tiers (all, unless some are named) answer only when their event is set."""
    found = {tier: asyncio.Event() for tier in names or RECALL_TIERS}
    for tier, gate in found.items():
        searches(tiers)[tier].gate = gate
    return found


def pieces(tiers: FakeTiers, query: RecallQuery = QUERY, *, deadline_seconds: float = 5.0) -> Any:
    return aclosing(stream_recall(pipeline(tiers), ADA, query, deadline_seconds=deadline_seconds))


async def streamed(tiers: FakeTiers, query: RecallQuery = QUERY) -> list[TierResult | Recalled]:
    async with pieces(tiers, query) as stream:
        return [piece async for piece in stream]


def answer_of(found: Sequence[TierResult | Recalled], tier: Tier) -> TierResult:
    (answer,) = [piece for piece in found if isinstance(piece, TierResult) and piece.report.tier is tier]
    return answer


def ids(answer: TierResult | Recalled) -> list[str]:
    return [memory.ranked.episode_id for memory in answer.memories]


def comparable(recalled: Recalled) -> Recalled:
    """Without what no two recalls have in common."""
    return replace(
        recalled,
        recall_id="",
        reports=tuple(replace(report, duration_seconds=0.0) for report in recalled.reports),
        stage_seconds=tuple((name, 0.0) for name, _ in recalled.stage_seconds),
    )


@pytest.mark.parametrize("order", ORDERS)
async def test_spec_5_12_pieces_come_in_the_order_in_which_tiers_answer(order: Sequence[Tier]) -> None:
    tiers = full_tiers()
    gate_of = gates(tiers)
    told = []
    async with pieces(tiers) as stream:
        for tier in order:
            gate_of[tier].set()
            told.append((await anext(stream)).report.tier)
        assert isinstance(await anext(stream), Recalled)
        assert [piece async for piece in stream] == []
    assert told == list(order)


@pytest.mark.parametrize("order", ORDERS)
async def test_spec_5_12_the_last_piece_is_what_recall_answers(order: Sequence[Tier]) -> None:
    tiers = full_tiers()
    gate_of = gates(tiers)
    found: list[TierResult | Recalled] = []
    async with pieces(tiers) as stream:
        for tier in order:
            gate_of[tier].set()
            found.append(await anext(stream))
        found += [piece async for piece in stream]
    last = found[-1]
    assert isinstance(last, Recalled)
    assert comparable(last) == comparable(await pipeline(full_tiers()).run(ADA, QUERY, deadline_seconds=5.0))
    assert last.memories
    assert last.facts


async def test_spec_5_12_each_piece_holds_what_its_tier_gave_and_is_of_use_by_itself() -> None:
    tiers = full_tiers()
    gate_of = gates(tiers)
    async with pieces(tiers) as stream:
        gate_of[Tier.EPISODIC].set()
        first = await anext(stream)
        assert [(m.episode.query, m.fact_ids) for m in first.memories] == [("text 1", ()), ("text 2", ())]
        assert (first.report.state, first.report.candidate_count) == (TierState.RESPONDED, 3)
        gate_of[Tier.SEMANTIC].set()
        facts = await anext(stream)
        assert ([hit.fact.fact_id for hit in facts.facts], facts.memories) == (["f"], ())
        gate_of[Tier.AGENTIC].set()
        notes = await anext(stream)
        assert ([hit.note.note_id for hit in notes.notes], notes.facts) == (["n"], ())
        gate_of[Tier.SESSION].set()
        window = await anext(stream)
        assert ([turn.interaction_id for turn in window.recent_turns], window.notes) == ([uuid(7)], ())
        last = await anext(stream)
    assert (ids(first), ids(last)) == ([uuid(1), uuid(2)], [uuid(3), uuid(1)])  # the fact has come later


async def test_spec_5_12_a_first_ranking_knows_what_other_tiers_gave_before() -> None:
    tiers = full_tiers()
    gate_of = gates(tiers, Tier.EPISODIC, Tier.AGENTIC)
    async with pieces(tiers) as stream:
        before = [await anext(stream), await anext(stream)]
        assert {piece.report.tier for piece in before} == {Tier.SESSION, Tier.SEMANTIC}
        gate_of[Tier.EPISODIC].set()
        first = await anext(stream)
        assert (ids(first), first.memories[0].fact_ids) == ([uuid(3), uuid(1)], ("f",))
        gate_of[Tier.AGENTIC].set()


async def test_spec_5_12_when_the_episodic_tier_is_the_last_one_its_texts_are_read_once() -> None:
    tiers = full_tiers()
    gate_of = gates(tiers, Tier.EPISODIC)
    async with pieces(tiers) as stream:
        for _ in range(3):
            await anext(stream)
        gate_of[Tier.EPISODIC].set()
        first, last = [piece async for piece in stream]
    assert first.memories == last.memories
    assert len(tiers.episodic.method("batch_get").requests) == 1


@pytest.mark.parametrize("order", ORDERS)
async def test_spec_5_3_nothing_leaves_before_quarantine(order: Sequence[Tier]) -> None:
    tiers = full_tiers()
    hidden = episode(2, "secret", scope=SECRET)
    tiers.episodic.method("batch_get").answer = episodic_pb2.BatchGetEpisodesResponse(
        episodes=[episode(1), hidden, episode(3)]
    )
    gate_of = gates(tiers)
    found: list[TierResult | Recalled] = []
    async with pieces(tiers) as stream:
        for tier in order:
            gate_of[tier].set()
            found.append(await anext(stream))
        found += [piece async for piece in stream]
    assert len(found) == 5
    for piece in found:
        assert uuid(2) not in ids(piece)
        assert "hidden" not in [hit.fact.fact_id for hit in piece.facts]
        assert "hidden" not in [hit.note.note_id for hit in piece.notes]
        assert uuid(8) not in [turn.interaction_id for turn in piece.recent_turns]


@pytest.mark.parametrize("tier", RECALL_TIERS)
async def test_spec_5_12_a_tier_that_fails_has_a_piece_that_says_so(tier: Tier) -> None:
    tiers = full_tiers()
    searches(tiers)[tier].answer = StoreUnavailable("tier")
    found = await streamed(tiers)
    answer = answer_of(found, tier)
    assert (answer.report.state, answer.report.reason) == (TierState.FAILED, "STORE_UNAVAILABLE")
    assert (answer.memories, answer.facts, answer.notes, answer.recent_turns) == ((), (), (), ())
    assert len(found) == 5
    last = found[-1]
    assert isinstance(last, Recalled)
    assert last.is_degraded


async def test_spec_5_12_a_tier_that_is_too_late_has_a_piece_that_says_so() -> None:
    tiers = full_tiers()
    searches(tiers)[Tier.SEMANTIC].answer = NEVER
    async with pieces(tiers, deadline_seconds=0.3) as stream:
        found = [piece async for piece in stream]
    assert answer_of(found, Tier.SEMANTIC).report.reason == "DEADLINE_EXCEEDED"
    assert ids(answer_of(found, Tier.EPISODIC)) == [uuid(1), uuid(2)]


async def test_spec_5_12_texts_that_cannot_be_read_are_told_once_the_pipeline_has_tried_too() -> None:
    tiers = full_tiers()
    tiers.episodic.method("batch_get").answer = StoreUnavailable("episodic")
    gate_of = gates(tiers, Tier.AGENTIC)
    async with pieces(tiers) as stream:
        before = {(await anext(stream)).report.tier, (await anext(stream)).report.tier}
        assert before == {Tier.SESSION, Tier.SEMANTIC}
        await tiers.episodic.method("batch_get").until_asked(1)
        gate_of[Tier.AGENTIC].set()
        found = [piece async for piece in stream]
    assert answer_of(found, Tier.EPISODIC).report.state is TierState.FAILED
    assert len(tiers.episodic.method("batch_get").requests) == 2


async def test_spec_5_12_a_first_ranking_that_hangs_does_not_hold_up_the_answer() -> None:
    tiers = full_tiers()
    gate_of = gates(tiers, Tier.AGENTIC)
    texts = tiers.episodic.method("batch_get")
    texts.gate = asyncio.Event()
    async with pieces(tiers) as stream:
        await anext(stream)
        await anext(stream)
        await texts.until_asked(1)
        texts.gate = None  # the first reading waits for ever, the next one does not
        gate_of[Tier.AGENTIC].set()
        found = [piece async for piece in stream]
    assert ids(answer_of(found, Tier.EPISODIC)) == ids(found[-1])
    assert texts.was_cancelled


async def test_spec_5_12_tiers_that_are_not_asked_have_no_piece() -> None:
    found = await streamed(full_tiers(), replace(QUERY, tiers=(Tier.EPISODIC,), conversation_id=""))
    assert [type(piece) for piece in found] == [TierResult, Recalled]
    assert ids(found[0]) == ids(found[1]) == [uuid(1), uuid(2)]


@pytest.mark.parametrize("failure", [StoreUnavailable("tier"), DeadlineExceeded("late")])
async def test_spec_5_12_a_recall_that_fails_says_so_after_its_pieces(failure: MnemeError) -> None:
    tiers = full_tiers()
    for method in searches(tiers).values():
        method.answer = failure
    seen = []
    async with pieces(tiers) as stream:
        with pytest.raises(type(failure)):
            while True:
                seen.append(await anext(stream))
    assert {piece.report.tier for piece in seen} == set(RECALL_TIERS)
    assert {piece.report.state for piece in seen} == {TierState.FAILED}


async def test_spec_5_12_a_reader_that_goes_away_stops_the_work() -> None:
    tiers = full_tiers()
    gates(tiers, Tier.AGENTIC, Tier.SEMANTIC)  # nobody opens them
    texts = tiers.episodic.method("batch_get")
    texts.gate = asyncio.Event()
    async with pieces(tiers) as stream:
        assert (await anext(stream)).report.tier is Tier.SESSION
        await texts.until_asked(1)  # the first ranking is on its way
    for method in (searches(tiers)[Tier.AGENTIC], searches(tiers)[Tier.SEMANTIC], texts):
        assert method.was_cancelled


async def test_spec_5_12_a_cancelled_reader_stops_the_work() -> None:
    tiers = full_tiers()
    gates(tiers, Tier.AGENTIC)

    async def read() -> None:
        async with pieces(tiers) as stream:
            async for _ in stream:
                pass

    task = asyncio.create_task(read())
    await searches(tiers)[Tier.AGENTIC].until_asked(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert searches(tiers)[Tier.AGENTIC].was_cancelled


async def test_spec_5_12_a_slow_reader_holds_up_nobody_and_few_pieces_wait_for_it() -> None:
    tiers = full_tiers()
    async with pieces(tiers) as stream:
        first = await anext(stream)
        # Meanwhile all of the tiers are asked, and the answer is made.
        await tiers.episodic.method("batch_get").until_asked(1)
        rest = [piece async for piece in stream]
    assert isinstance(first, TierResult)
    assert len(rest) == 4


async def test_spec_5_12_a_recall_that_is_not_streamed_does_no_more_than_before() -> None:
    tiers = full_tiers()
    gate_of = gates(tiers, Tier.AGENTIC)
    task = asyncio.create_task(pipeline(tiers).run(ADA, QUERY, deadline_seconds=5.0))
    await searches(tiers)[Tier.AGENTIC].until_asked(1)
    gate_of[Tier.AGENTIC].set()
    await task
    assert len(tiers.episodic.method("batch_get").requests) == 1


def read_of(part: TierResult | Recalled) -> list[str]:
    """Ids of all that a part holds."""
    found = [memory.memory_id for memory in part.memories]
    found += [fact.memory_id for fact in part.facts]
    found += [note.memory_id for note in part.notes]
    return [*found, *(turn.interaction_id for turn in part.recent_turns)]


class _Records:
    """Takes records of recalls."""

    def __init__(self) -> None:
        self.written: list[RecallRecord] = []

    async def add_recalls(self, records: Sequence[RecallRecord]) -> None:
        self.written += records


async def test_spec_6_10_a_stream_that_is_left_early_is_recorded_with_what_it_sent() -> None:
    tiers, records = full_tiers(), _Records()
    held = gates(tiers, Tier.AGENTIC)
    log = RecallLog(records, FakeClock(NOON), queue_max=10)  # type: ignore[arg-type]  # what is written alone
    stages = replace(make_stages(tiers, FakeJournal(names=["Ada"])), recall_log=log)
    recaller = RecallPipeline(stages, ids=SequentialIds("recall-"), settings=RecallSettings())
    async with aclosing(stream_recall(recaller, ADA, QUERY, deadline_seconds=5.0)) as parts:
        read = {found for _ in range(3) for found in read_of(await anext(parts))}
    await log.flush()
    [record] = records.written
    assert not held[Tier.AGENTIC].is_set()
    assert (record.memories, record.query) == ((), ""), "nothing to judge, and no memory by which to erase it"
    assert set(record.read_ids) == read
    assert "f" in read
    assert uuid(7) in read


async def test_spec_6_10_a_stream_is_recorded_with_what_only_its_parts_held() -> None:
    tiers, records = full_tiers(), _Records()
    held = gates(tiers, Tier.SEMANTIC)
    log = RecallLog(records, FakeClock(NOON), queue_max=10)  # type: ignore[arg-type]
    stages = replace(make_stages(tiers, FakeJournal(names=["Ada"])), recall_log=log)
    recaller = RecallPipeline(stages, ids=SequentialIds("recall-"), settings=RecallSettings())
    async with aclosing(stream_recall(recaller, ADA, replace(QUERY, limit=1), deadline_seconds=5.0)) as parts:
        first = [await anext(parts) for _ in range(3)]
        held[Tier.SEMANTIC].set()
        last = [part async for part in parts][-1]
    await log.flush()
    [record] = records.written
    assert ids(answer_of(first, Tier.EPISODIC)) == [uuid(1)]
    assert isinstance(last, Recalled)
    assert [memory.memory_id for memory in last.memories] == [uuid(3)], "the fact moved its turn to the top"
    assert {uuid(1), uuid(3)} <= set(record.read_ids)
    assert uuid(1) not in [memory_id for _, memory_id in record.memories]
