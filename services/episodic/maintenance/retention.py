"""Job: archives episodes that have faded, and those beyond the cap of a user (SPEC 2.8)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog

from services.common.clock import Clock
from services.common.errors import StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import IdSource
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.grounds import grounds
from services.common.maintenance.model import Json
from services.episodic.config import RetentionSettings
from services.episodic.model import EpisodeId, Owner, TenantId, UserId, decay_factor
from services.episodic.removal_store import EpisodeSelection
from services.episodic.retention_store import FadingEpisode
from services.episodic.store import EpisodeIndex, EpisodeStore

_log = structlog.get_logger(__name__)

_FADED = "archive_faded"
_OVER_CAP = "archive_over_cap"


@dataclass(frozen=True, slots=True)
class ActiveEpisodes:
    """An owner's active episodes: how many, and of those that are not among the newest what may be archived."""

    count: int
    active_time: datetime  # when the owner last stored or used one: time does not pass for an owner who is away
    faded: Sequence[FadingEpisode]  # whose time has come
    weakest: Sequence[FadingEpisode] = ()  # as many as there are beyond the cap


class RetainEpisodes:
    """Archives what has faded below a threshold and what is beyond the cap, weakest first; the newest always stay.

    The strength of an episode is importance x 1 / (1 + days since its last use / scale): a function of time. When it
    falls below the threshold is stored by the writes that change it, so the job reads only those whose time has come,
    and the weakest of a user who has more than the cap. Time counts up to the user's latest activity: a user who is
    away loses nothing by it. Archived episodes are readable and can be restored, which counts as a use.
    """

    name = "episodic.retain_episodes"

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        clock: Clock,
        ids: IdSource,
        settings: RetentionSettings | None = None,
        *,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Archives in `store` and `index`; calls `notify` when an undo has left work for the indexer."""
        self._store = store
        self._index = index
        self._clock = clock
        self._ids = ids
        self._settings = settings or RetentionSettings()
        self._notify = notify
        self.cap = Cap(share=self._settings.share_max)

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[ActiveEpisodes]]:
        """See `Job.steps`: one owner a step."""
        settings = self._settings
        last = _owner(after) if after else None
        while True:
            page = await self._store.active_counts(after=last, limit=settings.owners_page, only=owner)
            for found in page:
                last = found.owner
                if found.count <= settings.newest_kept:
                    continue
                state = await self._look_at(last, found.count)
                if state is not None:
                    cursor = json.dumps([last.tenant_id, last.user_id])
                    yield Step(state, cursor, last, memory_count=found.count)
            if len(page) < settings.owners_page:
                return

    async def _look_at(self, owner: Owner, count: int) -> ActiveEpisodes | None:
        """None where nothing is to be archived."""
        settings, after = self._settings, None
        while (after := await self._store.time_fading(owner, after=after, limit=settings.timed_page)) is not None:
            pass
        now, kept = self._clock.now(), settings.newest_kept
        # By the clock first, which is an index look-up: most users have none, and their activity is not read.
        faded = await self._store.faded(owner, newest_kept=kept, now=now, limit=settings.step_max)
        over = min(count - settings.active_max, settings.step_max)
        if not faded and over <= 0:
            return None
        active_time = await self._store.active_time(owner)
        if active_time is None:
            return None
        state = ActiveEpisodes(count, active_time, faded)
        if over > 0:
            weakest = await self._store.weakest(
                owner, newest_kept=kept, scale_days=settings.scale_days, now=min(now, active_time), limit=over
            )
            state = replace(state, weakest=weakest)
        return state if self.plan(state, now) else None

    def plan(self, state: ActiveEpisodes, now: datetime) -> Sequence[Change]:
        """See `Job.plan`. Time counts up to the user's latest activity."""
        time = min(now, state.active_time)
        scale_days, least = self._settings.scale_days, self._settings.strength_min
        over = max(0, state.count - self._settings.active_max)
        strengths = {each: strength_of(each, time, scale_days=scale_days) for each in (*state.weakest, *state.faded)}
        weakest = set(state.weakest[:over])
        # Times are stored up to a day too early.
        chosen = [each for each, strength in strengths.items() if each in weakest or strength < least]
        return [
            _change(each, strengths[each], _FADED if strengths[each] < least else _OVER_CAP)
            for each in sorted(chosen, key=lambda each: strengths[each])
        ]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. What was used meanwhile stays."""
        if owner is None:
            return []
        episodes = [_episode(change) for change in changes]
        archived = await self._store.archive_unused(owner, episodes, now=self._clock.now())
        try:
            await self._index.remove(owner, list(archived.values()))
        except StoreUnavailable as error:
            _log.warning("points of archived episodes are left in the index for now", error=str(error))
        return [change for change in changes if EpisodeId(UUID(change.target)) in archived]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: restores those that are archived still."""
        if owner is None:
            return 0
        ids = [EpisodeId(UUID(change.target)) for change in changes]
        key = IdempotencyKey("maintenance", self._ids.new_id(), "")
        count = await self._store.restore(owner, EpisodeSelection(episode_ids=ids), key=key, now=self._clock.now())
        self._notify()
        return count


def strength_of(episode: FadingEpisode, now: datetime, *, scale_days: float) -> float:
    """Importance x hyperbolic decay since the last use, in [0, 1]."""
    return episode.importance * decay_factor(episode.used_time, now=now, scale_days=scale_days)


def _change(episode: FadingEpisode, strength: float, action: str) -> Change:
    facts: dict[str, Json] = {
        "strength": round(strength, 4),
        "importance": episode.importance,
        "used": episode.used_time.isoformat(),
    }
    # A restored one counts as used, and one of no importance has faded nevertheless. The cap holds in any case.
    seen = (grounds(_FADED, (str(episode.episode_id),), episode.importance),) if action == _FADED else ()
    return Change(action, str(episode.episode_id), 1, facts, seen)


def _episode(change: Change) -> FadingEpisode:
    return FadingEpisode(
        episode_id=EpisodeId(UUID(change.target)),
        importance=float(str(change.facts["importance"])),
        used_time=datetime.fromisoformat(str(change.facts["used"])),
    )


def _owner(cursor: str) -> Owner:
    tenant_id, user_id = json.loads(cursor)
    return Owner(TenantId(tenant_id), UserId(user_id))
