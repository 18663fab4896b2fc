"""Archived and deleted episodes on real engines: gone at once, with warm caches and in every replica."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from qdrant_client import AsyncQdrantClient

from services.common.cache import OwnerCache
from services.common.errors import StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.access import AccessRecorder
from services.episodic.candidates import CandidateQuery, Candidates
from services.episodic.comparison_store import IndexedEpisode
from services.episodic.config import QdrantServer, QdrantSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.model import EpisodeId, Owner, UserId
from services.episodic.removal_store import EpisodeSelection
from services.episodic.service import Deletion, EpisodeService
from services.episodic.similar import SearchQuery
from services.episodic.store import EpisodeFilter, EpisodeIndex
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import create_qdrant_client
from tests.contract.episode_index import scanned
from tests.contract.episode_samples import (
    GLOBAL,
    OWNER,
    SAME_NAME_ELSEWHERE,
    TENANT,
    episode_id,
    new_episode,
    write,
)
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.postgres import fresh_postgres
from tests.support.qdrant_server import StandIn, serving
from tests.support.vector_index import PATIENT_INDEX

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

EMBEDDER = HashingEmbedder(64)
BOB = Owner(TENANT, UserId("bob"))
EVERYTHING = EpisodeSelection()


class FailingIndex:
    """An index that cannot be reached while `is_away`."""

    def __init__(self, index: EpisodeIndex) -> None:
        self._index = index
        self.is_away = False

    def __getattr__(self, name: str) -> object:
        if self.is_away:
            raise StoreUnavailable("qdrant")
        return getattr(self._index, name)


@dataclass
class Replica:
    """One service beside others on the same engines."""

    store: PostgresEpisodeStore
    service: EpisodeService
    indexer: EpisodeIndexer

    async def candidates(self, owner: Owner = OWNER, *, include: Iterable[EpisodeId] = ()) -> Candidates:
        text = "turn number"
        return await self.service.search_candidates(
            CandidateQuery(
                owner=owner,
                text=text,
                vector=EMBEDDER.vector(text),
                scope_keys=GLOBAL,
                retriever_limit=2,
                neighbour_seeds=5,
                neighbour_radius=2,
                include=tuple(include),
                tokens=EMBEDDER.token_vectors(text),
            )
        )

    async def found(self, owner: Owner = OWNER) -> list[int]:
        """Positions of all that is found, by whichever way; the ways must agree."""
        everything = [episode_id(number) for number in range(1, 21)]
        candidates = await self.candidates(owner, include=everything)
        assert not candidates.degraded
        positions = sorted(candidates.columns.positions)
        query = SearchQuery(owner=owner, text="", vector=EMBEDDER.vector("turn"), scope_keys=GLOBAL, limit=20)
        hits = await self.service.search(query)
        assert sorted(hit.episode.content.position for hit in hits) == positions
        assert candidates.active_count == len(positions)
        assert candidates.late is not None or not positions
        if candidates.late is not None:
            assert candidates.late.present.all()
        return positions

    async def read(self, owner: Owner = OWNER) -> list[int]:
        """Positions of what is listed and read by id, which must agree."""
        page = await self.service.list_episodes(owner, EpisodeFilter(), page_size=20, after=None)
        positions = sorted(episode.content.position for episode in page.episodes)
        read = await self.service.batch_get(owner, [EpisodeId(UUID(int=number)) for number in range(1, 9)])
        assert [episode.content.position for episode in read] == positions
        return positions


def replica_on(pool: Pool, index: EpisodeIndex) -> Replica:
    store = PostgresEpisodeStore(pool, model=index.model)
    clock = FakeClock()
    indexer = EpisodeIndexer(store, index, EMBEDDER, clock)
    service = EpisodeService(
        store=store,
        index=index,
        indexer=indexer,
        accesses=AccessRecorder(store, clock),
        embedder=EMBEDDER,
        clock=clock,
        cache=OwnerCache(),
    )
    return Replica(store, service, indexer)


@pytest.fixture(params=["edge", "local", "server"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
    opened: EpisodeIndex
    if request.param == "edge":
        opened = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
        yield opened
        await opened.aclose()
    elif request.param == "local":
        client = AsyncQdrantClient(location=":memory:")
        opened = await QdrantEpisodeIndex.open(client, model="m", dimension=64)
        yield opened
        await opened.aclose()
    else:
        async with serving(StandIn(tmp_path)) as port:
            client = create_qdrant_client(QdrantServer(url=f"http://127.0.0.1:{port}"), QdrantSettings())
            opened = await QdrantEpisodeIndex.open(client, model="m", dimension=64, settings=QdrantSettings(shards=2))
            yield opened
            await opened.aclose()


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls:
        pool = await create_pool(urls.app)
        yield pool
        await pool.close()


@pytest.fixture
async def replicas(pool: Pool, index: EpisodeIndex) -> AsyncIterator[tuple[Replica, Replica]]:
    """Two services with six turns of Ann, two of Bob, and one of another tenant, all searched before."""
    first, second = replica_on(pool, index), replica_on(pool, index)
    for owner, numbers in ((OWNER, range(1, 7)), (BOB, (7, 8)), (SAME_NAME_ELSEWHERE, (1,))):
        episodes = [new_episode(number, owner=owner) for number in numbers]
        await first.store.insert(owner.tenant_id, episodes, now=FakeClock().now())
    await first.indexer.index_batch()
    for replica in (first, second):
        for _ in range(5):  # what is searched often is prefetched
            assert await replica.found() == [1, 2, 3, 4, 5, 6]
            assert await replica.found(BOB) == [7, 8]
    yield first, second
    for replica in (first, second):
        await replica.service.aclose()


def named(*numbers: int) -> EpisodeSelection:
    return EpisodeSelection(episode_ids=[episode_id(number) for number in numbers])


async def indexed(index: EpisodeIndex, owner: Owner = OWNER) -> list[int]:
    """Positions of the owner's episodes that the index holds."""
    episodes: list[IndexedEpisode] = await scanned(index, limit=100)
    return sorted(episode.key & 0xFFFFFFFF for episode in episodes if episode.owner == owner)


