"""The job that purges files, with rows for it that were deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from services.common.maintenance import Job
from services.common.maintenance.purges import note_erased
from services.episodic.config import PurgeSettings
from services.episodic.maintenance.files import PurgeFiles
from services.episodic.stores.postgres import PostgresEpisodeStore
from tests.contract.episode_samples import OWNER, new_episode
from tests.integration.maintenance.places import FIRST, Place, Seen

_SETTINGS: Final = PurgeSettings(age_seconds=0.001, interval_seconds=0.001)
_EPISODES: Final = 8


@dataclass(frozen=True)
class Purge:
    """Episodes of a user, half of which were deleted."""

    name: str
    index_count: int = 0
    comes_back: bool = True  # no memory changes

    async def fill(self, place: Place) -> None:
        store = PostgresEpisodeStore(place.pool, model=FIRST.fingerprint)
        for number in range(1, _EPISODES + 1):
            episode = new_episode(number, query=f"garden {number}")
            await store.insert(episode.owner.tenant_id, [episode], now=place.clock.now())
        async with place.pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT set_config('mneme.tenant', $1, true)", OWNER.tenant_id)
            await connection.execute("DELETE FROM episodic.episodes WHERE query < 'garden 5'")
            await note_erased(connection, _EPISODES // 2)

    def job(self, place: Place) -> Job[Any]:
        return PurgeFiles(place.pool, place.dsn.replace("mneme_app@", "postgres@", 1), _SETTINGS)

    async def settle(self, place: Place) -> None:
        """Nothing else purges: there is no index."""

    async def seen(self, place: Place) -> Seen:
        """The episodes that were not deleted, and whether the files wait for a purge."""
        async with place.pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT set_config('mneme.tenant', $1, true)", OWNER.tenant_id)
            stored = frozenset(row["query"] for row in await connection.fetch("SELECT query FROM episodic.episodes"))
            waits = await connection.fetchval("SELECT first_time IS NOT NULL FROM maintenance.purge_schedule")
        return Seen(stored, stored, frozenset({"erased"} if waits else ()))

    async def check(self, place: Place) -> None:
        """All that is left was never deleted."""
        assert len((await self.seen(place)).stored) == _EPISODES // 2
