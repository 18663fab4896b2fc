"""The coarse search of a retrieval pipeline: dense and lexical hits, their neighbours, exact scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
import structlog

from services.common.cache import OwnerCache
from services.common.embedding.tokens import TokenVectors
from services.common.errors import StoreUnavailable
from services.common.scope import Reader
from services.episodic.columns import EpisodeColumns
from services.episodic.late_interaction import LateScores
from services.episodic.model import EpisodeId, EpisodeKey, Owner, neighbour_keys
from services.episodic.snapshots import SnapshotCache
from services.episodic.store import EpisodeIndex, EpisodeStore, EpisodeUse, IndexQuery, RetrieverHits, Vector

_log = structlog.get_logger(__name__)

_LOST_CHECKED_MAX: Final = 100
"""Episodes without a hit that are looked up in the index once more before they count as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateQuery:
    """What is looked for, with every default filled in."""

    owner: Owner
    text: str
    vector: Vector
    scope_keys: Sequence[str]  # of the places that the reader sees
    retriever_limit: int  # hits of each retriever
    neighbour_seeds: int  # hits whose neighbours are added
    neighbour_radius: int  # turns before and after
    include: Sequence[EpisodeId] = ()  # scored whether or not a retriever finds them
    with_statistics: bool = False  # also read how they were used
    tokens: TokenVectors | None = None  # of the query, for late interaction
    archived_after: datetime | None = None  # also episodes that were archived later; None: only active ones
    spans: Sequence[tuple[datetime, datetime]] = ()  # times that the question names: from, and until exclusively
    reader: Reader | None = None  # who sees the places of `scope_keys`, where spans are given


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What the store knows of the candidates' use; entry i of each list belongs to candidate i."""

    uses: list[EpisodeUse]
    decay_factors: list[float]  # in (0, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Raw evidence; entry i of each list belongs to candidate i. No particular order."""

    columns: EpisodeColumns
    dense_scores: list[float]  # best cosine similarity of the candidate's pieces
    lexical_scores: list[float]  # best BM25 of its pieces, 0 without a shared term
    dense_ranks: list[int]  # from 1, 0 if the retriever did not return it
    lexical_ranks: list[int]
    degraded: bool = False  # the index failed, or lacks episodes that are searchable
    active_count: int = 0  # active episodes that the reader sees, candidates or not; a lower bound where not counted
    statistics: Statistics | None = None  # where the query wants them
    late: LateScores | None = None  # late interaction, where the query wants it and there are token vectors