async def test_spec_2_8_archived_episodes_are_out_of_search_everywhere_and_restored_ones_are_back(
    replicas: tuple[Replica, Replica], index: EpisodeIndex
) -> None:
    first, second = replicas

    assert await first.service.archive(OWNER, named(2, 3), key=write("a")) == 2

    for replica in replicas:
        assert await replica.found() == [1, 4, 5, 6]
        assert await replica.read() == [1, 2, 3, 4, 5, 6]
    assert await indexed(index) == [1, 4, 5, 6]

    assert await second.service.restore(OWNER, named(3), key=write("b")) == 1
    await second.indexer.index_batch()
    for replica in replicas:
        assert await replica.found() == [1, 3, 4, 5, 6]


async def test_spec_6_6_deleted_episodes_are_gone_from_every_replica_with_warm_caches(
    replicas: tuple[Replica, Replica], index: EpisodeIndex
) -> None:
    first, second = replicas

    assert (await first.service.delete(Deletion(TENANT, OWNER, named(1, 5)), key=write("a"))).episodes == 2
    for replica in replicas:
        assert await replica.found() == await replica.read() == [2, 3, 4, 6]
    assert await indexed(index) == [2, 3, 4, 6]

    conversation = EpisodeSelection(conversation_id="s1")
    assert (await second.service.delete(Deletion(TENANT, OWNER, conversation), key=write("b"))).episodes == 4
    for replica in replicas:
        assert await replica.found() == await replica.read() == []
        assert await replica.found(BOB) == await replica.read(BOB) == [7, 8]
    assert await indexed(index) == []

    assert (await first.service.delete(Deletion(TENANT, BOB, EVERYTHING), key=write("c"))).episodes == 2
    for replica in replicas:
        assert await replica.found(BOB) == await replica.read(BOB) == []
        assert await replica.found(SAME_NAME_ELSEWHERE) == [1]
    assert await indexed(index, BOB) == []


async def test_spec_6_6_everything_of_a_tenant_is_deleted_and_nothing_of_another(
    replicas: tuple[Replica, Replica], index: EpisodeIndex
) -> None:
    first, second = replicas
    assert (await first.service.delete(Deletion(TENANT, None, EVERYTHING), key=write("a"))).episodes == 8
    for owner in (OWNER, BOB):
        assert await second.found(owner) == await second.read(owner) == []
        assert await indexed(index, owner) == []
    assert await second.found(SAME_NAME_ELSEWHERE) == [1]
    assert await indexed(index, SAME_NAME_ELSEWHERE) == [1]


async def test_spec_6_6_a_deletion_that_did_not_reach_the_index_is_completed_by_its_repeat(
    replicas: tuple[Replica, Replica], pool: Pool, index: EpisodeIndex
) -> None:
    failing = FailingIndex(index)
    broken = replica_on(pool, failing)  # type: ignore[arg-type]
    for request_id, selection in (("a", named(1)), ("b", EVERYTHING)):
        before = await indexed(index)
        failing.is_away = True
        with pytest.raises(StoreUnavailable):
            await broken.service.delete(Deletion(TENANT, OWNER, selection), key=write(request_id, request_id))
        assert await indexed(index) == before
        gone = {1} if request_id == "a" else set(range(1, 7))
        assert await replicas[1].read() == sorted(set(range(1, 7)) - gone)
        failing.is_away = False
        repeated = await broken.service.delete(Deletion(TENANT, OWNER, selection), key=write(request_id, request_id))
        assert repeated.episodes == (1 if request_id == "a" else 5)
        assert await indexed(index) == sorted(set(range(1, 7)) - gone)


async def test_archiving_succeeds_without_the_index_and_holds_at_once(
    replicas: tuple[Replica, Replica], pool: Pool, index: EpisodeIndex
) -> None:
    failing = FailingIndex(index)
    broken = replica_on(pool, failing)  # type: ignore[arg-type]
    failing.is_away = True
    assert await broken.service.archive(OWNER, named(4), key=write("a")) == 1
    assert await indexed(index) == [1, 2, 3, 4, 5, 6]
    for replica in replicas:
        assert await replica.found() == [1, 2, 3, 5, 6]


async def test_a_repeated_deletion_leaves_the_points_of_newer_episodes(
    replicas: tuple[Replica, Replica], index: EpisodeIndex
) -> None:
    first, second = replicas
    await first.service.delete(Deletion(TENANT, OWNER, EVERYTHING), key=write("a"))
    await first.store.insert(TENANT, [new_episode(20, position=2)], now=FakeClock().now())
    await first.indexer.index_batch()
    assert await indexed(index) == [2]

    assert (await second.service.delete(Deletion(TENANT, OWNER, EVERYTHING), key=write("a"))).episodes == 6

    assert await indexed(index) == [2]
    assert await second.found() == [2]
