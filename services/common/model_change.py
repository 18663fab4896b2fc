"""A change of the embedding model of vectors that are stored with their texts: those of facts and notes.

Vectors of different models cannot be compared, so a search passes over what has no vector of its model. `ReembedRows`
makes those while the tier is used: of the serving model what it lacks, and before a cut-over those of a second model
beside them, where the driver can store two. `FormerVectors` knows until then whose searches lack something, and
`SecondVectors` how many rows a cut-over would lack.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog

from services.common.embedding.vectors import Matrix
from services.common.errors import FailedPrecondition
from services.common.maintenance import Cap, Change, Step
from services.common.owners import Owner, TenantId, UserId
from services.common.settings_types import Count, Seconds
from services.common.tier_embedder import TierEmbedder

_log = structlog.get_logger(__name__)

LACKING_MAX: Final = 10_000
"""Rows that `SecondVectors.count_lacking` counts."""
_OWNERS_AT_ONCE: Final = 100
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
    second_seconds: Seconds = 60.0
    """Between two looks for facts or notes without a vector of the second model, while there is one."""
    last_rows_max: Count = 1_000
    """Facts or notes without such a vector that the check before a cut-over embeds itself, as the last ones."""
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

    Rows are those of any status; one that lacks a model has no vector of it. All methods raise `StoreUnavailable`.
    """

    @property
    def keeps_two(self) -> bool:
        """Whether a row can have vectors of two models."""
        ...

    async def owners(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """Users of all tenants with rows that lack a model, by tenant and user, behind the one named."""
        ...

    async def count(self, *, model: str, limit: int) -> int:
        """How many rows of all tenants lack a model, counted up to a limit."""
        ...

    async def lacks(self, owner: Owner, *, model: str) -> bool:
        """Whether a search by vectors of this model passes over an active row of the user."""
        ...

    async def former(self, owner: Owner, *, model: str, before: str, limit: int) -> Sequence[str]:
        """Ids of rows that lack a model, greatest first, below one ("" for all).

        Ids sort by the time at which the rows were made, so that the newest come first.
        """
        ...

    async def texts(self, owner: Owner, row_ids: Sequence[str]) -> Sequence[EmbeddedText]:
        """The texts of those of the rows that are there, in any order."""
        ...

    async def replace(
        self, owner: Owner, texts: Sequence[EmbeddedText], vectors: Matrix, *, model: str, beside: str = ""
    ) -> set[str]:
        """Gives rows vectors of a model, in one transaction under the user's lock that refuses a void claim.

        Those of other models go, but for the model `beside`, where the store keeps two. A row whose text is another
        one by now stays as it is. Searches of all replicas use the new vectors from then on. Nothing else of a row
        changes: an etag that a client has read stays valid. Whatever gives a row another text takes all its vectors
        away but the one that is written with the text.

        Returns:
            The rows that have their new vector.
        """
        ...

    async def owners_with_others(self, *, model: str, after: Owner | None, limit: int) -> Sequence[Owner]:
        """Users of all tenants with rows that have a vector of this model and one of another, as `owners`."""
        ...

    async def drop_others(self, owner: Owner, *, model: str) -> int:
        """Removes vectors of other models from the user's rows that have one of this model; how many rows had some."""
        ...


class ReembedRows:
    """Job: embeds what has no vector of a model, user by user, the newest first."""

    cap = Cap()  # it retires nothing

    def __init__(
        self,
        name: str,
        store: FormerVectorStore,
        embedder: TierEmbedder,
        settings: ModelChangeSettings,
        *,
        beside: TierEmbedder | None = None,
    ) -> None:
        """The job of this name makes in `store` what lacks the model of `embedder`.

        Vectors of other models are replaced, but for those of `beside`.
        """
        self.name = name
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._beside = "" if beside is None else beside.model_id

    async def steps(self, *, after: str, owner: Owner | None) -> AsyncIterator[Step[Sequence[str]]]:
        """See `Job.steps`: a batch of one user a step. A run that goes on begins behind the batch it was at."""
        last: Owner | None = None
        if (place := self._place(after)) is not None:
            last, before = place
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
            yield Step(row_ids, self._cursor(owner, before), owner, len(row_ids))

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
        model = self._embedder.model_id
        made = await self._store.replace(owner, texts, vectors, model=model, beside=self._beside)
        return [change for change in changes if change.target in made]

    async def undo(self, owner: Owner | None, changes: Sequence[Change]) -> int:
        """See `Job.undo`. There is nothing to take back: the way back is another cut-over."""
        del owner, changes
        return 0

    def _cursor(self, owner: Owner, before: str) -> str:
        """Names the model as well: a run of before a cut-over, which made vectors of the other one, does not go on."""
        return json.dumps([owner.tenant_id, owner.user_id, before, self._embedder.model_id])

    def _place(self, cursor: str) -> tuple[Owner, str] | None:
        if not cursor:
            return None
        tenant_id, user_id, before, *model = json.loads(cursor)  # without a model, of an earlier release
        if model and model != [self._embedder.model_id]:
            return None
        return Owner(TenantId(tenant_id), UserId(user_id)), before


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


class SecondVectors:
    """Has rows embedded by the second model beside the first, and says what a cut-over would lack."""

    def __init__(
        self,
        name: str,
        store: FormerVectorStore,
        first: TierEmbedder,
        second: TierEmbedder | None,
        settings: ModelChangeSettings,
    ) -> None:
        """Rows are in `store`; `first` is the model that serves. The job that makes vectors of `second` has a name."""
        self._store = store
        self._first = first
        self._settings = settings
        self.model = second
        """The second model, where there is one."""
        self.fill: ReembedRows | None = None
        """The job; None where there is no second model, or the store keeps one vector of a row."""
        if second is not None and store.keeps_two:
            self.fill = ReembedRows(name, store, second, settings, beside=first)

    async def keep_filling(self, run: Callable[[ReembedRows], Awaitable[object]]) -> None:
        """Looks again and again for rows without a vector of the second model, and has `run` run the job on them."""
        while self.model is not None and self.fill is not None:
            if await self._store.owners(model=self.model.model_id, after=None, limit=1):
                await run(self.fill)
            await asyncio.sleep(self._settings.second_seconds)

    async def count_lacking(self, model: str) -> int:
        """How many rows a cut-over to a model would lack; `LACKING_MAX` where there are more.

        Where they are few they are embedded here, and none is counted then: what is written since is embedded after
        the cut-over. So are all rows of a store that keeps one vector of each, of which none is counted either.

        Raises:
            FailedPrecondition: The tier does not hold the model.
            StoreUnavailable: The store cannot be used, or the model.
        """
        is_first = model == self._first.model_id
        if not is_first and (self.model is None or model != self.model.model_id):
            raise FailedPrecondition(f"the tier does not hold the embedding model {model}")
        if self.fill is None:
            return 0
        count = await self._store.count(model=model, limit=LACKING_MAX)
        if is_first or count > self._settings.last_rows_max:
            return count  # those of the first model are embedded by another job already
        async for step in self.fill.steps(after="", owner=None):
            await self.fill.apply(step.owner, self.fill.plan(step.state, datetime.now(UTC)))
        return 0


async def count_owners_with_others(store: FormerVectorStore, *, model: str) -> int:
    """Of how many users `drop_former_vectors` would remove vectors.

    Raises:
        StoreUnavailable: The store cannot be read.
    """
    count = 0
    after: Owner | None = None
    while page := await store.owners_with_others(model=model, after=after, limit=_OWNERS_AT_ONCE):
        count, after = count + len(page), page[-1]
    return count


async def drop_former_vectors(store: FormerVectorStore, *, model: str) -> int:
    """Removes what is left of other models than one from rows of all users that have a vector of this one.

    Returns:
        From how many rows. May be interrupted and repeated.

    Raises:
        StoreUnavailable: The store cannot be used.
    """
    count = 0
    after: Owner | None = None
    while page := await store.owners_with_others(model=model, after=after, limit=_OWNERS_AT_ONCE):
        for after in page:
            count += await store.drop_others(after, model=model)
    return count