class CandidateSearch:
    """Runs the search over the two ports. The store decides what exists, the index only how it scores."""

    def __init__(
        self,
        store: EpisodeStore,
        index: EpisodeIndex,
        cache: OwnerCache | None = None,
        *,
        cached_episodes_max: int = 200_000,
        report_loss: Callable[[], None] = lambda: None,
        on_removal: Callable[[Owner], None] = lambda _: None,
    ) -> None:
        """Search in `index`, with the truth in `store`.

        Args:
            store: Decides what exists.
            index: Decides how it scores.
            cache: The process's; None: one of its own.
            cached_episodes_max: Columns of an owner with more episodes are not cached.
            report_loss: Called when the index may have lost episodes.
            on_removal: Called when episodes of an owner were found to be removed.
        """
        self._store = store
        self._index = index
        self._report_loss = report_loss
        self._snapshots = SnapshotCache(
            store, cache or OwnerCache(), owner_episodes_max=cached_episodes_max, on_removal=on_removal
        )
        self._uncounted_min = cached_episodes_max

    async def search(self, query: CandidateQuery) -> Candidates:
        """The candidates of a query.

        Where the index fails, the result is that of the store's own word search, marked `degraded`. Where it lacks
        episodes of the owner, the result is of both, marked too: what was lost is still found by its words.

        Raises:
            StoreUnavailable: The store fails.
        """
        index_query = IndexQuery(owner=query.owner, text=query.text, vector=query.vector, scope_keys=query.scope_keys)
        try:
            snapshot = await self._snapshots.current(query.owner)
            hits = await self._index.search(index_query, limit=query.retriever_limit)
            if snapshot is None:
                return await self._from_store(query, index_query, hits)
            seeds = best_keys(hits, query.neighbour_seeds)
            wanted = (*snapshot.keys_of(query.include), *neighbour_keys(seeds, query.neighbour_radius))
            added = snapshot.visible(_missing(wanted, hits), query.scope_keys)
            exact = await self._exact_scores(index_query, hits, added)
            columns = snapshot.columns(_every(hits, added), query.scope_keys)
            found = _assembled(
                columns,
                hits,
                exact,
                active_count=snapshot.count(query.scope_keys),
            )
            active = snapshot.every(query.scope_keys) if hits.dense_complete else ()
            lost = snapshot.indexing_again or await self._has_lost(index_query, hits, active)
            return await self._completed(query, found) if lost or found.degraded else found
        except StoreUnavailable as error:
            _log.warning("episodes are searched without the index", error=str(error))
            self._report_loss()
            return await self._degraded(query)

    async def of_times(
        self, query: CandidateQuery, spans: Sequence[tuple[float, float]], *, limit: int
    ) -> list[EpisodeId] | None:
        """See `Snapshot.of_times`; None where the owner has too many episodes for the cache."""
        snapshot = await self._snapshots.current(query.owner)
        return None if snapshot is None else snapshot.of_times(spans, query.scope_keys, limit=limit)

    async def with_episodes(self, query: CandidateQuery, found: Candidates, ids: Sequence[EpisodeId]) -> Candidates:
        """Candidates of a query with further episodes, as far as they are active, in its scopes and in the index.

        No retriever returned them, so they have scores and no ranks. Where the index fails, none is added.

        Raises:
            StoreUnavailable: The store fails.
        """
        columns = await self._store.columns_of(query.owner, ids, scope_keys=query.scope_keys)
        known = set(found.columns.keys)
        keys = [key for key in columns.keys if key not in known]
        if not keys:
            return found
        index_query = IndexQuery(owner=query.owner, text=query.text, vector=query.vector, scope_keys=query.scope_keys)
        try:
            exact = await self._index.score(index_query, dense=keys, lexical=keys)
        except StoreUnavailable:
            return replace(found, degraded=True)
        added = columns.selected([i for i, key in enumerate(columns.keys) if key not in known and key in exact.dense])
        nothing = [0] * len(added)
        return replace(
            found,
            columns=found.columns.joined(added),
            dense_scores=[*found.dense_scores, *(exact.dense[key] for key in added.keys)],
            lexical_scores=[*found.lexical_scores, *(exact.lexical.get(key, 0.0) for key in added.keys)],
            dense_ranks=[*found.dense_ranks, *nothing],
            lexical_ranks=[*found.lexical_ranks, *nothing],
            active_count=max(found.active_count, len(known) + len(added)),
        )

    async def _from_store(self, query: CandidateQuery, index_query: IndexQuery, hits: RetrieverHits) -> Candidates:
        """The candidates of an owner with too many episodes for the cache."""
        included = await self._store.columns_of(query.owner, query.include, scope_keys=query.scope_keys)
        seeds = best_keys(hits, query.neighbour_seeds)
        added = _missing((*included.keys, *neighbour_keys(seeds, query.neighbour_radius)), hits)
        exact = await self._exact_scores(index_query, hits, added)
        columns = await self._store.columns_at(query.owner, _every(hits, added), scope_keys=query.scope_keys)
        # So many are not counted each time: there are more than this.
        found = _assembled(columns, hits, exact, active_count=self._uncounted_min)
        lost = found.degraded or await self._store.is_indexing_again(query.owner)
        if not lost and hits.dense_complete:
            active, _ = await self._store.matching_columns(
                query.owner, query.text, scope_keys=query.scope_keys, limit=_LOST_CHECKED_MAX
            )
            lost = await self._has_lost(index_query, hits, active.keys)
        return await self._completed(query, found) if lost else found

    async def _has_lost(self, index_query: IndexQuery, hits: RetrieverHits, active: Iterable[EpisodeKey]) -> bool:
        """Whether hits that are all the index has for the reader lack active episodes."""
        if not hits.dense_complete:
            return False
        missing = [key for key in active if key not in hits.dense][:_LOST_CHECKED_MAX]
        if not missing:
            return False
        # They may have become active since the search: look again.
        again = await self._index.score(index_query, dense=missing, lexical=())
        has_lost = any(key not in again.dense for key in missing)
        if has_lost:
            self._report_loss()
        return has_lost

    async def _completed(self, query: CandidateQuery, found: Candidates) -> Candidates:
        """With what the store finds by words, for an index that lacks some of the owner's episodes."""
        by_words = await self._degraded(query)
        known = set(found.columns.keys)
        further = [i for i, key in enumerate(by_words.columns.keys) if key not in known]
        return Candidates(
            active_count=max(found.active_count, len(known) + len(further)),
            columns=found.columns.joined(by_words.columns.selected(further)),
            dense_scores=[*found.dense_scores, *(0.0 for _ in further)],
            lexical_scores=[*found.lexical_scores, *(by_words.lexical_scores[i] for i in further)],
            dense_ranks=[*found.dense_ranks, *(0 for _ in further)],
            lexical_ranks=[*found.lexical_ranks, *(by_words.lexical_ranks[i] for i in further)],
            degraded=True,
        )

    async def _exact_scores(
        self, index_query: IndexQuery, hits: RetrieverHits, added: Sequence[EpisodeKey]
    ) -> RetrieverHits:
        """Scores of what a retriever did not return. A complete one has returned everything that has a score."""
        lexical_only = [key for key in hits.lexical if key not in hits.dense]
        dense_only = [key for key in hits.dense if key not in hits.lexical]
        return await self._index.score(
            index_query,
            dense=() if hits.dense_complete else [*lexical_only, *added],
            lexical=() if hits.lexical_complete else [*dense_only, *added],
        )

    async def _degraded(self, query: CandidateQuery) -> Candidates:
        found, scores = await self._store.matching_columns(
            query.owner, query.text, scope_keys=query.scope_keys, limit=query.retriever_limit
        )
        ranks = [rank if score > 0 else 0 for rank, score in enumerate(scores, start=1)]
        if query.include:
            included = await self._store.columns_of(query.owner, query.include, scope_keys=query.scope_keys)
            known = set(found.keys)
            further = [i for i, key in enumerate(included.keys) if key not in known]
            found = found.joined(included.selected(further))
            scores = [*scores, *(0.0 for _ in further)]
            ranks = [*ranks, *(0 for _ in further)]
        return Candidates(
            active_count=len(found),
            columns=found,
            dense_scores=[0.0] * len(found),
            lexical_scores=scores,
            dense_ranks=[0] * len(found),
            lexical_ranks=ranks,
            degraded=True,
        )


