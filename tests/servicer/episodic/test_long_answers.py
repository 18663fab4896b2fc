"""Answers that would be too large for a message are given in part, and say so."""

from typing import Any

from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.v1 import episodic_pb2 as pb
from tests.servicer.episodic.calls import new, store, uid
from tests.servicer.episodic.conftest import Client


async def test_a_batch_of_long_episodes_is_answered_in_parts_that_name_what_is_left(client: Client) -> None:
    texts = {uid(n): f"{n}" + "\u9577" * 32_000 for n in range(1, 121)}  # 96 kB each: 11.5 MB
    for start in range(1, 121, 40):
        episodes = [new(n, texts[uid(n)]) for n in range(start, start + 40)]
        await client.call("StoreEpisodes", internal_pb.StoreEpisodesRequest(episodes=episodes))
    missing = [uid(n) for n in range(500, 520)]
    asked = [name for pair in zip(texts, [*missing, *texts], strict=False) for name in pair if name not in missing[10:]]
    wanted, found, parts = list(asked), [], 0
    while wanted:
        request = pb.BatchGetEpisodesRequest(user_id="ann", episode_ids=wanted)
        response: Any = await client.call("BatchGetEpisodes", request)
        assert 0 < response.ByteSize() < 4 * 1024 * 1024
        assert len(response.episodes) > 0
        found += list(response.episodes)
        wanted, parts = list(response.omitted_episode_ids), parts + 1

    assert [episode.episode_id for episode in found] == [name for name in asked if name in texts]
    assert {episode.episode_id: episode.query for episode in found} == texts
    assert parts > 3


async def test_a_search_with_long_hits_tells_the_best_and_how_many_are_left_out(client: Client) -> None:
    texts = [f"harbour {n} " + "\u9577" * 32_000 for n in range(1, 61)]
    for start in range(0, 60, 30):
        await store(client, *[new(n + 1, texts[n]) for n in range(start, start + 30)])
    search = pb.SearchEpisodesRequest(user_id="ann", query="harbour", limit=60)
    response: Any = await client.call("SearchEpisodes", search)
    search.limit = 5
    best: Any = await client.call("SearchEpisodes", search)

    assert response.ByteSize() < 4 * 1024 * 1024
    assert len(response.hits) + response.omitted_count == 60
    assert response.omitted_count > 0
    assert [hit.episode.episode_id for hit in response.hits[:5]] == [hit.episode.episode_id for hit in best.hits]
    assert best.omitted_count == 0
