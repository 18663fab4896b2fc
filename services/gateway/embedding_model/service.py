"""Use cases of the serving model: how things stand, and the cut-over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.auth import Principal
from services.common.clock import Clock
from services.common.errors import FailedPrecondition
from services.common.idempotency.model import RETENTION_SECONDS, Idempotency, IdempotencyKey, IdempotencyRecords
from services.common.owners import UserId
from services.common.serving_model.following import ServingModel
from services.common.serving_model.store import Choose, ModelHolder, ServingModelStore, ServingState

CountLacking = Callable[[Principal, str, float], Awaitable[int]]
"""How much of a tier lacks a model: for a principal, a model, within so many seconds."""

_NAMED_MAX: Final = 5
"""Processes that an error names."""


@dataclass(frozen=True, slots=True)
class TierCheck:
    """What a cut-over would lack in one tier."""

    count: CountLacking
    what: str  # is counted, such as "facts"
    count_max: int  # where counting ends
    job: str  # makes what is lacking

    def lacking(self, count: int) -> str:
        """What is lacking, in words."""
        return f"{self.what.format(count)}{' or more' if count >= self.count_max else ''}"


@dataclass(frozen=True, slots=True)
class ModelsState:
    """How things stand."""

    serving: str
    choice: ServingState | None  # None where no cut-over was made
    held: tuple[str, ...]  # by this process
    holders: Sequence[ModelHolder]


class EmbeddingModels:
    """Cuts over from one model to another, for all processes at once."""

    def __init__(
        self,
        store: ServingModelStore,
        serving: ServingModel,
        checks: Sequence[TierCheck],
        *,
        clock: Clock,
        retention_seconds: float = RETENTION_SECONDS,
    ) -> None:
        """The choice is in `store`; this process follows it by `serving`. A cut-over passes the checks before."""
        self._store = store
        self._serving = serving
        self._checks = checks
        self._clock = clock
        self._requests = Idempotency(ModelsState, retention_seconds=retention_seconds)

    async def state(self) -> ModelsState:
        """How things stand.

        Raises:
            StoreUnavailable: The choice cannot be read.
        """
        choice = await self._store.read()
        self._serving.follow(choice)
        holders = await self._store.holders(seconds=self._serving.settings.counted_seconds)
        return ModelsState(self._serving.current, choice, tuple(self._serving.models), holders)

    async def cut_over(
        self, principal: Principal, key: IdempotencyKey, model: str, *, allow_gaps: bool, seconds_left: float
    ) -> ModelsState:
        """Makes a model serve that all running processes hold; nothing where it serves already.

        Returns:
            How things stand after it; for a repeat, how they stood after the first request.

        Raises:
            InvalidArgument: The request id was used for another request.
            FailedPrecondition: A process does not hold the model, or episodes, facts or notes lack it.
            StoreUnavailable: The choice cannot be read or made; it is one or the other.
        """

        async def find(records: IdempotencyRecords, _: Choose) -> ModelsState | None:
            return await self._requests.first(records, key)

        first = await self._store.choosing(principal.tenant_id, find)
        if first is not None:
            return first
        state = await self.state()
        if state.serving != model:
            self._require_held(model, state)
            if not allow_gaps:
                await self._require_whole(principal, model, seconds_left)

        async def run(records: IdempotencyRecords, choose: Choose) -> ModelsState:
            async def work() -> ModelsState:
                if state.serving == model:
                    return state
                return replace(state, serving=model, choice=await choose(model, state.serving))

            # The request is about no user, and its response holds nothing of any.
            return await self._requests.run(
                records, key, work, now=self._clock.now(), user_id=UserId(""), resource_id=lambda _: model
            )

        chosen = await self._store.choosing(principal.tenant_id, run)
        self._serving.follow(await self._store.read())
        return chosen

    async def _require_whole(self, principal: Principal, model: str, seconds_left: float) -> None:
        counts = await asyncio.gather(*(check.count(principal, model, seconds_left) for check in self._checks))
        lacking = [(check, count) for check, count in zip(self._checks, counts, strict=True) if count]
        if lacking:
            raise FailedPrecondition(
                f"the model {model} lacks {', '.join(check.lacking(count) for check, count in lacking)}: wait until "
                f"{', '.join(check.job for check, _ in lacking)} has run to its end, or allow gaps"
            )

    def _require_held(self, model: str, state: ModelsState) -> None:
        if model not in state.held:
            raise FailedPrecondition(
                f"the gateway does not hold the model {model}, but {', '.join(state.held)}: "
                "start all services with its folder as MNEME_EMBEDDING_SECOND_MODEL_DIR"
            )
        lacking = [f"{holder.service} ({holder.process_id})" for holder in state.holders if model not in holder.models]
        if lacking:
            raise FailedPrecondition(
                f"{len(lacking)} processes do not hold the model {model}: {', '.join(lacking[:_NAMED_MAX])}; "
                "a process that was killed counts for a minute"
            )
