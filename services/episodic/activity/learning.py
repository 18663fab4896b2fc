"""Job: learns patterns from the activity log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from services.common.clock import Clock
from services.common.errors import Conflict
from services.common.maintenance import Cap, Change, Step
from services.common.owners import Owner, TenantId, UserId
from services.episodic.activity.config import ActivitySettings
from services.episodic.activity.model import Pattern
from services.episodic.activity.patterns import learned
from services.episodic.activity.store import ActivityUpkeepStore, FileChange, LogState, ToolOutcome

_PUT = "put_pattern"
_REMOVE = "remove_pattern"
_READS_MAX: Final = 5
"""Of a log from which records are erased meanwhile, before a run leaves it to the next one."""


@dataclass(frozen=True, slots=True)
class OwnerActivity:
    """What patterns of a user are learned from, and how often those that are stored were observed."""

    changes: Sequence[FileChange]
    outcomes: Sequence[ToolOutcome]
    stored: Mapping[str, tuple[int, int]]
    log: LogState  # as it was before they were read


class LearnPatterns:
    """Learns co-edits, fixes of errors and refactorings of users whose log has changed; what no longer shows goes.

    Patterns are computed anew from the records of the last months, so that nothing outlives what it was learned from.
    """

    name = "episodic.learn_patterns"
    cap = Cap()  # it retires no memory

    def __init__(self, store: ActivityUpkeepStore, clock: Clock, settings: ActivitySettings) -> None:
        """Reads and writes `store`."""
        self._store = store
        self._clock = clock
        self._all = settings
        self._settings = settings.patterns

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[OwnerActivity]]:
        """See `Job.steps`: one user a step; of a single user also where nothing has changed."""
        if owner is not None:
            if (state := await self._state(owner)) is not None:
                yield Step(state, _cursor(owner), owner)
            return
        last = _owner(after) if after else None
        while page := await self._store.owners(after=last, limit=self._settings.owners_page):
            for found in page:
                last = found.owner
                state = await self._state(last) if found.is_changed else None
                if state is None:
                    continue
                yield Step(state, _cursor(last), last)
                if not self._plan(state):
                    # Nothing is to be done: it need not be looked at again.
                    await self._store.put_patterns(last, [], removed=[], learned=state.log)

    def plan(self, state: OwnerActivity, now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        return self._plan(state)

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. What is stored is learned from the log as it is now.

        Raises:
            Conflict: Records were erased each time that it was read.
        """
        if owner is None:
            return []
        planned = max(int(str(change.facts["revision"])) for change in changes)
        for _ in range(_READS_MAX):
            state = await self._state(owner)
            if state is None:
                return []
            found = {one.pattern_id: one for one in await asyncio.to_thread(self._learned, state)}
            put = [found[change.target] for change in changes if change.action == _PUT and change.target in found]
            gone = [change.target for change in changes if change.action == _REMOVE and change.target not in found]
            # What the plan has not seen is learned by the next run.
            seen = replace(state.log, revision=min(planned, state.log.revision))
            if await self._store.put_patterns(owner, put, removed=gone, learned=seen):
                made = {*(one.pattern_id for one in put), *gone}
                return [change for change in changes if change.target in made]
        raise Conflict("records were erased again and again while patterns were learned of them")

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: removes patterns that were stored; the next run learns what the log shows."""
        ids = [change.target for change in changes if change.action == _PUT]
        if owner is None or not ids:
            return 0
        await self._store.put_patterns(owner, [], removed=ids, learned=None)
        return len(ids)

    async def _state(self, owner: Owner) -> OwnerActivity | None:
        """None where the log is gone."""
        log = await self._store.log_state(owner)
        if log is None:
            return None
        since = self._clock.now() - timedelta(days=self._settings.since_days)
        limit = self._settings.records_max
        return OwnerActivity(
            await self._store.changes(owner, since=since, limit=limit),
            await self._store.outcomes(owner, since=since, limit=limit),
            await self._store.pattern_counts(owner),
            log,
        )

    def _learned(self, state: OwnerActivity) -> list[Pattern]:
        return learned(state.changes, state.outcomes, self._settings, self._all.queries)

    def _plan(self, state: OwnerActivity) -> list[Change]:
        found = {one.pattern_id: one for one in self._learned(state)}
        changes = [
            Change(_PUT, one.pattern_id, facts={"revision": state.log.revision, "observed": one.observed_count})
            for one in found.values()
            if state.stored.get(one.pattern_id) != (one.observed_count, one.contrary_count)
        ]
        gone = [pattern_id for pattern_id in state.stored if pattern_id not in found]
        return changes + [Change(_REMOVE, pattern_id, facts={"revision": state.log.revision}) for pattern_id in gone]


def _cursor(owner: Owner) -> str:
    return json.dumps([owner.tenant_id, owner.user_id])


def _owner(cursor: str) -> Owner:
    tenant_id, user_id = json.loads(cursor)
    return Owner(TenantId(tenant_id), UserId(user_id))
