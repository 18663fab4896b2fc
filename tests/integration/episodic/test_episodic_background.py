"""The indexer, the access recorder and the search on real stores, when something is broken."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from services.common.embedding.errors import EmbedderBusyError
from services.common.embedding.vectors import Matrix
from services.common.errors import StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.access import AccessRecorder
from services.episodic.candidates import CandidateQuery, CandidateSearch
from services.episodic.config import AccessSettings, SnapshotSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.model import EpisodeStatus
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from tests.contract.episode_samples import GLOBAL, OWNER, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.postgres import fresh_postgres


class MoodyEmbedder(HashingEmbedder):
    """Fails on poison, answers NaN for nonsense, and is busy when told so."""

    is_busy = False

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if self.is_busy:
            raise EmbedderBusyError("busy")
        if any("poison" in text for text in texts):
            raise RuntimeError("the model choked")
        vectors = await super().embed_documents(texts)
        for i, text in enumerate(texts):
            if "nonsense" in text:
                vectors[i] = np.nan
        return vectors


@dataclass
class Parts:
    url: str
    pool: Pool
    store: PostgresEpisodeStore
    index: EdgeEpisodeIndex
    embedder: MoodyEmbedder
    clock: FakeClock
    indexer: EpisodeIndexer

    def query(self, text: str, *, lane_limit: int = 100, radius: int = 0) -> CandidateQuery:
        return CandidateQuery(
            owner=OWNER,
            text=text,
            vector=self.embedder.vector(text),
            scope_keys=GLOBAL,
            lane_limit=lane_limit,
            neighbour_seeds=5,
            neighbour_radius=radius,
        )


@pytest.fixture
async def parts(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[Parts]:
    embedder, clock = MoodyEmbedder(64), FakeClock()
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls:
        pool = await create_pool(urls.app)
        index = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64)
        store = PostgresEpisodeStore(pool, model="m")
        yield Parts(urls.app, pool, store, index, embedder, clock, EpisodeIndexer(store, index, embedder, clock))
        await index.aclose()
        await pool.close()


async def statuses(parts: Parts, *numbers: int) -> list[EpisodeStatus]:
    found = await parts.store.statuses(OWNER, [episode_id(number) for number in numbers])
    return [found[episode_id(number)] for number in numbers]


@pytest.mark.parametrize("bad", ["poison", "nonsense"])
async def test_an_episode_that_cannot_be_embedded_holds_up_no_other(parts: Parts, bad: str) -> None:
    episodes = [new_episode(1), new_episode(2, query=bad), new_episode(3)]
    await parts.store.insert(TENANT, episodes, now=parts.clock.now())

    assert await parts.indexer.index_batch() == 3
    assert await statuses(parts, 1, 2, 3) == [
        EpisodeStatus.ACTIVE,
        EpisodeStatus.PENDING_EMBEDDING,
        EpisodeStatus.ACTIVE,
    ]
    assert await parts.indexer.index_batch() == 0  # it waits before it is tried again
    for seconds in (1, 2, 4):
        parts.clock.advance(seconds=seconds - 0.01)
        assert await parts.indexer.index_batch() == 0
        parts.clock.advance(seconds=0.01)
        assert await parts.indexer.index_batch() == 1


async def test_a_busy_embedder_costs_nothing_but_time(parts: Parts) -> None:
    await parts.store.insert(TENANT, [new_episode(1)], now=parts.clock.now())
    parts.embedder.is_busy = True
    with pytest.raises(EmbedderBusyError):
        await parts.indexer.index_batch()

    parts.embedder.is_busy = False
    assert await parts.indexer.index_batch() == 1
    assert await statuses(parts, 1) == [EpisodeStatus.ACTIVE]


async def test_two_indexers_share_the_work(parts: Parts) -> None:
    await parts.store.insert(TENANT, [new_episode(n) for n in range(100)], now=parts.clock.now())
    other = EpisodeIndexer(parts.store, parts.index, parts.embedder, parts.clock)

    counts = await asyncio.gather(parts.indexer.index_batch(), other.index_batch())

    assert sorted(counts) == [36, 64]
    assert sorted(parts.embedder.documents) == sorted(f"turn number {n}" for n in range(100))


async def test_spec_5_10_without_the_index_the_answer_is_degraded_and_not_empty(parts: Parts) -> None:
    episodes = [new_episode(1, query="the harbour at night"), new_episode(2, query="a violin")]
    await parts.store.insert(TENANT, episodes, now=parts.clock.now())
    await parts.indexer.index_batch()
    search = CandidateSearch(parts.store, parts.index)
    whole = await search.search(parts.query("harbour"))
    assert not whole.degraded

    await parts.index.aclose()
    found = await search.search(parts.query("harbour"))

    assert found.degraded
    assert found.columns.positions == [1, 2]
    assert found.lexical_ranks == [1, 0]
    assert found.lexical_scores[0] > found.lexical_scores[1] == 0


async def test_without_the_store_a_search_fails(parts: Parts) -> None:
    await parts.pool.close()
    with pytest.raises(StoreUnavailable):
        await CandidateSearch(parts.store, parts.index).search(parts.query("harbour"))


async def test_an_owner_too_large_for_a_snapshot_gets_the_same_candidates(parts: Parts) -> None:
    episodes = [new_episode(n, query=f"harbour {'ship ' * (n % 5)}") for n in range(50)]
    await parts.store.insert(TENANT, episodes, now=parts.clock.now())
    await parts.indexer.index_batch()
    query = parts.query("harbour ship", lane_limit=5, radius=2)

    kept = await CandidateSearch(parts.store, parts.index).search(query)
    read = await CandidateSearch(parts.store, parts.index, SnapshotSettings(owner_episodes_max=10)).search(query)

    assert dict(zip(kept.columns.positions, kept.dense_scores, strict=True)) == dict(
        zip(read.columns.positions, read.dense_scores, strict=True)
    )
    assert sorted(kept.lexical_scores) == sorted(read.lexical_scores)


async def test_accesses_that_could_not_be_written_are_written_later(parts: Parts) -> None:
    await parts.store.insert(TENANT, [new_episode(1)], now=parts.clock.now())
    lost_pool = await create_pool(parts.url)
    lost = PostgresEpisodeStore(lost_pool, model="m")
    await lost_pool.close()
    recorder = AccessRecorder(lost, parts.clock, AccessSettings(buffered_max=1))
    recorder.record(OWNER, [episode_id(1), episode_id(2)])  # the second is beyond the bound
    with pytest.raises(StoreUnavailable):
        await recorder.flush()
    recorder.record(OWNER, [episode_id(1)])

    recorder._store = parts.store  # the database is back
    await recorder.aclose()

    stored = (await parts.store.get(OWNER, [episode_id(1)]))[episode_id(1)]
    assert stored.access_count == 2
