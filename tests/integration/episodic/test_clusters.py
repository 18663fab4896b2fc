"""Clusters of episodes on real stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from services.common.errors import Conflict, NotFound
from services.common.maintenance import RunReport
from services.common.maintenance.fence import writing_under
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.scope import GLOBAL_SCOPE, GrantedReader, Reader, Scope, ScopeLevel
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.job import ClusterEpisodes
from services.episodic.clusters.model import Cluster, ClusterId, Update
from services.episodic.clusters.service import ClusterService
from services.episodic.clusters.store import ClusterPosition, MemberPosition
from services.episodic.clusters.stores import postgres as postgres_clusters
from services.episodic.clusters.stores.postgres import PostgresClusterStore
from services.episodic.indexer import EpisodeIndexer
from services.episodic.model import NewEpisode, Owner
from services.episodic.removal_store import EpisodeSelection
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, episode_id, new_episode, write
from tests.contract.test_maintenance_postgres import RUN
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, runner
from tests.support.postgres import fresh_postgres
from tests.support.vector_index import PATIENT_INDEX

EMBEDDER = HashingEmbedder(64)
SETTINGS = ClusterSettings(size_min=3, neighbours=2, changed_min=6, vectors_page=4, owners_page=1)
TOPICS = (
    "the garden needs water and seeds",
    "the printer is out of paper again",
    "grandmother bakes apple cake",
    "four tickets for the night train",
)


def about(number: int, topic: int, *, owner: Owner = OWNER, **changes: object) -> NewEpisode:
    return new_episode(number, owner=owner, query=f"{TOPICS[topic]} {number}", **changes)


@dataclass
class World:
    pool: Pool
    episodes: PostgresEpisodeStore
    clusters: PostgresClusterStore
    index: EdgeEpisodeIndex
    clock: FakeClock

    async def remember(self, *episodes: NewEpisode) -> None:
        for owner in dict.fromkeys(episode.owner for episode in episodes):
            own = [episode for episode in episodes if episode.owner == owner]
            await self.episodes.insert(owner.tenant_id, own, now=self.clock.now())
        indexer = EpisodeIndexer(self.episodes, self.index, EMBEDDER, self.clock)
        while await indexer.index_batch():
            pass

    def job(self, settings: ClusterSettings = SETTINGS) -> ClusterEpisodes:
        return ClusterEpisodes(self.clusters, self.index, self.clock, settings)

    async def run(
        self, settings: ClusterSettings = SETTINGS, *, owner: Owner | None = None, dry_run: bool = False
    ) -> RunReport:
        return await runner(self.pool, self.clock).run(self.job(settings), owner=owner, dry_run=dry_run)

    async def listed(self, owner: Owner = OWNER) -> list[Cluster]:
        return list(await self.clusters.list_clusters(owner, after=None, limit=100))

    async def numbers(self, owner: Owner = OWNER) -> list[list[int]]:
        """The episodes of each cluster, by their numbers."""
        found = []
        for cluster in await self.listed(owner):
            members = await self.clusters.list_members(owner, cluster.cluster_id, after=None, limit=100)
            assert cluster.episode_count == len(members)
            found.append(sorted(member.episode_id.int for member in members))
        return sorted(found)


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path) -> AsyncIterator[World]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls:
        pool = await create_pool(urls.app)
        index = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64, settings=PATIENT_INDEX)
        store = PostgresEpisodeStore(pool, model=index.model)
        yield World(pool, store, PostgresClusterStore(pool), index, FakeClock())
        await index.aclose()
        await pool.close()


async def test_spec_2_9_a_users_episodes_are_clustered_and_read_page_by_page(world: World) -> None:
    await world.remember(*(about(n, n % 2) for n in range(1, 11)), new_episode(20, query="unrelated"))
    await world.remember(*(about(n, 2, owner=SAME_NAME_ELSEWHERE) for n in range(1, 4)))
    assert (await world.run(dry_run=True)).applied == 0
    assert await world.numbers() == []

    await world.run()

    assert await world.numbers() == [[1, 3, 5, 7, 9], [2, 4, 6, 8, 10]]
    whole = await world.listed()
    first = await world.clusters.list_clusters(OWNER, after=None, limit=1)
    after = ClusterPosition(first[0].create_time, first[0].cluster_id)
    assert [*first, *await world.clusters.list_clusters(OWNER, after=after, limit=5)] == whole
    members = await world.clusters.list_members(OWNER, whole[0].cluster_id, after=None, limit=100)
    assert [member.membership for member in members] == sorted((m.membership for m in members), reverse=True)
    assert list(whole[0].typical) == [member.episode_id for member in members[:3]]
    place = MemberPosition(members[1].membership, members[1].episode_id)
    assert await world.clusters.list_members(OWNER, whole[0].cluster_id, after=place, limit=100) == members[2:]
    assert (whole[0].start_time, whole[0].end_time) == (min(m.time for m in members), max(m.time for m in members))
    assert await world.numbers(SAME_NAME_ELSEWHERE) == []  # three episodes are too few to compute clusters of
    await world.run(owner=SAME_NAME_ELSEWHERE)
    assert await world.numbers(OWNER) == [[1, 3, 5, 7, 9], [2, 4, 6, 8, 10]]


async def test_spec_2_9_members_are_written_some_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_clusters, "_MEMBERS_PAGE", 3)
    await world.remember(*(about(n, n % 2) for n in range(1, 11)), new_episode(20, query="unrelated"))
    await world.run()
    assert await world.numbers() == [[1, 3, 5, 7, 9], [2, 4, 6, 8, 10]]
    assert [placed.episode_id.int for placed in await world.clusters.left_out(OWNER, limit=9)] == [20]


async def test_spec_2_9_what_has_not_changed_is_not_looked_at_again(world: World) -> None:
    await world.remember(*(about(n, n % 2) for n in range(1, 11)))
    await world.run()
    assert (await world.run()).steps == 0
    await world.episodes.archive(
        OWNER, EpisodeSelection(episode_ids=[episode_id(1)]), key=write(), now=world.clock.now()
    )
    assert (await world.run()).steps == 0  # nothing is new
    assert not (await world.clusters.owners(after=None, limit=5))[0].is_changed


async def test_spec_2_9_new_episodes_join_and_after_enough_of_them_clusters_are_computed_anew(world: World) -> None:
    await world.remember(*(about(n, n % 2) for n in range(1, 11)))
    await world.run()
    before = {cluster.cluster_id for cluster in await world.listed()}
    world.clock.advance(hours=1)
    await world.remember(about(11, 1), *(about(n, 2) for n in (12, 13, 14)))
    await world.run()
    assert await world.numbers() == [[1, 3, 5, 7, 9, 11], [2, 4, 6, 8, 10]]  # the third topic waits
    assert {cluster.cluster_id for cluster in await world.listed()} == before
    await world.remember(about(15, 2), about(16, 2))
    await world.run()
    assert await world.numbers() == [[1, 3, 5, 7, 9, 11], [2, 4, 6, 8, 10], [12, 13, 14, 15, 16]]
    assert before < {cluster.cluster_id for cluster in await world.listed()}


async def test_spec_2_9_archived_and_deleted_episodes_leave_at_once(world: World) -> None:
    await world.remember(*(about(n, n % 2) for n in range(1, 11)))
    await world.run()
    archived = EpisodeSelection(episode_ids=[episode_id(1)])
    await world.episodes.archive(OWNER, archived, key=write("a"), now=world.clock.now())
    await world.episodes.delete(
        OWNER, EpisodeSelection(episode_ids=[episode_id(2)]), key=write("d"), now=world.clock.now()
    )
    assert await world.numbers() == [[3, 5, 7, 9], [4, 6, 8, 10]]
    assert not {episode_id(1), episode_id(2)} & {one for cluster in await world.listed() for one in cluster.typical}

    await world.episodes.delete(OWNER, EpisodeSelection(), key=write("all"), now=world.clock.now())
    assert await world.listed() == []
    for table in ("clusters", "cluster_members"):
        async with world.pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT set_config('mneme.tenant', $1, true)", str(OWNER.tenant_id))
            assert await connection.fetchval(f"SELECT count(*) FROM episodic.{table}") == 0  # noqa: S608


async def test_spec_2_9_what_is_deleted_after_the_plan_is_left_out(world: World) -> None:
    await world.remember(*(about(n, n % 2) for n in range(1, 11)))
    job = world.job()
    (step,) = [step async for step in job.steps(after="", owner=OWNER)]
    changes = job.plan(step.state, world.clock.now())
    await world.episodes.delete(
        OWNER, EpisodeSelection(episode_ids=[episode_id(2)]), key=write("d"), now=world.clock.now()
    )
    await job.apply(OWNER, changes)
    assert await world.numbers() == [[1, 3, 5, 7, 9], [4, 6, 8, 10]]
    await job.apply(OWNER, changes)  # as after a crash
    assert await world.numbers() == [[1, 3, 5, 7, 9], [4, 6, 8, 10]]
    assert await job.undo(OWNER, changes) == 0


async def test_spec_2_9_users_with_many_episodes_are_clustered_in_steps(world: World) -> None:
    small = replace(SETTINGS, computed_max=12)
    await world.remember(*(about(n, n % 2) for n in range(1, 21)))
    report = await world.run(small)
    assert report.steps == 2
    odd, even = await world.numbers()  # of the first step; what came later joined them, if it was close enough
    assert ({n % 2 for n in odd}, {n % 2 for n in even}) == ({1}, {0})
    assert len(odd) + len(even) >= 16
    world.clock.advance(hours=1)
    await world.remember(*(about(n, 2 + n % 2) for n in range(30, 41)))
    await world.run(small)
    assert await world.numbers() == [odd, even, list(range(30, 41, 2)), list(range(31, 41, 2))]


async def test_spec_2_9_a_replica_that_was_replaced_writes_no_clusters(world: World) -> None:
    claims = PostgresMaintenanceStore(world.pool)
    now, lease = world.clock.now(), timedelta(seconds=60)
    name = ClusterEpisodes.name
    old = await claims.claim(name, OWNER, holder="old", run_id=RUN, now=now, lease=lease, term=1)
    assert old is not None
    assert await claims.claim(name, OWNER, holder="new", run_id=RUN, now=now, lease=lease, term=2) is not None
    update = Update(groups=[], left_out=[], replaces=True, is_computed=True, revision=1)
    with writing_under(old), pytest.raises(Conflict):
        await world.clusters.put(OWNER, update, now=now)


async def test_spec_2_9_a_cluster_that_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await ClusterService(world.clusters).list_members(OWNER, ClusterId(uuid4()), after=None, page_size=5)


async def test_spec_2_9_episodes_that_the_index_lacks_are_looked_at_when_it_has_them(world: World) -> None:
    await world.remember(*(about(n, n % 2) for n in range(1, 11)))
    gone = (await world.episodes.get(OWNER, [episode_id(10)]))[episode_id(10)].content
    await world.index.remove(OWNER, [gone.key])
    await world.run()
    assert await world.numbers() == [[1, 3, 5, 7, 9], [2, 4, 6, 8]]
    assert (await world.clusters.extent(OWNER)).new == 1


async def test_spec_5_3_clusters_are_those_that_a_reader_sees(world: World) -> None:
    places = (GLOBAL_SCOPE, Scope(ScopeLevel.PROJECT, "p1"), Scope(ScopeLevel.PROJECT, "p2"))
    await world.remember(*(about(n, n // 3 % 2, scope_key=places[n % 3].key) for n in range(30)))
    await world.run()
    whole = await world.listed()
    assert sorted(cluster.scope_key for cluster in whole) == sorted(place.key for place in (*places, *places))

    async def listed(reader: Reader | None) -> list[Cluster]:
        found: list[Cluster] = []
        after = None
        while page := await world.clusters.list_clusters(OWNER, after=after, limit=1, reader=reader):
            found += page
            after = ClusterPosition(page[-1].create_time, page[-1].cluster_id)
        return found

    assert await listed(None) == whole
    service = ClusterService(world.clusters)
    for reader, seen in (
        (GLOBAL_SCOPE, places[:1]),
        (places[1], places[:2]),
        (GrantedReader(places[1], (places[2],)), places),
        (Scope(context_id="agent"), ()),
    ):
        keys = {place.key for place in seen}
        assert await listed(reader) == [cluster for cluster in whole if cluster.scope_key in keys]
        for cluster in whole:
            if cluster.scope_key in keys:
                members, _ = await service.list_members(
                    OWNER, cluster.cluster_id, after=None, page_size=9, reader=reader
                )
                assert len(members) == cluster.episode_count
            else:
                with pytest.raises(NotFound):
                    await service.list_members(OWNER, cluster.cluster_id, after=None, page_size=9, reader=reader)
