"""Token vectors on real stores: made behind the acknowledgement, made up for, and missed without harm."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from services.common.embedding.errors import EmbedderBusyError, EmbeddingFailedError
from services.common.embedding.vectors import Matrix
from services.common.errors import StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.config import IndexerSettings, TokenSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.token_backfill import TokenBackfill
from services.episodic.model import EpisodeStatus
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.token_format import PackedTokens
from services.episodic.token_store import EpisodeName
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, run_job
from tests.support.postgres import fresh_postgres

QUICK = TokenSettings(backfill_batch=3, backfill_scanned=4, backfill_pause_seconds=0.0)
WAITS = IndexerSettings(retry_seconds_min=0.001, outage_seconds_max=0.002, poll_seconds=0.001)


class FickleEmbedder(HashingEmbedder):
    """Fails on poison, and is busy so many times."""

    busy_times = 0

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if self.busy_times:
            self.busy_times -= 1
            raise EmbedderBusyError("busy")
        if any("poison" in text for text in texts):
            raise EmbeddingFailedError("the model choked")
        return await super().embed_documents(texts)


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        yield pool
        await pool.close()


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EdgeEpisodeIndex]:
    async with aclosing(await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64)) as index:
        yield index


@pytest.fixture
def store(pool: Pool, index: EdgeEpisodeIndex) -> PostgresEpisodeStore:
    return PostgresEpisodeStore(pool, model=index.model)


@pytest.fixture
def embedder() -> FickleEmbedder:
    return FickleEmbedder()


def backfill(store: PostgresEpisodeStore, embedder: HashingEmbedder) -> TokenBackfill:
    return TokenBackfill(store, embedder, QUICK)


def indexer(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex, embedder: HashingEmbedder, *, stored: bool
) -> EpisodeIndexer:
    settings = TokenSettings(stored=stored)
    return EpisodeIndexer(store, index, embedder, FakeClock(), settings=WAITS, tokens=settings)


async def with_tokens(store: PostgresEpisodeStore, embedder: HashingEmbedder, *numbers: int) -> list[int]:
    space = embedder.tokens
    assert space is not None
    found = await store.tokens(OWNER, [episode_id(number) for number in numbers], model=space.fingerprint)
    return sorted(name.int for name in found)


async def test_the_indexer_keeps_token_vectors_unless_told_otherwise(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex, embedder: FickleEmbedder
) -> None:
    await store.insert(TENANT, [new_episode(1)], now=FakeClock().now())
    assert await indexer(store, index, embedder, stored=False).index_batch() == 1
    assert await with_tokens(store, embedder, 1) == []
    await store.insert(TENANT, [new_episode(2)], now=FakeClock().now())
    assert await indexer(store, index, embedder, stored=True).index_batch() == 1
    assert await with_tokens(store, embedder, 1, 2) == [2]


async def test_token_vectors_of_a_turn_lie_in_its_row(store: PostgresEpisodeStore, pool: Pool) -> None:
    """What lies outside is read in pieces, each from a page of its own."""
    now = FakeClock().now()
    await store.insert(TENANT, [new_episode(number) for number in (1, 2)], now=now)
    sizes = {1: 7_500, 2: 30_000}  # of a long turn and of one that no page could hold
    async with store.claim_pending(limit=2, now=now) as batch:
        packed = {EpisodeName(OWNER, episode_id(n)): PackedTokens("m", bytes(size)) for n, size in sizes.items()}
        await batch.mark_active(batch.episodes, [1, 1], packed)
    outside = await pool.fetchval(
        "SELECT sum(pg_relation_size(reltoastrelid)) FROM pg_class WHERE relname ~ '^token_vectors_[0-7]$'"
    )
    assert 30_000 <= outside < 30_000 + 2 * 8_192
    found = await store.tokens(OWNER, [episode_id(1), episode_id(2)], model="m")
    assert {name.int: len(data) for name, data in found.items()} == {episode_id(n).int: s for n, s in sizes.items()}


async def test_spec_6_9_an_episode_that_is_deleted_just_then_gets_no_token_vectors(
    store: PostgresEpisodeStore, pool: Pool
) -> None:
    """The deletion is under way when the statement begins, and is committed while it waits."""
    now = FakeClock().now()
    await store.insert(TENANT, [new_episode(number) for number in (1, 2)], now=now)
    async with store.claim_pending(limit=2, now=now) as batch:
        await batch.mark_active(batch.episodes, [1, 1])
    packed = {EpisodeName(OWNER, episode_id(n)): PackedTokens("m", b"tokens") for n in (1, 2)}
    async with pool.acquire() as deleting:
        transaction = deleting.transaction()
        await transaction.start()
        await deleting.execute("SELECT set_config('mneme.tenant', $1, true)", TENANT)
        await deleting.execute("DELETE FROM episodic.episodes WHERE episode_id = $1", episode_id(1))
        async with store.claim_untokened("m", after=None, scan_limit=10, limit=10) as batch:
            putting = asyncio.create_task(batch.put(packed))
            assert not (await asyncio.wait([putting], timeout=0.5))[0]
            await transaction.commit()
            await putting
    assert set(await store.tokens(OWNER, [episode_id(1), episode_id(2)], model="m")) == {episode_id(2)}


async def test_a_model_without_token_vectors_indexes_as_before(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex
) -> None:
    plain = HashingEmbedder(has_tokens=False)
    await store.insert(TENANT, [new_episode(1)], now=FakeClock().now())
    assert await indexer(store, index, plain, stored=True).index_batch() == 1
    assert (await store.statuses(OWNER, [episode_id(1)]))[episode_id(1)] is EpisodeStatus.ACTIVE
    assert (await run_job(store._pool, backfill(store, plain))).applied == 0


async def test_old_episodes_are_given_token_vectors_and_stay_searchable(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex, embedder: FickleEmbedder
) -> None:
    await store.insert(TENANT, [new_episode(n) for n in range(20)], now=FakeClock().now())
    theirs = new_episode(1, owner=SAME_NAME_ELSEWHERE)
    await store.insert(SAME_NAME_ELSEWHERE.tenant_id, [theirs], now=FakeClock().now())
    await indexer(store, index, embedder, stored=False).index_batch()
    revision = (await store.changes(OWNER, since=0, limit=100)).revision
    embedder.documents.clear()

    assert (await run_job(store._pool, backfill(store, embedder))).applied == 21

    assert await with_tokens(store, embedder, *range(20)) == list(range(20))
    assert (await store.changes(OWNER, since=0, limit=100)).revision == revision  # nothing left the search
    assert len(embedder.documents) == 21
    assert (await run_job(store._pool, backfill(store, embedder))).applied == 0
    assert len(embedder.documents) == 21


async def test_what_is_made_up_for_is_what_the_indexer_would_have_kept(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex, embedder: FickleEmbedder
) -> None:
    long = "A sentence about the sea. " * 200
    texts = {1: long, 2: long}
    now = FakeClock().now()
    await store.insert(TENANT, [new_episode(1, query=texts[1])], now=now)
    await indexer(store, index, embedder, stored=False).index_batch()
    await store.insert(TENANT, [new_episode(2, query=texts[2])], now=now)
    await indexer(store, index, embedder, stored=True).index_batch()
    await run_job(store._pool, backfill(store, embedder))
    space = embedder.tokens
    assert space is not None
    one, two = (await store.tokens(OWNER, [episode_id(1), episode_id(2)], model=space.fingerprint)).values()
    assert one == two
    assert len(one) > 5_000


async def test_what_cannot_be_encoded_holds_up_no_other(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex, embedder: FickleEmbedder
) -> None:
    now = FakeClock().now()
    await store.insert(TENANT, [new_episode(n, query="poison" if n == 3 else f"text {n}") for n in range(8)], now=now)
    await indexer(store, index, HashingEmbedder(), stored=False).index_batch()
    embedder.busy_times = 1
    with pytest.raises(StoreUnavailable):
        await run_job(store._pool, backfill(store, embedder))
    assert (await run_job(store._pool, backfill(store, embedder))).applied == 7
    assert await with_tokens(store, embedder, *range(8)) == [0, 1, 2, 4, 5, 6, 7]


async def test_replicas_share_the_work(
    store: PostgresEpisodeStore, index: EdgeEpisodeIndex, embedder: FickleEmbedder
) -> None:
    await store.insert(TENANT, [new_episode(n) for n in range(30)], now=FakeClock().now())
    await indexer(store, index, embedder, stored=False).index_batch()
    embedder.documents.clear()
    reports = await asyncio.gather(*(run_job(store._pool, backfill(store, embedder)) for _ in range(3)))
    assert sum(report.applied for report in reports) == 30
    assert sorted(report.is_claimed for report in reports) == [False, False, True]
    assert len(embedder.documents) == 30
