"""Job: compares, owner by owner, what the store believes to be indexed with what the index holds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from services.common.maintenance import Cap, Change, Step
from services.episodic.comparison_store import IndexState
from services.episodic.config import IndexerSettings
from services.episodic.model import EpisodeId, Owner, TenantId, UserId
from services.episodic.second_index import PairedEpisodeIndex
from services.episodic.store import EpisodeIndex, EpisodeStore


@dataclass(frozen=True, slots=True)
class IndexComparison:
    """One owner in the store and in the index."""

    expected: IndexState
    indexed_pieces: int  # 0 where none are expected: they are not counted then


class ReconcileIndex:
    """Episodes that the index lacks are indexed again; they become pending.

    That is: episodes that were indexed with another model or into an index that is gone, and those of owners of whom
    the index has fewer pieces than became active, such as after a power failure. Points are written before their
    rows, so that the index may have more, not less.
    """

    name = "episodic.reconcile_index"
    cap = Cap()  # it retires nothing

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        settings: IndexerSettings | None = None,
        *,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        """Compares `store` with `index`, and calls `notify` when there is work for the indexer."""
        self._store = store
        self._index = index
        self._settings = settings or IndexerSettings()
        self._notify = notify

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[IndexComparison]]:
        """See `Job.steps`: one owner a step."""
        limit = self._settings.reconciled_owners
        last = _owner(after) if after else None
        while True:
            states = await self._store.index_states(self._index.model, after=last, limit=limit, only=owner)
            for state in states:
                last = state.owner
                indexed = await self._index.count(last) if state.piece_count else 0
                yield Step(IndexComparison(state, indexed), json.dumps([last.tenant_id, last.user_id]), last)
            if len(states) < limit:
                return

    def plan(self, state: IndexComparison, now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        if state.indexed_pieces < state.expected.piece_count:
            return [Change("index_all_again", state.expected.owner.user_id)]
        # While there are two indexes, other replicas may search the second one and note it; each holds what is active.
        if state.expected.other_episodes and not isinstance(self._index, PairedEpisodeIndex):
            return [Change("index_other_models_again", state.expected.owner.user_id)]
        return []

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. In short statements, so that searches go on meanwhile."""
        made: list[Change] = []
        for change in changes:
            kept_model = self._index.model if change.action == "index_other_models_again" else None
            if owner is not None and (count := await self._reset(owner, kept_model)):
                made.append(Change(change.action, change.target, facts={"episodes": count}))
        return made

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: what is indexed again is as before."""
        del owner, changes
        return 0

    async def _reset(self, owner: Owner, kept_model: str | None) -> int:
        count = 0
        last: EpisodeId | None = None
        limit = self._settings.reset_batch_max
        while True:
            # Behind the last one: what the indexer has repaired meanwhile is not reset once more.
            found = await self._store.reset_episodes(owner, kept_model=kept_model, after=last, limit=limit)
            count += len(found)
            if found:
                self._notify()
            if len(found) < limit:
                return count
            last = max(found)


def _owner(cursor: str) -> Owner:
    tenant_id, user_id = json.loads(cursor)
    return Owner(TenantId(tenant_id), UserId(user_id))
