"""The same episodes in the embedded engine and in Qdrant's own reference of the server's API give the same answers."""

import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.model import EpisodeKey, EpisodeStatus, Owner, TenantId, UserId
from services.episodic.store import EpisodeIndex, IndexedPiece, IndexQuery, RetrieverHits
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from tests.contract.episode_index import EMBEDDER, key_of, piece, query
from tests.contract.episode_samples import OWNER, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.maintenance import MAINTENANCE, run_job
from tests.support.postgres import fresh_postgres
from tests.support.vector_index import PATIENT_INDEX

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

EPISODES = 2_000
TOLERANCE = 1e-4
SCOPES = ("1", "2\x1fproject", "2\x1fother")
OWNERS = (
    Owner(TenantId("acme"), UserId("ann")),
    Owner(TenantId("acme"), UserId("bob")),
    Owner(TenantId("other"), UserId("ann")),
)
WORDS = (
    *("harbour", "coffee", "violin", "lesson", "garden", "weather", "dog", "walking", "report", "quarterly", "mother"),
    *("birthday", "train", "ticket", "Lisbon", "Porto", "doctor", "appointment", "tomorrow", "running", "shoes"),
    *("the", "of", "and", "never", "always", "maybe", "café", "naïve", "42", "2026-11-21", "don't"),
)


@dataclass
class Engines:
    edge: EpisodeIndex
    qdrant: EpisodeIndex
    texts: list[str]


def make_pieces(source: random.Random) -> list[IndexedPiece]:
    """Turns of a few words, some of several pieces, some said again word for word, a few without any term."""
    made: list[IndexedPiece] = []
    for position in range(EPISODES):
        owner = source.choice(OWNERS)
        scope_key = source.choice(SCOPES)
        for number in range(source.choice((1, 1, 1, 1, 2, 5))):
            words = [] if position % 97 == 0 else source.choices(WORDS, k=source.randint(1, 25))
            text = source.choice(made).text if made and position % 10 == 0 else " ".join(words)
            made.append(piece(position, text, number=number, owner=owner, scope_key=scope_key))
    return made


@pytest.fixture(scope="module")
def pieces() -> list[IndexedPiece]:
    return make_pieces(random.Random(20_26))


@pytest.fixture
async def engines(tmp_path: Path, pieces: list[IndexedPiece]) -> AsyncIterator[Engines]:
    edge = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
    qdrant = await QdrantEpisodeIndex.open(AsyncQdrantClient(location=":memory:"), model="m", dimension=64)
    for index in (edge, qdrant):
        await index.put(pieces)
    yield Engines(edge, qdrant, [one.text for one in pieces])
    await qdrant.aclose()
    await edge.aclose()


def queries(texts: list[str], source: random.Random) -> list[IndexQuery]:
    asked = [
        *source.sample(texts, 3),
        "harbour coffee",
        "the violin lesson of my mother",
        "",
        "the of and",
        "unheard-of",
    ]
    return [
        query(text, owner=owner, scope_keys=scope_keys)
        for text in asked
        for owner, scope_keys in zip(OWNERS, (SCOPES, SCOPES[:2], SCOPES[:1]), strict=True)
    ]


def assert_same_lane(edge: Mapping[EpisodeKey, float], qdrant: Mapping[EpisodeKey, float]) -> None:
    """Same scores rank by rank, and the same episodes but for ties: those at the end may be cut off differently."""
    assert len(edge) == len(qdrant)
    assert list(qdrant.values()) == pytest.approx(list(edge.values()), abs=TOLERANCE)
    last = min(edge.values(), default=0.0)
    for key in edge.keys() ^ qdrant.keys():
        assert {**edge, **qdrant}[key] == pytest.approx(last, abs=TOLERANCE)
    for key in edge.keys() & qdrant.keys():
        assert qdrant[key] == pytest.approx(edge[key], abs=TOLERANCE)


def assert_same(edge: RetrieverHits, qdrant: RetrieverHits) -> None:
    assert_same_lane(edge.dense, qdrant.dense)
    assert_same_lane(edge.lexical, qdrant.lexical)


async def test_spec_5_4_both_engines_give_the_same_answers(engines: Engines) -> None:
    source = random.Random(7)
    found = 0
    for asked in queries(engines.texts, source):
        for limit in (10, 100):
            edge = await engines.edge.search(asked, limit=limit)
            qdrant = await engines.qdrant.search(asked, limit=limit)
            assert_same(edge, qdrant)
            assert (qdrant.dense_complete, qdrant.lexical_complete) == (edge.dense_complete, edge.lexical_complete)
            found += len(qdrant.lexical)
        keys = [key_of(position, owner=asked.owner) for position in source.sample(range(EPISODES), 60)]
        edge = await engines.edge.score(asked, dense=keys, lexical=keys)
        qdrant = await engines.qdrant.score(asked, dense=keys, lexical=keys)
        assert dict(qdrant.dense) == pytest.approx(dict(edge.dense), abs=TOLERANCE)
        assert dict(qdrant.lexical) == pytest.approx(dict(edge.lexical), abs=TOLERANCE)
    assert found > 500


async def test_both_engines_agree_after_replacements_and_removals(engines: Engines) -> None:
    source = random.Random(8)
    owner = OWNERS[0]
    gone = [key_of(position, owner=owner) for position in source.sample(range(EPISODES), 200)]
    again = [
        piece(position, " ".join(source.choices(WORDS, k=12)), owner=owner)
        for position in source.sample(range(EPISODES), 100)
    ]
    for index in (engines.edge, engines.qdrant):
        await index.remove(owner, gone)
        await index.put(again)

    for each in OWNERS:
        assert await engines.qdrant.count(each) == await engines.edge.count(each)
    for text in ("harbour coffee", "the violin lesson of my mother"):
        asked = query(text, owner=owner, scope_keys=SCOPES)
        assert_same(await engines.edge.search(asked, limit=50), await engines.qdrant.search(asked, limit=50))


async def test_a_move_to_a_server_indexes_everything_again(postgres_server: EmbeddedPostgres, tmp_path: Path) -> None:
    clock = FakeClock()
    client = AsyncQdrantClient(location=":memory:")

    async def start(index: EpisodeIndex) -> list[EpisodeStatus]:
        """What a service of this index finds at its start; then it does its work."""
        store = PostgresEpisodeStore(pool, model=index.model)
        await run_job(pool, ReconcileIndex(store, index))
        before = await store.statuses(OWNER, [episode_id(n) for n in range(3)])
        await EpisodeIndexer(store, index, EMBEDDER, clock).index_batch()
        return list(before.values())

    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        edge = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
        await PostgresEpisodeStore(pool, model="m").insert(TENANT, [new_episode(n) for n in range(3)], now=clock.now())
        await start(edge)
        server = await QdrantEpisodeIndex.open(client, model="m", dimension=64)

        assert await start(server) == [EpisodeStatus.PENDING_EMBEDDING] * 3
        assert await server.count(OWNER) == 3
        again = await QdrantEpisodeIndex.open(client, model="m", dimension=64)
        assert await start(again) == [EpisodeStatus.ACTIVE] * 3

        await edge.aclose()
        await again.aclose()
        await pool.close()
