"""Job: rewrites the files of the database and of the vector index after erasures, so that no bytes of them are left."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.purges import Erased, begin_purge, database_is_purged, look_for_erased
from services.common.maintenance.tier import TierJob
from services.common.postgres.pool import translate_errors
from services.common.postgres.purging_online import OnlinePurgeSettings, purge_online, purging_connection
from services.common.postgres.types import Pool
from services.episodic.config import PurgeSettings
from services.episodic.model import Owner

_PURGE = "purge_files"


class PurgeFiles:
    """Purges PostgreSQL as `mneme purge` does while services run; the index follows, see `IndexPurger`.

    A database has at most one purge at a time, of the job or of the command. While another one runs, or where a table
    could not be rewritten within its bound, the job tries again after its interval.
    """

    name = "episodic.purge_files"
    cap = Cap()  # it retires nothing: what it removes has been erased

    def __init__(self, pool: Pool, superuser_url: str, settings: PurgeSettings) -> None:
        """Reads what is due through `pool`, and purges as the superuser."""
        self._pool = pool
        self._superuser_url = superuser_url
        self._settings = settings

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Erased]]:
        """See `Job.steps`: one, of the store as a whole. A purge that was interrupted begins anew."""
        del after, owner
        erased = await look_for_erased(self._pool, age=timedelta(seconds=self._settings.age_seconds))
        if erased.first_time is not None:
            yield Step(erased, "purged")

    def plan(self, state: Erased, now: datetime) -> Sequence[Change]:
        """See `Job.plan`. By the database's clock, as everything that is known of purges."""
        del now
        if not self._is_due(state):
            return []
        return [Change(_PURGE, "files", facts={"erased_memories": state.memories})]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`.

        Raises:
            Conflict: Another purge is running, or a table could not be rewritten without longer waits.
            StoreUnavailable: The server cannot be reached.
        """
        del owner
        chosen = self._settings
        bounds = OnlinePurgeSettings(hold_seconds=chosen.hold_seconds, attempts=chosen.attempts)
        with translate_errors():
            async with purging_connection(self._superuser_url) as connection:
                purge = await begin_purge(connection, uuid.uuid4(), is_scheduled=True)
                await purge_online(connection, bounds)
                if purge is not None:
                    await database_is_purged(connection, purge)
        return changes

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back."""
        del owner, changes
        return 0

    def _is_due(self, erased: Erased) -> bool:
        """Whether enough was erased, or long enough ago, and the last purge was not just now."""
        if erased.first_time is None:
            return False
        since_purge = timedelta.max if erased.begin_time is None else erased.now - erased.begin_time
        is_old = erased.now - erased.first_time >= timedelta(seconds=self._settings.age_seconds)
        is_much = erased.memories >= self._settings.memories_min
        return (is_old or is_much) and since_purge >= timedelta(seconds=self._settings.interval_seconds)


def purge_jobs(pool: Pool, superuser_url: str, settings: PurgeSettings) -> list[TierJob]:
    """The job with its schedule; none where it is off, or nobody may purge."""
    if not settings.is_enabled or not superuser_url:
        return []
    about = "Rewrites the files of the database and of the vector index after erasures."
    job = PurgeFiles(pool, superuser_url, settings)
    return [TierJob(job, about, settings.look_seconds, for_user=False)]
