"""Job: deprecates facts that have faded (SPEC 3.4), and archives those beyond the cap of a user (SPEC 3.8)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.common.clock import Clock
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.grounds import grounds
from services.common.maintenance.model import Json
from services.common.owners import Owner
from services.semantic.config import FactRetentionSettings
from services.semantic.facts.model import FactId, FactStatus
from services.semantic.facts.upkeep_store import FactUpkeepStore, RetainedFact
from services.semantic.maintenance.owners import cursor_of, owners_behind

_FADED: Final = "deprecate_faded"
_OVER_CAP: Final = "archive_over_cap"
_STATUSES: Final = {_FADED: FactStatus.DEPRECATED, _OVER_CAP: FactStatus.ARCHIVED}


@dataclass(frozen=True, slots=True)
class ActiveFacts:
    """A user's active facts: how many, those whose time has come, and the least important ones."""

    count: int
    active_time: datetime  # when the user last stated one: time does not pass for a user who is away
    faded: Sequence[RetainedFact]
    least: Sequence[RetainedFact]  # empty where the user has no more than the cap


class RetainFacts:
    """Takes facts out of searches: those nobody confirmed for long, and the least important of too many.

    When a fact fades is stored with it, whenever evidence comes; nothing is written as time passes. Time counts up to
    the user's latest activity: a user who is away loses nothing by it. Both are undone
    from the log: what is reinstated fades no more until it is confirmed.
    """

    name = "semantic.retain_facts"

    def __init__(self, store: FactUpkeepStore, clock: Clock, settings: FactRetentionSettings | None = None) -> None:
        """Looks at and changes facts in `store`."""
        self._store = store
        self._clock = clock
        self._settings = settings or FactRetentionSettings()
        self.cap = Cap(share=self._settings.share_max)

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[ActiveFacts]]:
        """See `Job.steps`: one user a step."""
        settings = self._settings
        owners = owners_behind(self._store, after, owner=owner, page_size=settings.owners_page)
        async with aclosing(owners) as listed:  # type: ignore[type-var]
            async for found in listed:
                over = min(max(0, found.count - settings.facts_max), settings.step_max)
                least = await self._store.least_important(found.owner, limit=over) if over else ()
                faded = await self._store.faded(found.owner, now=self._clock.now(), limit=settings.step_max)
                if not (least or faded):
                    continue
                if (active_time := await self._store.active_time(found.owner)) is None:
                    continue
                state = ActiveFacts(found.count, active_time, faded, least)
                yield Step(state, cursor_of(found.owner), found.owner, memory_count=found.count)

    def plan(self, state: ActiveFacts, now: datetime) -> Sequence[Change]:
        """See `Job.plan`. Time counts up to the user's latest activity."""
        time = min(now, state.active_time)
        faded = [fact for fact in state.faded if fact.fade_time is not None and fact.fade_time <= time]
        over = state.count - len(faded) - self._settings.facts_max
        gone = {fact.fact_id for fact in faded}
        least = [fact for fact in state.least if fact.fact_id not in gone][: max(0, over)]
        return [*(_change(_FADED, fact) for fact in faded), *(_change(_OVER_CAP, fact) for fact in least)]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. A fact that was written meanwhile stays."""
        if owner is None:
            return []
        made: set[str] = set()
        for action, status in _STATUSES.items():
            revisions = {FactId(c.target): int(str(c.facts["revision"])) for c in changes if c.action == action}
            if revisions:
                made.update(await self._store.retire(owner, revisions, status))
        return [change for change in changes if change.target in made]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: reinstates those that are still as the job left them."""
        if owner is None:
            return 0
        count = 0
        for action, status in _STATUSES.items():
            ids = [FactId(change.target) for change in changes if change.action == action]
            if ids:
                count += await self._store.reinstate(owner, ids, status)
        return count


def _change(action: str, fact: RetainedFact) -> Change:
    facts: dict[str, Json] = {
        "revision": fact.revision,
        "importance": round(fact.importance, 4),
        "confirmed": fact.last_confirmed_time.isoformat(),
    }
    # The cap holds in any case.
    seen = (grounds(_FADED, (fact.fact_id,), facts["confirmed"]),) if action == _FADED else ()
    return Change(action, fact.fact_id, 1, facts, seen)
