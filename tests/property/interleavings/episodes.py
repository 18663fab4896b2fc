"""Episodes, the jobs on them, and what the other process does to them."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from services.common.idempotency.model import IdempotencyKey
from services.common.postgres.types import Pool
from services.episodic.access import AccessRecorder
from services.episodic.clusters.stores.postgres import PostgresClusterStore
from services.episodic.indexer import EpisodeIndexer
from services.episodic.model import EpisodeId, EpisodeKey, EpisodeStatus, NewEpisode, Owner
from services.episodic.removal_store import EpisodeSelection
from services.episodic.service import Deletion, EpisodeService
from services.episodic.store import AccessCount, EpisodeFilter
from services.episodic.stores.postgres import PostgresEpisodeStore
from tests.contract.episode_index import scanned
from tests.contract.episode_samples import episode_id, new_episode
from tests.integration.maintenance.episodic_cases import Backfill, Cluster, EpisodeCase, FillSecond, Reconcile, Retain
from tests.integration.maintenance.places import FIRST
from tests.property.interleavings.other import CallHome, Disturbance, Disturber, Kind
from tests.property.interleavings.world import World
from tests.support.clock import START, FakeClock

_TOPICS: Final = ("the garden needs water", "the printer is out of paper")
_TOMBSTONES: Final = frozenset({"episodic.deleted_episodes", "episodic.owners", "episodic.cluster_owners"})
_JOBS: Final[tuple[EpisodeCase, ...]] = (
    Cluster("episodic.cluster_episodes"),
    Cluster("episodic.cluster_episodes"),
    Retain("episodic.retain_episodes", days=400),
    Reconcile("episodic.reconcile_index"),
    Backfill("episodic.backfill_tokens", has_tokens=False),
    FillSecond("episodic.fill_second_index", index_count=2),
)


class RemoteIndex:
    """The part of an index that a deletion uses."""

    model = FIRST.fingerprint

    def __init__(self, home: CallHome) -> None:
        self._home = home

    async def remove(self, owner: Owner, keys: list[EpisodeKey]) -> None:
        await self._home("remove", owner, keys)

    async def remove_owner(self, owner: Owner) -> None:
        await self._home("remove_owner", owner)


class EpisodeDisturber:
    """Uses the services as a replica of the tier does."""

    def __init__(self, pool: Pool, clock: FakeClock, home: CallHome) -> None:
        store, index = PostgresEpisodeStore(pool, model=FIRST.fingerprint), RemoteIndex(home)
        self._episodes = EpisodeService(
            store=store,
            index=index,  # type: ignore[arg-type]
            indexer=EpisodeIndexer(store, index, FIRST, clock),  # type: ignore[arg-type]
            accesses=AccessRecorder(store, clock),
            embedder=FIRST,
            clock=clock,
        )

    async def do(self, disturbance: Disturbance) -> str:
        owner, key = disturbance.owner, IdempotencyKey("ann", disturbance.request_id, "")
        selection = EpisodeSelection()
        if disturbance.kind is not Kind.ERASE_ALL:
            selection = EpisodeSelection(episode_ids=[EpisodeId(UUID(disturbance.target))])
        await self._episodes.delete(Deletion(owner.tenant_id, owner, selection), key=key)
        return ""


def episode_disturber(pool: Pool, clock: FakeClock, home: CallHome) -> Disturber:
    """The other process's."""
    return EpisodeDisturber(pool, clock, home)


class EpisodeWorld(World):
    """Episodes of two topics, half of them unimportant; some lack their points in the index."""

    cases = _JOBS

    def __post_init__(self) -> None:
        super().__post_init__()
        self.case = self.case or self.random.choice(self.cases)
        assert isinstance(self.case, EpisodeCase)
        self.kind = self.case
        self.episodes: dict[str, NewEpisode] = {}

    @property
    def store(self) -> PostgresEpisodeStore:
        return PostgresEpisodeStore(self.place.pool, model=self.place.index.model)

    def kinds(self) -> list[Kind]:
        """A correction changes no episode: what it says otherwise is marked (`docs/conflicts.md`)."""
        return [Kind.ERASE]

    async def fill(self) -> None:
        self.clock.set(START)
        episodes = [
            new_episode(
                number,
                owner=self.owner,
                episode_id=episode_id(self.number * 1_000 + number),
                importance=self.random.choice([0.2, 0.9]),
                query=f"{self.random.choice(_TOPICS)} {self.number * 1_000 + number}",
            )
            for number in range(1, self.random.randint(8, 14))
        ]
        await self.store.insert(self.owner.tenant_id, episodes, now=self.clock.now())
        await self.settle()
        await self.place.index.remove(self.owner, [each.key for each in episodes if self.random.random() < 0.3])
        self.episodes = {str(each.episode_id): each for each in episodes}
        self.originals = {key: each.query for key, each in self.episodes.items()}
        self.sources = dict.fromkeys(self.originals, "")
        self.clock.set(max(each.time for each in episodes))
        time = self.clock.advance(days=self.kind.days)
        last = AccessCount(owner=self.owner, episode_id=episodes[-1].episode_id, count=1, last_time=time)
        await self.store.add_accesses([last])

    async def settle(self) -> None:
        """The indexer does its work."""
        await self.kind.settle(self.place)

    async def check(self) -> None:
        await self.settle()
        found = await self.store.list_episodes(self.owner, EpisodeFilter(), limit=500, after=None)
        stored = {str(each.content.episode_id): each for each in found}
        assert set(stored) == set(self.originals) - self.gone, "other episodes are stored than nobody removed"
        gone = {self.episodes[key].key for key in self.gone}
        for index in self.place.indexes:
            indexed = {each.key for each in await scanned(index, limit=10_000) if each.owner == self.owner}
            assert not gone & indexed, f"the index of {index.model} holds what was erased"
        active = {key for key, each in stored.items() if each.status is EpisodeStatus.ACTIVE}
        clusters = PostgresClusterStore(self.place.pool)
        for cluster in await clusters.list_clusters(self.owner, after=None, limit=100):
            members = await clusters.list_members(self.owner, cluster.cluster_id, after=None, limit=100)
            assert {str(member.episode_id) for member in members} <= active, "a cluster holds what is not there"
        rows = await self.rows()
        for table in rows.keys() - _TOMBSTONES:
            left = [key for key in self.gone if any(key in row for row in rows[table])]
            assert not left, f"{table} has rows of what was erased: {left}"
        await self.check_rows({self.originals[key] for key in self.gone})