def best_keys(hits: RetrieverHits, limit: int) -> list[EpisodeKey]:
    """The best hits of both retrievers by the sum of their standardised scores, ties by key.

    A hit that a retriever did not return counts as the worst of it, or as 0 where the lexical one is
    complete: then it shares no term with the query.
    """
    keys = [*dict.fromkeys((*hits.dense, *hits.lexical))]
    if not keys:
        return []
    total = -_standardised(keys, hits.dense, _worst(hits.dense))
    total -= _standardised(keys, hits.lexical, 0.0 if hits.lexical_complete else _worst(hits.lexical))
    if 0 < limit < len(keys):
        among = (total <= np.partition(total, limit - 1)[limit - 1]).nonzero()[0]
        total, keys = total[among], [keys[place] for place in among.tolist()]
    ordered = sorted(zip(total.tolist(), keys, strict=True))
    return [key for _, key in ordered[:limit]]


def _missing(keys: Iterable[EpisodeKey], hits: RetrieverHits) -> list[EpisodeKey]:
    """Those of the places that no retriever returned, each once."""
    return [key for key in dict.fromkeys(keys) if key not in hits.dense and key not in hits.lexical]


def _every(hits: RetrieverHits, added: Iterable[EpisodeKey]) -> list[EpisodeKey]:
    return [*dict.fromkeys((*hits.dense, *hits.lexical, *added))]


def _assembled(columns: EpisodeColumns, hits: RetrieverHits, exact: RetrieverHits, *, active_count: int) -> Candidates:
    dense = {**exact.dense, **hits.dense}
    lexical = {**exact.lexical, **hits.lexical}
    # An active episode without points is a fault that reconciliation repairs; it has no evidence. A complete
    # retriever was not asked for the scores of the places around the hits.
    present = [i for i, key in enumerate(columns.keys) if key in dense]
    is_short = len(present) < len(columns) and not hits.dense_complete
    if len(present) < len(columns):
        columns = columns.selected(present)
    dense_ranks = dict(zip(hits.dense, range(1, len(hits.dense) + 1), strict=True))
    lexical_ranks = dict(zip(hits.lexical, range(1, len(hits.lexical) + 1), strict=True))
    keys = columns.keys
    return Candidates(
        columns=columns,
        dense_scores=[dense[key] for key in keys],
        lexical_scores=[lexical.get(key, 0.0) for key in keys],
        dense_ranks=[dense_ranks.get(key, 0) for key in keys],
        lexical_ranks=[lexical_ranks.get(key, 0) for key in keys],
        degraded=is_short,
        active_count=max(active_count, len(columns)),
    )


def _worst(scores: Mapping[EpisodeKey, float]) -> float:
    return min(scores.values(), default=0.0)


def _standardised(
    keys: Sequence[EpisodeKey], scores: Mapping[EpisodeKey, float], missing: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = np.array([scores.get(key, missing) for key in keys], dtype=np.float64)
    values -= np.add.reduce(values) / len(values)
    deviation = math.sqrt(np.add.reduce(values * values) / len(values))
    return values / deviation if deviation > 0 else np.zeros_like(values)
