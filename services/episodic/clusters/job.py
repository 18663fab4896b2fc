"""Job: keeps clusters of users' episodes (SPEC 2.9)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np

from services.common.clock import Clock
from services.common.embedding.vectors import Matrix
from services.common.maintenance import Cap, Change, Step
from services.common.maintenance.model import Json
from services.common.maintenance.pace import Pace, computed
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.model import ClusterId, Extent, Group, Placed, Update
from services.episodic.clusters.planning import Episodes, formed, joined, without
from services.episodic.clusters.store import ClusterStore
from services.episodic.model import EpisodeId, Owner, TenantId, UserId
from services.episodic.vector_reader import VectorReader

_LOOK: Final = "look"
_FORM: Final = "form_cluster"
_JOIN: Final = "join_cluster"
_LEAVE_OUT: Final = "leave_out"


@dataclass(frozen=True, slots=True)
class OwnerEpisodes:
    """What one step looks at of a user."""

    new: Episodes  # not looked at yet; with `replaces` all of the user's
    left_out: Episodes  # looked at before, in no cluster, and looked at again
    typical: Episodes  # of each cluster
    replaces: bool  # clusters of all episodes are computed, in place of those there are
    computes: bool  # clusters are computed of what joins none; else new ones only join
    revision: int | None  # of the episodes; None where others are looked at behind this step


class ClusterEpisodes:
    """Clusters the active episodes of users that changed: new ones join, and now and then all are computed anew.

    A step looks at `computed_max` episodes, so its time and memory are bounded. A user with more is clustered in
    several steps, oldest episodes first: each adds clusters of what has joined none, and leaves what is clustered.
    """

    name = "episodic.cluster_episodes"
    cap = Cap()  # it retires nothing

    def __init__(self, store: ClusterStore, index: VectorReader, clock: Clock, settings: ClusterSettings) -> None:
        """Clusters in `store`, by the vectors of `index`."""
        self._store = store
        self._index = index
        self._clock = clock
        self._settings = settings

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[OwnerEpisodes]]:
        """See `Job.steps`: one step of one user; of a single user clusters are computed also where nothing changed."""
        last = _owner(after) if after else None
        while page := await self._store.owners(after=last, limit=self._settings.owners_page, only=owner):
            for found in page:
                if owner is None and not found.is_changed:
                    last = found.owner
                    continue
                # A run that goes on looks again at what is left of the user that it was at.
                cursor = json.dumps([last.tenant_id, last.user_id]) if last is not None else ""
                async for state in self._of_owner(found.owner, found.revision, is_asked=owner is not None):
                    count = len(state.new.placed)
                    if count or owner is not None:
                        yield Step(state, cursor, found.owner, count)
                    elif state.revision is not None:  # nothing is new: it need not be looked at again
                        seen = Update(
                            groups=[], left_out=[], replaces=False, is_computed=False, revision=state.revision
                        )
                        await self._store.put(found.owner, seen, now=self._clock.now())
                last = found.owner

    def plan(self, state: OwnerEpisodes, now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        settings = self._settings
        if state.replaces:
            groups = formed(state.new, settings)
            joining: list[Group] = []
            rest = without(state.new, groups)
        else:
            joining = joined(state.new, state.typical)
            rest = without(state.new, joining)
            groups = []
            if state.computes:
                again = Episodes(
                    [*rest.placed, *state.left_out.placed], np.concatenate([rest.vectors, state.left_out.vectors])
                )
                groups = formed(again, settings)
                rest = without(rest, groups)
        if not (state.new.placed or state.replaces):
            return []
        facts: dict[str, Json] = {"replaces": state.replaces, "computed": state.computes, "revision": state.revision}
        changes = [Change(_LOOK, "", facts=facts)]
        changes += [_change(_FORM, group) for group in groups] + [_change(_JOIN, group) for group in joining]
        if rest.placed:
            ids = [str(one.episode_id) for one in rest.placed]
            changes.append(Change(_LEAVE_OUT, "", facts={"episodes": ids}))
        return changes

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. What was archived or deleted meanwhile is left out."""
        look = next((change for change in changes if change.action == _LOOK), None)
        if owner is None or look is None:
            return []
        # Of thousands of episodes it takes as long as other calls should not wait.
        update = await computed(_update, look, changes)
        await self._store.put(owner, update, now=self._clock.now())
        return list(changes)

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: clusters follow from the episodes."""
        del owner, changes
        return 0

    async def _of_owner(self, owner: Owner, revision: int, *, is_asked: bool) -> AsyncIterator[OwnerEpisodes]:
        settings, nothing = self._settings, Episodes([], np.empty((0, 1), np.float32))
        extent = await self._store.extent(owner)
        is_due = self._is_due(extent)
        if extent.active <= settings.computed_max and (is_asked or is_due):
            everything = await self._read(owner, await self._store.all_episodes(owner, limit=settings.computed_max))
            yield OwnerEpisodes(everything, nothing, nothing, replaces=True, computes=True, revision=revision)
            return
        last: EpisodeId | None = None
        while True:
            page = await self._store.new_episodes(owner, after=last, limit=settings.computed_max)
            is_last = len(page) < settings.computed_max
            last = page[-1].episode_id if page else None
            new = await self._read(owner, page)
            typical = left_out = Episodes([], np.empty((0, new.vectors.shape[1]), np.float32))
            if new.placed:
                found = await self._store.typical(
                    owner, per_cluster=settings.compared_per_cluster, limit=settings.compared_max
                )
                typical = await self._read(owner, found, dimension=new.vectors.shape[1])
                more = settings.computed_max - len(new.placed)
                if is_due and more:
                    unassigned = await self._store.left_out(owner, limit=more)
                    left_out = await self._read(owner, unassigned, dimension=new.vectors.shape[1])
            yield OwnerEpisodes(
                new, left_out, typical, replaces=False, computes=is_due, revision=revision if is_last else None
            )
            if is_last:
                return

    def _is_due(self, extent: Extent) -> bool:
        """Whether so much is new that clusters are computed."""
        settings = self._settings
        share = settings.changed_share * min(extent.active, settings.computed_max)
        return extent.new > 0 and extent.new + extent.added >= max(settings.changed_min, share)

    async def _read(self, owner: Owner, placed: Sequence[Placed], *, dimension: int = 1) -> Episodes:
        """The episodes that the index has vectors of; the others are looked at when it has them."""
        size = self._settings.vectors_page
        kept: list[Placed] = []
        pages: list[Matrix] = []
        pace = Pace()
        for start in range(0, len(placed), size):
            page = placed[start : start + size]
            vectors = await self._index.vectors(owner, [one.key for one in page])
            known = [one for one in page if one.key in vectors]
            kept += known
            if known:
                pages.append(np.stack([vectors[one.key] for one in known]))
            await pace.rest()
        return Episodes(kept, np.concatenate(pages) if pages else np.empty((0, dimension), np.float32))


def _change(action: str, group: Group) -> Change:
    facts: dict[str, Json] = {
        "scope": group.scope_key,
        "episodes": [str(one) for one in group.episode_ids],
        "memberships": list(group.memberships),
    }
    return Change(action, str(group.cluster_id), facts=facts)


def _update(look: Change, changes: Sequence[Change]) -> Update:
    left_out = [change for change in changes if change.action == _LEAVE_OUT]
    revision = look.facts["revision"]
    return Update(
        groups=[_group(change) for change in changes if change.action in {_FORM, _JOIN}],
        left_out=[EpisodeId(UUID(one)) for change in left_out for one in _list(change.facts["episodes"])],
        replaces=bool(look.facts["replaces"]),
        is_computed=bool(look.facts["computed"]),
        revision=None if revision is None else int(str(revision)),
    )


def _group(change: Change) -> Group:
    return Group(
        cluster_id=ClusterId(UUID(change.target)),
        scope_key=str(change.facts["scope"]),
        episode_ids=[EpisodeId(UUID(one)) for one in _list(change.facts["episodes"])],
        memberships=[float(one) for one in _list(change.facts["memberships"])],
    )


def _list(value: Json) -> list[Any]:
    assert isinstance(value, list | tuple)
    return list(value)


def _owner(cursor: str) -> Owner:
    tenant_id, user_id = json.loads(cursor)
    return Owner(TenantId(tenant_id), UserId(user_id))
