"""Job: decides about statements that contradict each other and wait for a decision, by a policy (SPEC 3.5)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from services.common.clock import Clock
from services.common.maintenance import Cap, Change, Step
from services.common.owners import Owner, TenantId, UserId
from services.semantic.config import SupersessionSettings
from services.semantic.supersession.adjudication import Adjudicator
from services.semantic.supersession.model import (
    Decision,
    QueuedPair,
    QueuePolicy,
    SupersessionPosition,
    Verdict,
)
from services.semantic.supersession.queue_store import SupersessionQueueStore
from services.semantic.supersession.resolving import is_deciding, verdict_of

_DECIDE: Final = "decide"


@dataclass(frozen=True, slots=True)
class QueuedPairs:
    """Pairs of a user that wait, with what is said about them."""

    pairs: Sequence[tuple[QueuedPair, Verdict | None]]


class ResolveSupersessions:
    """Decides about queued pairs that a user left alone for a while, where the policy says which one stands.

    What the user decides meanwhile stands. A decision that is undone waits for the user from then on. A language model
    is asked in the steps, also of a dry run, once for each page of pairs.
    """

    name = "semantic.resolve_supersessions"

    def __init__(
        self,
        store: SupersessionQueueStore,
        clock: Clock,
        settings: SupersessionSettings | None = None,
        adjudicator: Adjudicator | None = None,
    ) -> None:
        """Decides about pairs in `store`; with the policy `language_model` as `adjudicator` says."""
        self._store = store
        self._clock = clock
        self._adjudicator = adjudicator
        self._said: dict[Owner, Mapping[str, Verdict]] = {}
        self._settings = settings or SupersessionSettings()
        self.cap = Cap(share=0.0, at_least=self._settings.queue.decided_max)

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[QueuedPairs]]:
        """See `Job.steps`: a page of one user's pairs a step; none where the policy leaves them to the user."""
        if not self._is_deciding:
            return
        queue = self._settings.queue
        before = self._clock.now() - timedelta(seconds=queue.age_min_seconds)
        last, position = _parts(after) if after else (owner, None)
        if last is not None:
            async for step in self._of_owner(last, before, position):
                yield step
        if owner is not None:
            return
        while page := await self._store.queued_owners(recorded_before=before, after=last, limit=queue.owners_page):
            for each in page:
                async for step in self._of_owner(each, before, None):
                    yield step
            last = page[-1]

    async def _of_owner(
        self, owner: Owner, before: datetime, position: SupersessionPosition | None
    ) -> AsyncIterator[Step[QueuedPairs]]:
        queue = self._settings.queue
        limit = queue.page_size if self._model is None else queue.model_pairs_max
        try:
            while pairs := await self._store.queued(owner, recorded_before=before, after=position, limit=limit):
                newest = pairs[-1].supersession
                position = SupersessionPosition(newest.create_time, newest.supersession_id)
                if self._model is not None:
                    self._said[owner] = await self._model.verdicts(owner.tenant_id, pairs)
                state = QueuedPairs([(pair, self._verdict(owner, pair)) for pair in pairs])
                yield Step(state, _cursor(owner, position), owner, memory_count=len(pairs))
        finally:
            self._said.pop(owner, None)

    def plan(self, state: QueuedPairs, now: datetime) -> Sequence[Change]:  # noqa: ARG002
        """See `Job.plan`: one change for each pair about which the policy says something."""
        return [_change(pair, verdict) for pair, verdict in state.pairs if verdict is not None]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. A pair that was decided about meanwhile stays, and so does one whose facts changed."""
        if owner is None:
            return []
        planned = {change.target: change.facts["decision"] for change in changes}

        def judge(pair: QueuedPair) -> Verdict | None:
            verdict = self._verdict(owner, pair)
            is_same = verdict is not None and _number(verdict) == planned[pair.supersession.supersession_id]
            return verdict if is_same else None

        decided = await self._store.decide_queued(owner, list(planned), judge)
        made = {one.supersession_id for one in decided}
        return [change for change in changes if change.target in made]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`: pairs that nobody decided about since wait for the user."""
        return 0 if owner is None else await self._store.reopen(owner, [change.target for change in changes])

    @property
    def _model(self) -> Adjudicator | None:
        return self._adjudicator if self._settings.policy is QueuePolicy.LANGUAGE_MODEL else None

    @property
    def _is_deciding(self) -> bool:
        return is_deciding(self._settings.policy, has_model=self._model is not None and self._model.is_configured)

    def _verdict(self, owner: Owner, pair: QueuedPair) -> Verdict | None:
        if self._model is None:
            return verdict_of(self._settings.policy, pair)
        return self._said.get(owner, {}).get(pair.supersession.supersession_id)


def _change(pair: QueuedPair, verdict: Verdict) -> Change:
    marks = verdict.decision not in {Decision.BOTH_STAND, None}
    facts = {"decision": _number(verdict), "by": int(verdict.by)}
    return Change(_DECIDE, pair.supersession.supersession_id, int(marks), facts)


def _number(verdict: Verdict) -> int:
    return 0 if verdict.decision is None else int(verdict.decision)


def _cursor(owner: Owner, position: SupersessionPosition) -> str:
    return json.dumps([owner.tenant_id, owner.user_id, position.create_time.isoformat(), position.supersession_id])


def _parts(cursor: str) -> tuple[Owner, SupersessionPosition]:
    tenant_id, user_id, create_time, supersession_id = json.loads(cursor)
    position = SupersessionPosition(datetime.fromisoformat(create_time), supersession_id)
    return Owner(TenantId(tenant_id), UserId(user_id)), position
