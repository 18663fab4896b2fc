"""Jobs of the episodic tier with episodes and records for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from services.common.ids import Uuid7Ids
from services.common.maintenance import Job
from services.episodic.activity.config import ActivityRetentionSettings, ActivitySettings, PatternSettings
from services.episodic.activity.learning import LearnPatterns
from services.episodic.activity.model import Content, FileOperation, Record
from services.episodic.activity.retention import RetainActivity
from services.episodic.activity.store import RecordFilter
from services.episodic.activity.stores.postgres import PostgresActivityStore
from services.episodic.activity.stores.postgres_upkeep import PostgresActivityUpkeep
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.job import ClusterEpisodes
from services.episodic.clusters.stores.postgres import PostgresClusterStore
from services.episodic.config import IndexerSettings, RetentionSettings, TokenSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.orphans import CollectOrphans
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.maintenance.retention import RetainEpisodes
from services.episodic.maintenance.second_index import FillSecondIndex
from services.episodic.maintenance.token_backfill import TokenBackfill
from services.episodic.model import EpisodeId, EpisodeStatus, NewEpisode, Owner, TenantId, UserId
from services.episodic.second_index import PairedEpisodeIndex
from services.episodic.store import AccessCount, EpisodeFilter, EpisodeIndex, IndexedPiece
from services.episodic.stores.postgres import PostgresEpisodeStore
from tests.contract.activity_samples import ADA, BEN, GLOBAL, at, ran, record, touched
from tests.contract.episode_index import scanned
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, episode_id, new_episode
from tests.integration.maintenance.places import FIRST, SECOND, JobCase, Place, Seen

OWNERS: Final = (OWNER, SAME_NAME_ELSEWHERE)
NEWEST: Final = {OWNER: 8, SAME_NAME_ELSEWHERE: 108}
"""The numbers of the users' newest episodes."""
NOBODY: Final = Owner(TenantId("gone"), UserId("gone"))
QUICK: Final = IndexerSettings(
    reconciled_owners=1, reset_batch_max=3, scanned_pieces=4, scan_pause_seconds=0.0, scan_pause_factor=0.0, batch_max=4
)


@dataclass(frozen=True)
class EpisodeCase:
    """A job on two users' episodes, eight each."""

    name: str
    index_count: int = 1
    comes_back: bool = False
    has_tokens: bool = True  # whether the indexer stores token vectors
    days: int = 0  # from the episodes to the run

    def store(self, place: Place) -> PostgresEpisodeStore:
        return PostgresEpisodeStore(place.pool, model=place.index.model)

    def episodes(self) -> list[NewEpisode]:
        return [
            new_episode(
                start + number,
                owner=owner,
                importance=0.2 if number % 2 else 0.9,
                query=f"{('the garden needs water', 'the printer is out of paper')[number % 2]} {number}",
            )
            for start, owner in ((0, OWNER), (100, SAME_NAME_ELSEWHERE))
            for number in range(1, 9)
        ]

    async def fill(self, place: Place) -> None:
        for episode in self.episodes():
            await self.store(place).insert(episode.owner.tenant_id, [episode], now=place.clock.now())
        await self.settle(place)
        await self.disturb(place)
        await self.live(place)

    async def live(self, place: Place) -> None:
        """Time goes by until the users use their newest episodes."""
        time = place.clock.advance(days=self.days)
        used = [AccessCount(owner=o, episode_id=episode_id(n), count=1, last_time=time) for o, n in NEWEST.items()]
        await self.store(place).add_accesses(used)

    async def disturb(self, place: Place) -> None:
        """What gives the job its work."""

    def job(self, place: Place) -> Job[Any]:
        raise NotImplementedError

    async def settle(self, place: Place) -> None:
        tokens = TokenSettings(stored=self.has_tokens)
        indexer = EpisodeIndexer(self.store(place), place.index, FIRST, place.clock, settings=QUICK, tokens=tokens)
        while await indexer.index_batch():
            pass

    async def seen(self, place: Place) -> Seen:
        recallable, stored = set[str](), set[str]()
        held = {(each.owner, each.key): each.piece_count for each in await scanned(place.index, limit=1_000)}
        for owner in OWNERS:
            for episode in await self.store(place).list_episodes(owner, EpisodeFilter(), limit=500, after=None):
                content = episode.content
                stored.add(f"{owner.tenant_id}: {content.query}")
                if episode.status is EpisodeStatus.ACTIVE and (owner, content.key) in held:
                    recallable.add(f"{owner.tenant_id}: {content.query}")
        return Seen(frozenset(recallable), frozenset(stored), frozenset(await self.further(place)))

    async def further(self, place: Place) -> Sequence[str]:
        """What the job makes besides."""
        del place
        return ()

    async def check(self, place: Place) -> None:
        """What is archived can be read: `Seen.stored` says so."""


