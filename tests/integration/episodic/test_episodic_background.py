"""The indexer, the access recorder and the search on real stores, when something is broken."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from services.common.background import BackgroundWork
from services.common.embedding.errors import EmbedderBusyError
from services.common.embedding.vectors import Matrix
from services.common.errors import StoreUnavailable
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.access import AccessRecorder
from services.episodic.candidates import CandidateQuery, CandidateSearch
from services.episodic.config import AccessSettings, IndexerSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.model import EpisodeStatus
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from tests.contract.episode_samples import GLOBAL, OWNER, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, run_job
from tests.support.postgres import fresh_postgres
from tests.support.vector_index import PATIENT_INDEX


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
    folder: Path
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
            retriever_limit=lane_limit,
            neighbour_seeds=5,
            neighbour_radius=radius,
        )


@pytest.fixture
async def parts(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[Parts]:
    embedder, clock = MoodyEmbedder(64), FakeClock()
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        index = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
        store = PostgresEpisodeStore(pool, model=index.model)
        yield Parts(
            tmp_path, urls.app, pool, store, index, embedder, clock, EpisodeIndexer(store, index, embedder, clock)
        )
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


async def indexed(parts: Parts, *queries: str) -> None:
    episodes = [new_episode(number, query=text) for number, text in enumerate(queries, start=1)]
    await parts.store.insert(TENANT, episodes, now=parts.clock.now())
    assert await parts.indexer.index_batch() == len(episodes)


@pytest.mark.parametrize("is_cached", [True, False])
async def test_a_lost_index_is_built_again_and_answers_are_degraded_meanwhile(
    parts: Parts, tmp_path: Path, is_cached: bool
) -> None:
    await indexed(parts, "the harbour at night", "a violin")
    await parts.index.aclose()
    shutil.rmtree(tmp_path)
    index = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
    store = PostgresEpisodeStore(parts.pool, model=index.model)
    indexer = EpisodeIndexer(store, index, parts.embedder, parts.clock)
    search = CandidateSearch(store, index, cached_episodes_max=200_000 if is_cached else 1)

    before = await search.search(parts.query("harbour"))
    assert (before.degraded, before.columns.positions) == (True, [1, 2])

    assert (await run_job(parts.pool, ReconcileIndex(store, index))).applied == 1
    meanwhile = await search.search(parts.query("harbour"))
    assert (meanwhile.degraded, meanwhile.columns.positions) == (True, [1, 2])

    assert await indexer.index_batch() == 2
    after = await search.search(parts.query("harbour"))
    assert (after.degraded, sorted(after.columns.positions)) == (False, [1, 2])
    assert all(score != 0 for score in after.dense_scores)
    assert (await run_job(parts.pool, ReconcileIndex(store, index))).applied == 0
    await index.aclose()


async def test_an_owner_of_whom_the_index_lost_pieces_is_indexed_again(parts: Parts) -> None:
    await indexed(parts, "the harbour at night", "a violin")
    await parts.index.remove(OWNER, [new_episode(1).key])  # as after a power failure
    search = CandidateSearch(parts.store, parts.index)

    lost = await search.search(parts.query("harbour"))
    assert (lost.degraded, sorted(lost.columns.positions)) == (True, [1, 2])

    await run_job(parts.pool, ReconcileIndex(parts.store, parts.index, notify=parts.indexer.notify))
    async with BackgroundWork[str]("test") as background, asyncio.timeout(60):
        parts.indexer.start(background)
        while (await search.search(parts.query("harbour"))).degraded:  # noqa: ASYNC110 - what a caller can see
            await asyncio.sleep(0.01)
    assert await parts.index.count(OWNER) == 2
    assert await statuses(parts, 1, 2) == [EpisodeStatus.ACTIVE] * 2


async def test_many_episodes_of_another_model_do_not_hold_up_the_start(parts: Parts) -> None:
    await indexed(parts, *(f"harbour {n}" for n in range(50)))
    pool = await create_pool(parts.url, PoolSettings(statement_timeout_seconds=5))
    store = PostgresEpisodeStore(pool, model="other")
    settings = IndexerSettings(reset_batch_max=7, reconciled_owners=1)
    other = await EdgeEpisodeIndex.open(parts.folder / "other", model="other", dimension=64, settings=PATIENT_INDEX)

    assert (await run_job(parts.pool, ReconcileIndex(store, other, settings))).applied == 1

    assert set(await statuses(parts, *range(1, 51))) == {EpisodeStatus.PENDING_EMBEDDING}
    await other.aclose()
    await pool.close()


async def test_a_comparison_that_could_not_ask_the_store_is_made_when_it_is_back(parts: Parts) -> None:
    await indexed(parts, "the harbour at night")
    await parts.index.remove(OWNER, [new_episode(1).key])
    lost_pool = await create_pool(parts.url)
    store = PostgresEpisodeStore(lost_pool, model=parts.index.model)
    await lost_pool.close()
    job = ReconcileIndex(store, parts.index)

    with pytest.raises(StoreUnavailable):
        await run_job(parts.pool, job)
    store._pool = parts.pool  # the database is back

    assert (await run_job(parts.pool, job)).applied == 1


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
    read = await CandidateSearch(parts.store, parts.index, cached_episodes_max=10).search(query)

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
    await recorder.try_flush()

    stored = (await parts.store.get(OWNER, [episode_id(1)]))[episode_id(1)]
    assert stored.access_count == 2
