"""The model that a process serves with, and how it follows the choice that is shared by all processes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from services.common.background import BackgroundWork, every
from services.common.errors import FailedPrecondition, MnemeError
from services.common.serving_model.store import ModelHolder, ServingModelStore, ServingState
from services.common.settings_types import Seconds

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServingModelSettings:
    """How a process follows the shared choice of the embedding model."""

    follow_seconds: Seconds = 1.0
    """Between two looks at the choice, while the process holds two models: how long it may lag behind a cut-over."""
    report_seconds: Seconds = 15.0
    """Between two reports of what a process holds. Processes that missed three of them do not count."""
    settle_seconds: Seconds = 30.0
    """After a cut-over until no process is expected to write with the former model any more; above `follow_seconds`."""

    @property
    def counted_seconds(self) -> float:
        """How old the last report of a process may be that counts as running."""
        return 3.0 * self.report_seconds + 1.0


class ServingModel:
    """The one of a process's models that embeds questions and what is written. Belongs to one event loop.

    A process that holds two answers searches with vectors of either; this says which one it makes vectors with itself.
    """

    def __init__(self, models: Sequence[str], settings: ServingModelSettings | None = None) -> None:
        """Serves with the first of `models`, fingerprints, until told otherwise."""
        self.models = tuple(models)
        self.settings = settings or ServingModelSettings()
        self._current = self.models[0]
        self._change = asyncio.Event()

    @property
    def current(self) -> str:
        """Fingerprint of the model that serves now."""
        return self._current

    def follow(self, state: ServingState | None) -> None:
        """Serves as was chosen; where nothing was, or a model that the process does not hold, with the first one."""
        model = state.model if state is not None and state.model in self.models else self.models[0]
        if model == self._current:
            return
        _log.info("embedding_model_changed", former=self._current, model=model)
        self._current = model
        self._change.set()
        self._change = asyncio.Event()

    async def changed(self, since: str) -> None:
        """Returns when another model than `since` serves."""
        while self._current == since:
            await self._change.wait()


@contextlib.asynccontextmanager
async def following(
    store: ServingModelStore,
    models: Sequence[str],
    *,
    service: str,
    process_id: str,
    settings: ServingModelSettings | None = None,
) -> AsyncIterator[ServingModel]:
    """The serving model of a process, which follows the choice in `store` for the length of the block.

    While the store cannot be read the process goes on with what it knows.

    Args:
        store: Where the choice is.
        models: Fingerprints of what the process holds, that of its settings first.
        service: Name of the process in reports.
        process_id: Which process of this name it is.
        settings: How it follows.

    Raises:
        FailedPrecondition: The one model that the process holds is the one that the change went away from.
        StoreUnavailable: The store cannot be read.
    """
    chosen = settings or ServingModelSettings()
    serving = ServingModel(models, chosen)
    serving.follow(await _begin(store, serving.models, counted_seconds=chosen.counted_seconds))

    async def report() -> None:
        await store.report(ModelHolder(process_id, service, serving.models, serving.current))

    async def follow() -> None:
        before = serving.current
        serving.follow(await store.read())
        if serving.current != before:
            await report()

    await report()
    async with BackgroundWork[str]("serving-model") as background:
        if len(serving.models) > 1:
            background.keep_running("follow", every(chosen.follow_seconds, _while_it_can(follow)))
        background.keep_running("report", every(chosen.report_seconds, _while_it_can(report)))
        yield serving
    with contextlib.suppress(MnemeError):
        await store.leave(process_id)


def _while_it_can(step: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """The step, which an outage of the store only delays to the next one: no wait grows."""

    async def run() -> None:
        try:
            await step()
        except MnemeError as error:
            _log.warning("serving_model_unknown", reason=error.reason)

    return run


async def _begin(store: ServingModelStore, models: Sequence[str], *, counted_seconds: float) -> ServingState | None:
    """The choice at the start of a process, after what the start itself says about it."""
    state = await store.read()
    if state is None or (state.model in models and len(models) > 1):
        return state
    own = models[0]
    if state.model == own:
        await store.end(own)
    elif len(models) == 1 and state.former == own:
        raise FailedPrecondition(
            f"the embedding model was cut over to {state.model}: give its folder as MNEME_EMBEDDING_MODEL_DIR, "
            "or go back before (`mneme model back`)"
        )
    elif not any(state.model in holder.models for holder in await store.holders(seconds=counted_seconds)):
        await store.forget(state.model)  # a start of all services with other models is a change by itself
    return state
