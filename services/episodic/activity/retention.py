"""Job: makes the months of the activity log ahead, and drops those that are beyond their retention."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from services.common.maintenance import Cap, Change, Step
from services.common.owners import Owner
from services.episodic.activity.commands import first_month
from services.episodic.activity.config import ActivityRetentionSettings
from services.episodic.activity.store import ActivityUpkeepStore, Partition

_MAKE = "make_months"
_DROP = "drop_month"
_DELETE = "delete_before"


class RetainActivity:
    """Makes and drops partitions. A month is dropped as a whole, for all users: this cannot be undone.

    The cap on what a run retires does not apply: the retention is a fixed age, and what is dropped is at its end.
    """

    name = "episodic.retain_activity"
    cap = Cap()

    def __init__(self, store: ActivityUpkeepStore, settings: ActivityRetentionSettings) -> None:
        """Works on `store`."""
        self._store = store
        self._settings = settings

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Sequence[Partition]]]:
        """See `Job.steps`: one step."""
        if not after and owner is None:
            yield Step(await self._store.partitions(), "done")

    def plan(self, state: Sequence[Partition], now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        oldest = first_month(now, self._settings.months)
        months = {partition.month for partition in state}
        wanted = [first_month(now, -ahead) for ahead in range(self._settings.months_ahead + 1)]
        return [
            *(Change(_MAKE, month.isoformat()) for month in wanted if month not in months),
            *(Change(_DROP, partition.name) for partition in state if partition.month < oldest),
            Change(_DELETE, oldest.isoformat()),
        ]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`."""
        del owner
        made: list[Change] = []
        for change in changes:
            if change.action == _DROP:
                count = int(await self._store.drop_partition(change.target))
            elif change.action == _MAKE:
                count = await self._store.make_partitions(datetime.fromisoformat(change.target))
            else:
                count = await self._store.delete_before(datetime.fromisoformat(change.target))
            if count:
                made.append(change)
        return made

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. What was dropped is gone."""
        del owner, changes
        return 0
