"""Brings vectors of a former embedding model over to the present one, where they are stored beside their texts.

Vectors of different models cannot be compared, so a search passes over those of a former model. `ReembedRows` makes
them anew while the tier is used; `FormerVectors` knows until then whose searches lack something.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import structlog

from services.common.embedding.vectors import Matrix
from services.common.maintenance import Cap, Change, Step
from services.common.owners import Owner, TenantId, UserId
from services.common.settings_types import Count, Seconds
from services.common.tier_embedder import TierEmbedder

_log = structlog.get_logger(__name__)

_KNOWN_MAX: Final = 20_000
"""Owners known to lack nothing, above which all are asked for anew."""


@dataclass(frozen=True, slots=True)
class ModelChangeSettings:
    """How vectors of a former embedding model are made anew."""

    batch_max: Count = 64
    """Facts or notes of a user that are embedded at once and written in one transaction."""
    owners_page: Count = 100
    """Users listed by one statement."""
    retry_seconds: Seconds = 60.0
    """Between two looks while there are vectors of a former model."""
    idle_seconds: Seconds = 3_600.0
    """Between two looks while there are none."""
    compared_rows_max: Count = 1_000
    """Facts or notes of a user that two models are compared on, the newest ones."""
    compared_questions_max: Count = 50
    """Questions in one request that compares two models."""
    compared_query_chars_max: Count = 8_000
    """One of these questions."""
    compared_ids_max: Count = 200
    """Right facts or notes that are named with one of them."""


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """What a vector is of."""

    row_id: str
    version: str  # another one whenever the text is another one
    text: str


class FormerVectorStore(Protocol):
    """What every driver must do. `tests/contract/former_vectors.py` is the suite that it passes.

    Rows are those of any status. All methods raise `StoreUnavailable`.
    """

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """Users of all tenants with vectors of another model than this, by tenant and user, behind the one named."""
        ...

    async def lacks(self, owner: Owner, *, model: str) -> bool:
        """Whether a search by vectors of this model passes over an active row of the user."""
        ...

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        """Ids of rows with vectors of another model than this, greatest first, below one ("" for all).

        Ids sort by the time at which the rows were made, so that the newest come first.
        """
        ...

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        """The texts of those of the rows that are there, in any order."""
        ...

    async def replace(self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str) -> set[str]:
        """Gives rows other vectors, in one transaction under the user's lock that refuses a void claim.

        A row whose text is another one by now stays as it is. Searches of all replicas use the new vectors from then
        on. Nothing else of a row changes: an etag that a client has read stays valid.

        Returns:
            The rows that have their new vector.
        """
        ...


class ReembedRows:
    """Job: embeds anew what has a vector of a former model, user by user, the newest first."""

    cap = Cap()  # it retires nothing

    def __init__(
        self, name: str, store: FormerVectorStore, embedder: TierEmbedder, settings: ModelChangeSettings
    ) -> None:
        """The job of this name replaces in `store` what is not of the model of `embedder`."""
        self.name = name
        self._store = store
        self._embedder = embedder
        self._settings = settings

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Sequence[str]]]:
        """See `Job.steps`: a batch of one user a step. A run that goes on begins behind the batch it was at."""
        last: Owner | None = None
        if after:
            last, before = _place(after)
            if owner in {None, last}:
                async for step in self._batches(last, before):
                    yield step
        elif owner is not None:
            async for step in self._batches(owner, ""):
                yield step
        if owner is not None:
            return
        model, limit = self._embedder.model_id, self._settings.owners_page
        while page := await self._store.owners(model=model, after=last, limit=limit):
            for last in page:
                async for step in self._batches(last, ""):
                    yield step

    async def _batches(self, owner: Owner, before: str) -> AsyncIterator[Step[Sequence[str]]]:
        model, limit = self._embedder.model_id, self._settings.batch_max
        while row_ids := await self._store.former(owner, model=model, before=before, limit=limit):
            before = row_ids[-1]
            yield Step(row_ids, _cursor(owner, before), owner, len(row_ids))

    def plan(self, state: Sequence[str], now: datetime) -> Sequence[Change]:
        """See `Job.plan`."""
        del now
        return [Change("embed_again", row_id) for row_id in state]

    async def apply(self, owner: Owner | None, changes: Sequence[Change]) -> Sequence[Change]:
        """See `Job.apply`. What is written meanwhile has a vector of the present model already, or waits for a run."""
        if owner is None:
            return []
        texts = await self._store.texts(owner, [change.target for change in changes])
        if not texts:
            return []
        vectors = await self._embedder.embed([each.text for each in texts])
        made = await self._store.replace(owner, texts, vectors, model=self._embedder.model_id)
        return [change for change in changes if change.target in made]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: the way back is a start with the former model."""
        del owner, changes
        return 0


class FormerVectors:
    """Knows whose searches lack something, and has it brought over. Belongs to one event loop."""

    def __init__(
        self, store: FormerVectorStore, model: str, settings: ModelChangeSettings, *, settle_seconds: float = 0.0
    ) -> None:
        """Look in `store` for vectors that are not of `model`.

        For `settle_seconds` after vectors begin to be brought over, and while they are not, other processes may write
        with another model: nothing is taken as whole for longer than one question then.
        """
        self._store = store
        self._model = model
        self._settings = settings
        self._settle_seconds = settle_seconds
        self._is_settled = not settle_seconds
        self._may_remain = True
        self._whole: set[Owner] = set()

    async def lacks(self, owner: Owner) -> bool:
        """Whether searches pass over some of the owner's rows because their vectors are of a former model.

        Costs nothing once a look has found that no such vectors are left.

        Raises:
            StoreUnavailable: The store cannot be read.
        """
        if not self._is_settled:
            return await self._store.lacks(owner, model=self._model)
        if not self._may_remain or owner in self._whole:
            return False
        if await self._store.lacks(owner, model=self._model):
            return True
        if len(self._whole) >= _KNOWN_MAX:
            self._whole.clear()
        self._whole.add(owner)
        return False

    async def look(self) -> bool:
        """Whether there are vectors of a former model, of any user."""
        found = await self._store.owners(model=self._model, after=None, limit=self._settings.owners_page)
        if found and not self._may_remain:
            self._whole.clear()  # rows came back with vectors of a former model, from a copy or another replica
        self._may_remain = bool(found)
        return self._may_remain

    async def keep_bringing_over(self, run: Callable[[], Awaitable[object]]) -> None:
        """Looks again and again, and has `run` bring over what is found."""
        try:
            await self._settle(run)
            while True:
                await self._bring_over(run)
                remains = await self.look()
                await asyncio.sleep(self._settings.retry_seconds if remains else self._settings.idle_seconds)
        finally:
            self._is_settled = not self._settle_seconds
            self._may_remain = True
            self._whole.clear()

    async def _settle(self, run: Callable[[], Awaitable[object]]) -> None:
        """Looks more often, as long as other processes may write with a former model."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._settle_seconds
        while (left := end - loop.time()) > 0:
            await self._bring_over(run)
            await asyncio.sleep(min(left, self._settings.retry_seconds, self._settle_seconds / 3))
        self._is_settled = True

    async def _bring_over(self, run: Callable[[], Awaitable[object]]) -> None:
        if await self.look():
            _log.info("vectors of a former embedding model are made anew", model=self._model)
            await run()


def _cursor(owner: Owner, before: str) -> str:
    return json.dumps([owner.tenant_id, owner.user_id, before])


def _place(cursor: str) -> tuple[Owner, str]:
    tenant_id, user_id, before = json.loads(cursor)
    return Owner(TenantId(tenant_id), UserId(user_id)), before
