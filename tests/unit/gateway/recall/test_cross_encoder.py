"""The cross-encoder's stage: what it adds, and that it changes nothing where it cannot do its work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mneme.common.v1 import common_pb2
from services.common.cross_encoding import CrossEncodingFailedError, Scores
from services.common.settings_file import SettingsError
from services.gateway.recall.cross_encoder import (
    FAILED,
    PART,
    TOO_SLOW,
    CrossEncoded,
    CrossEncoderSettings,
    CrossEncoding,
    open_cross_encoding,
)
from services.gateway.recall.model import LaneRank, RankedEpisode, RecalledMemory
from tests.support.cross_encoder import build_cross_encoder
from tests.unit.gateway.tiers import episode, uuid


class ToldScorer:
    """Gives the logits that it was told."""

    def __init__(self, logits: Sequence[float]) -> None:
        self._logits = logits
        self.asked: list[tuple[str, list[str]]] = []

    async def score(self, question: str, texts: Sequence[str]) -> Scores:
        self.asked.append((question, list(texts)))
        return np.array(self._logits[: len(texts)], dtype=np.float32)

    async def aclose(self) -> None:
        """Has nothing to end."""


class HangingScorer(ToldScorer):
    """Never answers."""

    async def score(self, question: str, texts: Sequence[str]) -> Scores:
        await asyncio.Event().wait()
        return await super().score(question, texts)


class BrokenScorer(ToldScorer):
    """Fails."""

    async def score(self, question: str, texts: Sequence[str]) -> Scores:
        await super().score(question, texts)
        raise CrossEncodingFailedError("out of memory")


def memories(*scores: float) -> tuple[RecalledMemory, ...]:
    """Turns 1, 2, 3 ... with these scores."""
    return tuple(
        RecalledMemory(
            RankedEpisode(uuid(number), score, (LaneRank("dense", number, score),), (("dense", score),)),
            episode(number, f"text {number}"),
        )
        for number, score in enumerate(scores, 1)
    )


async def encoded(
    scorer: ToldScorer, given_memories: tuple[RecalledMemory, ...], *, seconds_left: float = 5.0, **settings: float
) -> CrossEncoded:
    stage = CrossEncoding(scorer, CrossEncoderSettings(**settings))  # type: ignore[arg-type]
    return await stage("where?", given_memories, seconds_left=seconds_left)


def numbers(found: CrossEncoded) -> list[int]:
    return [int(memory.ranked.episode_id.replace("-", ""), 16) for memory in found.memories]


async def test_spec_5_1_the_model_puts_what_answers_the_question_first() -> None:
    found = await encoded(ToldScorer([-5.0, -4.0, 6.0]), memories(0.9, 0.8, 0.7))
    assert numbers(found) == [3, 1, 2]
    assert found.reason == ""


async def test_spec_5_10_what_the_model_says_is_a_part_of_the_score() -> None:
    found = await encoded(ToldScorer([-5.0, -4.0, 6.0]), memories(0.9, 0.8, 0.7))
    for memory in found.memories:
        assert memory.ranked.score == pytest.approx(sum(value for _, value in memory.ranked.parts))
    parts = [dict(memory.ranked.parts) for memory in found.memories]
    spread, deviation = np.std([0.9, 0.8, 0.7]), np.std([-5.0, -4.0, 6.0])
    assert parts[0][PART] == pytest.approx(2.0 * spread * 11.0 / deviation)
    assert PART not in parts[1]  # the least likely one gets nothing
    assert parts[2][PART] == pytest.approx(2.0 * spread * 1.0 / deviation)


async def test_spec_5_1_both_say_something_about_the_order() -> None:
    # The model sees little between the second and the third: fusion decides.
    found = await encoded(ToldScorer([-5.0, 4.0, 4.1]), memories(0.9, 0.8, 0.5))
    assert numbers(found) == [2, 3, 1]
    assert numbers(await encoded(ToldScorer([-5.0, 4.0, 4.1]), memories(0.9, 0.8, 0.5), weight=0.1)) == [1, 2, 3]
    assert numbers(await encoded(ToldScorer([-5.0, 4.0, 9.0]), memories(0.9, 0.8, 0.5), weight=100.0)) == [3, 2, 1]


async def test_where_fusion_sees_no_difference_the_model_decides() -> None:
    assert numbers(await encoded(ToldScorer([1.0, 3.0, 2.0]), memories(0.5, 0.5, 0.5))) == [2, 3, 1]


async def test_where_the_model_sees_no_difference_the_order_stays() -> None:
    found = await encoded(ToldScorer([2.0, 2.0]), memories(0.7, 0.5))
    assert found == CrossEncoded(memories(0.7, 0.5))


async def test_turns_that_are_not_read_stay_behind_those_that_are() -> None:
    scorer = ToldScorer([-9.0, 9.0])
    found = await encoded(scorer, memories(0.9, 0.8, 0.8, 0.1), candidates=2)
    assert numbers(found) == [2, 1, 3, 4]
    assert [len(texts) for _, texts in scorer.asked] == [2]
    assert found.memories[2:] == memories(0.9, 0.8, 0.8, 0.1)[2:]


@pytest.mark.parametrize("count", [0, 1])
async def test_there_is_nothing_to_order_in_less_than_two(count: int) -> None:
    scorer = ToldScorer([])
    assert await encoded(scorer, memories(0.5)[:count]) == CrossEncoded(memories(0.5)[:count])
    assert scorer.asked == []


async def test_spec_5_1_a_model_that_is_too_slow_leaves_the_order_and_says_so() -> None:
    found = await encoded(HangingScorer([]), memories(0.9, 0.8), seconds_left=0.02)
    assert found == CrossEncoded(memories(0.9, 0.8), TOO_SLOW)


async def test_spec_5_1_a_model_that_fails_leaves_the_order_and_says_so() -> None:
    assert await encoded(BrokenScorer([]), memories(0.9, 0.8)) == CrossEncoded(memories(0.9, 0.8), FAILED)


async def test_the_caller_who_goes_away_is_no_slow_model() -> None:
    task = asyncio.create_task(encoded(HangingScorer([]), memories(0.9, 0.8)))
    await asyncio.wait([task], timeout=0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_said_it_and_what_is_seen_on_pictures_is_read_too() -> None:
    turn = episode(1, "Look!")
    turn.response = "How nice."
    turn.attachments.append(common_pb2.Attachment(uri="file:///cat.png", caption="a cat at the sea"))
    turn.attachments.append(common_pb2.Attachment(uri="file:///dog.png"))
    nameless = episode(2, "hello")
    nameless.speaker = ""
    ranked = [memory.ranked for memory in memories(0.9, 0.8)]
    scorer = ToldScorer([1.0, 2.0])
    await encoded(scorer, (RecalledMemory(ranked[0], turn), RecalledMemory(ranked[1], nameless)))
    assert scorer.asked == [("where?", ["Ada: Look!\nHow nice.\na cat at the sea", "hello"])]


@given(
    st.lists(st.tuples(st.floats(-20, 20, width=32), st.floats(-3, 3)), min_size=2, max_size=30),
    st.floats(0, 10),
)
async def test_scores_are_sums_and_the_order_is_theirs(pairs: list[tuple[float, float]], weight: float) -> None:
    scores = sorted((score for _, score in pairs), reverse=True)
    before = memories(*scores)
    found = await encoded(ToldScorer([logit for logit, _ in pairs]), before, weight=weight)
    order = [(-memory.ranked.score, memory.ranked.episode_id) for memory in found.memories]
    assert order == sorted(order)
    assert {memory.ranked.episode_id for memory in found.memories} == {m.ranked.episode_id for m in before}
    by_id = {memory.ranked.episode_id: memory.ranked.score for memory in before}
    for memory in found.memories:
        assert memory.ranked.score == pytest.approx(sum(value for _, value in memory.ranked.parts))
        assert memory.ranked.score >= by_id[memory.ranked.episode_id]


def test_without_a_folder_there_is_no_stage() -> None:
    assert open_cross_encoding(CrossEncoderSettings()) is None


def test_a_folder_that_holds_no_model_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"needs model\.onnx"):
        open_cross_encoding(CrossEncoderSettings(model_dir=str(tmp_path)))


async def test_spec_5_1_a_model_from_a_folder_reads_questions_and_turns(tmp_path: Path) -> None:
    stage = open_cross_encoding(CrossEncoderSettings(model_dir=str(build_cross_encoder(tmp_path)), candidates=3))
    assert stage is not None
    assert (stage.candidate_count(1), stage.candidate_count(7)) == (3, 7)
    ranked = [memory.ranked for memory in memories(0.9, 0.8, 0.7)]
    texts = ["a dog", "the moon", "my cat lives in Lyon"]
    turns = tuple(RecalledMemory(r, episode(n, t)) for n, (r, t) in enumerate(zip(ranked, texts, strict=True), 1))
    try:
        found = await stage("where lives the cat", turns, seconds_left=5.0)
    finally:
        await stage.aclose()
    assert [memory.episode.query for memory in found.memories] == [texts[2], texts[0], texts[1]]