class Retain(EpisodeCase):
    def job(self, place: Place) -> Job[Any]:
        settings = RetentionSettings(newest_kept=2, share_max=1.0, owners_page=1)
        return RetainEpisodes(self.store(place), place.index, place.clock, Uuid7Ids(place.clock), settings)


class Reconcile(EpisodeCase):
    async def disturb(self, place: Place) -> None:
        for episode in self.episodes()[::3]:
            await place.index.remove(episode.owner, [episode.key])

    def job(self, place: Place) -> Job[Any]:
        return ReconcileIndex(self.store(place), place.index, QUICK)


class Orphans(EpisodeCase):
    async def disturb(self, place: Place) -> None:
        for number in range(201, 212):
            await put_point(place.index, new_episode(number, owner=NOBODY))

    def job(self, place: Place) -> Job[Any]:
        return CollectOrphans(self.store(place), place.index, QUICK)

    async def further(self, place: Place) -> Sequence[str]:
        return [f"{each.owner.tenant_id} {each.key}" for each in await scanned(place.index, limit=100)]


class Backfill(EpisodeCase):
    def job(self, place: Place) -> Job[Any]:
        settings = TokenSettings(backfill_batch=3, backfill_scanned=4, backfill_pause_seconds=0.0)
        return TokenBackfill(self.store(place), FIRST, settings)

    async def further(self, place: Place) -> Sequence[str]:
        found: Mapping[EpisodeId, bytes] = {}
        assert FIRST.tokens is not None
        for owner in OWNERS:
            ids = [episode.episode_id for episode in self.episodes() if episode.owner == owner]
            found = {**found, **await self.store(place).tokens(owner, ids, model=FIRST.tokens.fingerprint)}
        return [str(episode_id) for episode_id in found]


class FillSecond(EpisodeCase):
    def job(self, place: Place) -> Job[Any]:
        paired = PairedEpisodeIndex(place.index, place.indexes[1], SECOND)
        return FillSecondIndex(self.store(place), paired, QUICK)

    async def further(self, place: Place) -> Sequence[str]:
        return [f"{each.owner.tenant_id} {each.key}" for each in await scanned(place.indexes[1], limit=100)]


class Cluster(EpisodeCase):
    def job(self, place: Place) -> Job[Any]:
        settings = ClusterSettings(size_min=3, neighbours=2, changed_min=6, vectors_page=4, owners_page=1)
        return ClusterEpisodes(PostgresClusterStore(place.pool), place.index, place.clock, settings)

    async def further(self, place: Place) -> Sequence[str]:
        store, found = PostgresClusterStore(place.pool), []
        for owner in OWNERS:
            for cluster in await store.list_clusters(owner, after=None, limit=100):
                members = await store.list_members(owner, cluster.cluster_id, after=None, limit=100)
                numbers = sorted(member.episode_id.int for member in members)
                found.append(f"{owner.tenant_id} {numbers}")
        return found


async def put_point(index: EpisodeIndex, episode: NewEpisode) -> None:
    """A point of an episode that no store knows."""
    vector = FIRST.vector(episode.text)
    piece = IndexedPiece(
        owner=episode.owner,
        key=episode.key,
        number=0,
        text=episode.text,
        vector=vector,
        scope_key=episode.scope_key,
        time=episode.time,
    )
    await index.put([piece])


