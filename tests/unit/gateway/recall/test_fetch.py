"""Stage fetch: how many texts are asked for at once."""

from __future__ import annotations

from typing import Any

import pytest

from mneme.episodic.v1 import episodic_pb2
from services.common.paging import fitting
from services.common.scope import GLOBAL_SCOPE
from services.gateway.recall.model import RankedEpisode
from services.gateway.recall.settings import RecallSettings
from services.gateway.recall.stages.fetch import TOO_LONG, Fetch, Fetched
from tests.unit.gateway.tiers import ADA, FakeTiers


def ranked(*text_chars: int) -> list[RankedEpisode]:
    return [RankedEpisode(str(number), 1.0, (), (), chars) for number, chars in enumerate(text_chars)]


@pytest.mark.parametrize(
    ("text_chars", "asked"),
    [((10, 10, 10), 2), ((10, 10), 2), ((21, 1), 1), ((10, 11, 1), 1), ((0, 0, 20), 3)],
)
async def test_texts_of_the_lowest_ranks_are_left_out_where_all_do_not_fit(
    text_chars: tuple[int, ...], asked: int
) -> None:
    tiers = FakeTiers()
    fetch = Fetch(tiers.upstream(), RecallSettings(text_chars_max=20))
    fetched = await fetch(ADA, "ada", ranked(*text_chars), reader=GLOBAL_SCOPE, timeout_seconds=1.0)
    (request,) = tiers.episodic.method("batch_get").requests
    assert list(request.episode_ids) == [str(number) for number in range(asked)]
    assert fetched.reason == (TOO_LONG if asked < len(text_chars) else "")


class PartsOfEpisodes:
    """A tier that has all episodes but "2", and answers with 100 bytes each, so many to an answer as fit."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max

    def __call__(self, request: Any) -> episodic_pb2.BatchGetEpisodesResponse:
        found = [
            episodic_pb2.Episode(episode_id=name, query="x" * (100 - 5 - len(name)))
            for name in request.episode_ids
            if name != "2"
        ]
        count = fitting(found, bytes_max=self.bytes_max)
        return episodic_pb2.BatchGetEpisodesResponse(
            episodes=found[:count], omitted_episode_ids=[episode.episode_id for episode in found[count:]]
        )


async def fetched_in_parts(
    *, part_bytes: int, answer_bytes: int, count: int = 9
) -> tuple[Fetched, list[episodic_pb2.BatchGetEpisodesRequest]]:
    tiers = FakeTiers()
    method = tiers.episodic.method("batch_get")
    method.answer = PartsOfEpisodes(part_bytes)
    fetch = Fetch(tiers.upstream(), RecallSettings(response_bytes_max=answer_bytes))
    fetched = await fetch(ADA, "ada", ranked(*[1] * count), reader=GLOBAL_SCOPE, timeout_seconds=1.0)
    return fetched, method.requests


@pytest.mark.parametrize(("part_bytes", "parts"), [(1, 8), (330, 3), (10_000, 1)])
async def test_what_the_tier_leaves_out_of_an_answer_is_asked_for_again(part_bytes: int, parts: int) -> None:
    fetched, requests = await fetched_in_parts(part_bytes=part_bytes, answer_bytes=100_000)
    assert [episode.episode_id for _, episode in fetched.found] == ["0", "1", "3", "4", "5", "6", "7", "8"]
    assert [candidate.episode_id for candidate, _ in fetched.found] == ["0", "1", "3", "4", "5", "6", "7", "8"]
    assert len(requests) == parts
    assert fetched.reason == ""


async def test_no_more_parts_are_asked_for_than_go_into_the_answer() -> None:
    fetched, requests = await fetched_in_parts(part_bytes=330, answer_bytes=450)
    assert [episode.episode_id for _, episode in fetched.found] == ["0", "1", "3", "4"]
    assert len(requests) == 2
    assert fetched.reason == TOO_LONG


async def test_the_best_episode_is_told_however_long_it_is() -> None:
    fetched, _ = await fetched_in_parts(part_bytes=1, answer_bytes=1)
    assert [episode.episode_id for _, episode in fetched.found] == ["0"]
