"""Late interaction of a query with candidates: which of them are compared, and what becomes of a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt
import structlog

from services.common.cache import OwnerCache
from services.common.embedding.tokens import TokenSpace, TokenVectors
from services.common.errors import MnemeError
from services.episodic.candidates import Candidates
from services.episodic.config import TokenSettings
from services.episodic.late_interaction import LateScores, late_scores
from services.episodic.model import Owner
from services.episodic.token_cache import TokenCache
from services.episodic.token_store import TokenStore

_log = structlog.get_logger(__name__)

_CHARS_PER_TOKEN: Final = 4
"""Of English prose, about."""
_THREAD_FROM_BYTES: Final = 4 * 1024 * 1024
"""Vectors whose comparison would make other requests wait. Below, a thread costs more than it saves."""


class TokenSearch:
    """Compares the words of queries with those of candidates. It never fails: then there are no scores."""

    def __init__(self, store: TokenStore, space: TokenSpace, cache: OwnerCache, settings: TokenSettings) -> None:
        """Compare token vectors of `space` that are in `store`, and cache some."""
        self._space = space
        self._settings = settings
        self._cache = TokenCache(store, space, cache, settings)

    def forget(self, owner: Owner) -> None:
        """Drop what is cached of an owner, of whose episodes some were removed."""
        self._cache.forget(owner)

    async def aclose(self) -> None:
        """Stop what reads in the background. Closing twice is allowed."""
        await self._cache.aclose()

    async def scores(self, owner: Owner, query: TokenVectors, found: Candidates) -> LateScores | None:
        """How the query's words meet the candidates; None where nothing can be said.

        Compared are the best candidates by the coarse scores, as many as the bound on bytes allows by the lengths of
        their texts: so the result does not depend on what happens to be cached.
        """
        limit = self._settings.query_tokens_max
        query = TokenVectors(query.fingerprint, query.ids[:limit], query.vectors[:limit])
        if query.fingerprint != self._space.fingerprint or not len(query) or not len(found.columns):
            return None
        chosen = _chosen(found, self._space.dimension + 2, self._settings.search_bytes_max)
        columns = found.columns
        try:
            async with asyncio.timeout(self._settings.read_timeout_seconds):
                tokens, places = await self._cache.read(owner, [columns.episode_ids[i] for i in chosen])
        except (MnemeError, TimeoutError) as error:
            _log.warning("token vectors cannot be read", error=type(error).__name__)
            return None
        work = partial(late_scores, query, tokens, [chosen[place] for place in places], count=len(columns))
        if tokens is None or tokens.vectors.nbytes < _THREAD_FROM_BYTES:
            return work()
        return await asyncio.to_thread(work)


def _chosen(found: Candidates, token_bytes: int, bytes_max: int) -> Sequence[int]:
    """Candidates whose token vectors may be read: all, or the best, ties by id."""
    # One token at least, and as many as a text of this length has.
    sizes = token_bytes * (1 + np.array(found.columns.lengths, dtype=np.int64) // _CHARS_PER_TOKEN)
    if sizes.sum() <= bytes_max:
        return range(len(sizes))
    coarse = _standardised(found.dense_scores) + _standardised(found.lexical_scores)
    order = [
        i for _, _, i in sorted(zip((-coarse).tolist(), found.columns.episode_ids, range(len(coarse)), strict=True))
    ]
    return order[: int(np.searchsorted(np.cumsum(sizes[order]), bytes_max, side="right"))]


def _standardised(values: list[float]) -> npt.NDArray[np.float64]:
    column = np.array(values, dtype=np.float64)
    deviation = float(column.std())
    return (column - column.mean()) / deviation if deviation > 0 else np.zeros_like(column)