@dataclass(frozen=True)
class ActivityCase:
    """A job on two agents' records of some months."""

    name: str
    index_count: int = 0
    comes_back: bool = False
    settings: ActivitySettings = field(
        default_factory=lambda: ActivitySettings(
            patterns=PatternSettings(owners_page=1), retention=ActivityRetentionSettings(months=1, months_ahead=1)
        )
    )

    async def fill(self, place: Place) -> None:
        for owner in (ADA, BEN):
            await PostgresActivityStore(place.pool).write(owner, _day_of_work(owner.user_id))
        place.clock.set(at(24 * 60))

    def job(self, place: Place) -> Job[Any]:
        raise NotImplementedError

    async def settle(self, place: Place) -> None:
        """Nothing else works on the log."""

    async def seen(self, place: Place) -> Seen:
        store, found = PostgresActivityStore(place.pool), set[str]()
        for owner in (ADA, BEN):
            for file in await store.list_files(owner, RecordFilter(scope_keys=(GLOBAL,)), after=None, limit=100):
                found.add(f"{owner.user_id} {file.record_id}")
        return Seen(frozenset(found), frozenset(found), frozenset(await self.further(place)))

    async def further(self, place: Place) -> Sequence[str]:
        raise NotImplementedError

    async def check(self, place: Place) -> None:
        """Nothing goes out of use."""


class Learn(ActivityCase):
    def job(self, place: Place) -> Job[Any]:
        return LearnPatterns(PostgresActivityUpkeep(place.pool), place.clock, self.settings)

    async def further(self, place: Place) -> Sequence[str]:
        upkeep = PostgresActivityUpkeep(place.pool)
        return [f"{owner.user_id} {await upkeep.pattern_counts(owner)}" for owner in (ADA, BEN)]


class Months(ActivityCase):
    """Makes three months, and drops the oldest one with its records."""

    async def fill(self, place: Place) -> None:
        upkeep = PostgresActivityUpkeep(place.pool)
        for months in (5, 4, 3):
            await upkeep.make_partitions(at(0) - timedelta(days=30 * months))
        old = [record(f"old-{n}", touched("old.py"), minutes=-60 * 24 * 30 * n) for n in (3, 4, 5)]
        await PostgresActivityStore(place.pool).write(ADA, old)
        await super().fill(place)

    def job(self, place: Place) -> Job[Any]:
        return RetainActivity(PostgresActivityUpkeep(place.pool), self.settings.retention)

    async def further(self, place: Place) -> Sequence[str]:
        return [partition.name for partition in await PostgresActivityUpkeep(place.pool).partitions()]


def _day_of_work(user: str) -> list[Record]:
    """Three tasks in each of which two files are edited together, an error is fixed, and a rename is followed up."""
    found = []
    for task in range(3):
        contents: list[Content] = [
            touched("app.py"),
            touched("test_app.py"),
            ran("pytest", success=False, error="E 1"),
            touched("fix.py"),
            ran("pytest"),
            touched(f"lib/new{task}.py", FileOperation.RENAME, previous_path=f"lib/old{task}.py"),
            touched("main.py"),
        ]
        for place, content in enumerate(contents):
            minutes = task * 60 + place
            found.append(record(f"{user}-{task}-{place}", content, minutes=minutes, task_id=f"task-{task}"))
    return found


EPISODIC_CASES: Final[tuple[JobCase, ...]] = (
    Retain("episodic.retain_episodes", days=400, comes_back=True),
    Reconcile("episodic.reconcile_index"),
    Orphans("episodic.collect_orphans"),
    Backfill("episodic.backfill_tokens", has_tokens=False),
    FillSecond("episodic.fill_second_index", index_count=2),
    Cluster("episodic.cluster_episodes"),
    Learn("episodic.learn_patterns"),
    Months("episodic.retain_activity"),
)
