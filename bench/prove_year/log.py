"""What the log of maintenance says of a user, read from its table: `GetRun` shows the first 1,000 changes of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

import asyncpg

_SETTLE_SECONDS: Final = 60.0
_OPEN: Final = "SELECT EXISTS (SELECT FROM maintenance.log WHERE user_id = $1 AND NOT is_applied)"
_NEW: Final = """
    SELECT entry_id, run_id::text AS run_id, changes FROM maintenance.log
    WHERE user_id = $1 AND is_applied AND NOT entry_id = ANY ($2) AND create_time > (
        SELECT max(create_time) - interval '30 days' FROM maintenance.log WHERE user_id = $1
    )
"""


class UserLog:
    """Reads the entries about a user, each once.

    The runs of the schedule go beside those that a caller asks for. So an entry of a run that began earlier can come
    after those of later runs, and what a run has changed can be seen just before its entry says so.
    """

    def __init__(self, database: asyncpg.Connection[Any], user_id: str) -> None:
        """Reads through a connection that row-level security does not bind."""
        self._database = database
        self._user_id = user_id
        self._read: list[int] = []
        self._runs: set[str] = set()
        self.changes = 0  # of the entries that were read

    @property
    def runs(self) -> int:
        """Runs of which an entry was read."""
        return len(self._runs)

    async def settled(self) -> None:
        """Waits until no run is between its changes and its log.

        Raises:
            TimeoutError: One still is after a minute.
        """
        async with asyncio.timeout(_SETTLE_SECONDS):
            while await self._database.fetchval(_OPEN, self._user_id):  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.005)

    async def news(self) -> set[str]:
        """Ids that entries name which were not read before."""
        named: set[str] = set()
        for row in await self._database.fetch(_NEW, self._user_id, self._read):
            self._read.append(row["entry_id"])
            self._runs.add(row["run_id"])
            for change in json.loads(row["changes"]):
                self.changes += 1
                named |= {change["target"], *_ids_in(change["facts"])}
        return named


def _ids_in(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set().union(*(_ids_in(each) for each in value.values())) if value else set()
    if isinstance(value, (list, tuple)):
        return set().union(*(_ids_in(each) for each in value)) if value else set()
    return {value} if isinstance(value, str) else set()
