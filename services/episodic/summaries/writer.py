"""The worker that replaces extractive summaries by those of a language model, once episodes are active."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable

import structlog

from services.common.background import BackgroundWork
from services.common.errors import MnemeError
from services.common.owners import TenantId
from services.common.summaries import Summariser
from services.episodic.store import EpisodeStore
from services.episodic.summaries.config import ModelSummarySettings
from services.episodic.summaries.model_summaries import ModelSummaries
from services.episodic.token_store import EpisodeName

_log = structlog.get_logger(__name__)


class SummaryWriter:
    """Holds the names of episodes alone, and reads their texts when it is their turn: what was erased is sent nowhere.

    Nothing waits for it: each episode is active with its extractive summary before. The names are in memory, so what
    waits when the process ends keeps that summary for good. Belongs to one event loop.
    """

    def __init__(
        self,
        store: EpisodeStore,
        summariser: Summariser,
        model: ModelSummaries,
        settings: ModelSummarySettings | None = None,
    ) -> None:
        """Replace summaries of `summariser` in `store` by those of `model`."""
        self._store = store
        self._summariser = summariser
        self._model = model
        self._settings = settings or ModelSummarySettings()
        # By tenant, whose turn it is first: one that stores much does not keep others waiting.
        self._waiting: OrderedDict[TenantId, deque[EpisodeName]] = OrderedDict()
        self._work = asyncio.Event()

    @property
    def waiting_count(self) -> int:
        """Episodes that wait."""
        return sum(map(len, self._waiting.values()))

    def start(self, background: BackgroundWork[str]) -> None:
        """Write until `background` is closed."""
        if self._model.is_on:
            background.keep_running("write-summaries", self._run)

    def add(self, names: Iterable[EpisodeName]) -> None:
        """Queue active episodes that have an extractive summary, which they keep where the queue is full."""
        if not self._model.is_on:
            return
        count = self.waiting_count
        dropped = 0
        for name in names:
            of_tenant = self._waiting.get(name.owner.tenant_id, ())
            if count >= self._settings.waiting_max or len(of_tenant) >= self._settings.tenant_waiting_max:
                dropped += 1
                continue
            self._waiting.setdefault(name.owner.tenant_id, deque()).append(name)
            count += 1
        if dropped:
            _log.info("summaries_left_to_rules", count=dropped)
        if count:
            self._work.set()

    async def write_next(self) -> int:
        """Write the summaries of the next episodes, at once, and return how many were looked at; 0 when none wait."""
        names = self._next()
        await asyncio.gather(*map(self._try_write, names))
        return len(names)

    async def _run(self) -> None:
        while True:
            self._work.clear()
            if not await self.write_next():
                await self._work.wait()

    def _next(self) -> list[EpisodeName]:
        names: list[EpisodeName] = []
        while self._waiting and len(names) < self._settings.requests_max:
            tenant_id, of_tenant = self._waiting.popitem(last=False)
            names.append(of_tenant.popleft())
            if of_tenant:
                self._waiting[tenant_id] = of_tenant
        return names

    async def _try_write(self, name: EpisodeName) -> None:
        try:
            await self._write(name)
        except MnemeError as error:
            _log.warning("a summary cannot be written", reason=error.reason)
        except Exception:
            _log.exception("a summary cannot be written")

    async def _write(self, name: EpisodeName) -> None:
        episode = (await self._store.get(name.owner, [name.episode_id])).get(name.episode_id)
        if episode is None:
            return
        text = episode.content.text
        chosen = await asyncio.to_thread(self._summariser.summarise, text)
        if not chosen or episode.summary != chosen:
            return  # it was written meanwhile
        summary = await self._model.summary_of(name.owner.tenant_id, text, chosen)
        if summary:
            await self._store.put_summary(name.owner, name.episode_id, summary)
