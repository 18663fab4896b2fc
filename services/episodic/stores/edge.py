"""The episode index on Qdrant's own engine, in this process.

The engine holds Python's interpreter lock during every call (qdrant-edge-py 0.9), so a thread would not keep
the event loop free, it would only add 0.15 ms a call: calls are made in place and kept short. What takes longest,
`optimize`, is done often and so in small parts: at start, in the first quiet moment after some thousand writes, and
when these have become too many without one.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import structlog
from qdrant_edge import (
    CountRequest,
    EdgeShard,
    FieldCondition,
    Filter,
    IdfParams,
    MatchAny,
    MatchValue,
    Point,
    Query,
    QueryBatchRequest,
    QueryRequest,
    SearchParams,
    UpdateOperation,
)

from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings, TextSettings
from services.episodic.model import EpisodeKey, Owner, place
from services.episodic.store import IndexedEpisode, IndexedPiece, IndexQuery, LaneHits
from services.episodic.stores.edge_kept import KeptOwners
from services.episodic.stores.edge_shard import generation, open_shard, scroll, shard_folder, translated
from services.episodic.stores.kept_lanes import terms_of
from services.episodic.stores.points import (
    DENSE,
    LEXICAL,
    OWNER_FIELDS,
    PIECE_BITS,
    create_bm25,
    payload_of,
    point_id,
    scan_episodes,
    visibility,
)

_log = structlog.get_logger(__name__)

_Scores = dict[EpisodeKey, float]

_PIECES_A_TURN: Final = 4
"""Pieces that are fetched for each episode at first when named ones are scored."""


class EdgeEpisodeIndex:
    """An `EpisodeIndex` in a folder that only this process uses. Belongs to one event loop; `aclose` it."""

    def __init__(
        self,
        shard: EdgeShard,
        *,
        model: str,
        dimension: int,
        text: TextSettings,
        settings: EdgeSettings,
    ) -> None:
        """Wrap an open shard; use `open`."""
        self._shard = shard
        self._model = model
        self._dimension = dimension
        self._settings = settings
        self._bm25 = create_bm25(text)
        self._pieces_max = text.pieces_max
        self._kept = KeptOwners(shard, settings, dimension=dimension)
        self._last_search_seconds = -math.inf
        self._is_dirty = False
        self._left_unindexed = 0
        self._is_closed = False
        self._upkeep: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        qdrant_folder: Path,
        *,
        model: str,
        dimension: int,
        text: TextSettings | None = None,
        settings: EdgeSettings | None = None,
    ) -> EdgeEpisodeIndex:
        """Open or create the index of a model. Blocks while the engine loads and, where due, rebuilds.

        Args:
            qdrant_folder: Folder of the installation's vector indexes, held by a `DataDir`.
            model: Fingerprint of the embedding model; each model has a folder of its own.
            dimension: Components of its vectors.
            text: How text becomes terms.
            settings: Sizes and times.

        Raises:
            StoreUnavailable: The folder cannot be read or written.
        """
        chosen = settings or EdgeSettings()
        folder = shard_folder(qdrant_folder, model=model, dimension=dimension)
        shard = translated(lambda: open_shard(folder, dimension=dimension, settings=chosen))
        index = cls(
            shard,
            model=f"{model}@{translated(lambda: generation(folder))}",
            dimension=dimension,
            text=text or TextSettings(),
            settings=chosen,
        )
        if index._is_worth_optimizing():
            index.optimize()
        index._upkeep = asyncio.create_task(index._keep_up(), name="episodic-edge-upkeep")
        return index

    @property
    def model(self) -> str:
        """Fingerprint of the model, and of the shard: what is noted as indexed in another one is not in it.

        So the episodes are indexed again when the folder was lost.
        """
        return self._model

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return self._dimension

    @property
    def unindexed_points(self) -> int:
        """Points that are not in an optimised segment yet."""
        info = translated(self._shard.info)
        # Sparse vectors always count as indexed, dense ones in an optimised segment.
        return max(0, 2 * int(info.points_count) - int(info.indexed_vectors_count))

    @property
    def kept_count(self) -> int:
        """Pieces that are kept in memory beside the engine."""
        return self._kept.count

    async def settle(self) -> None:
        """Wait until lanes that are being read into memory are there."""
        await self._kept.settle()

    @property
    def segments_count(self) -> int:
        """Segments, with the one that is written to."""
        return int(translated(self._shard.info).segments_count)

    async def put(self, pieces: Sequence[IndexedPiece]) -> None:
        """See `EpisodeIndex.put`. A kill of the process loses nothing; `flush` follows within seconds."""
        for start in range(0, len(pieces), self._settings.upsert_points_max):
            chunk = pieces[start : start + self._settings.upsert_points_max]
            sparse = [self._bm25.embed_document(piece.text) for piece in chunk]
            points = [_point(piece, terms) for piece, terms in zip(chunk, sparse, strict=True)]
            self._is_dirty = True
            self._update(UpdateOperation.upsert_points(points))
            self._kept.put(list(zip(chunk, sparse, strict=True)))
            await asyncio.sleep(0)  # searches go between the chunks

    async def search(self, query: IndexQuery, *, limit: int) -> LaneHits:
        """See `EpisodeIndex.search`."""
        self._last_search_seconds = asyncio.get_running_loop().time()
        kept = await self._kept.search(query, terms_of(self._bm25.embed_query(query.text)), limit=limit)
        if kept is not None:
            return kept
        visible = _visible(query)
        fetched = math.ceil(limit * self._settings.overfetch_factor)
        dense_request = self._dense_request(query, visible, fetched)
        lexical_request = self._lexical_request(query, visible, fetched)
        if lexical_request is None:
            dense = self._query(dense_request)
            lexical: list[Any] = []
        else:
            dense, lexical = self._query_both(dense_request, lexical_request)
        dense_scores, dense_complete = self._best(
            dense, fetched, limit, lambda count: self._dense_request(query, visible, count)
        )
        lexical_scores, lexical_complete = self._best(
            lexical, fetched, limit, lambda count: self._lexical_request(query, visible, count)
        )
        return LaneHits(
            dense=dense_scores,
            lexical=lexical_scores,
            dense_complete=dense_complete,
            lexical_complete=lexical_complete,
        )

    async def score(self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]) -> LaneHits:
        """See `EpisodeIndex.score`."""
        kept = self._kept.score(query, dense=dense, lexical=lexical)
        if kept is not None:
            return kept
        return LaneHits(
            dense=self._scores_of(dense, query, self._dense_request),
            lexical=self._scores_of(lexical, query, self._lexical_request),
            dense_complete=False,
            lexical_complete=False,
        )

    async def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """See `EpisodeIndex.remove`."""
        if keys:
            self._is_dirty = True
            condition = Filter(must=[_owned(owner), _turns(keys)])
            self._update(UpdateOperation.delete_points_by_filter(condition))
            self._kept.remove(owner, keys)

    async def count(self, owner: Owner) -> int:
        """See `EpisodeIndex.count`."""
        request = CountRequest(exact=True, filter=Filter(must=[_owned(owner)]))
        return int(translated(lambda: self._shard.count(request)))

    async def scan(self, *, after: EpisodeKey | None, limit: int) -> list[IndexedEpisode]:
        """See `EpisodeIndex.scan`."""

        async def read(start: UUID, count: int) -> list[tuple[UUID, dict[str, Any]]]:
            await asyncio.sleep(0)  # searches go between the reads
            points = scroll(self._shard, start=start, limit=count, payload=OWNER_FIELDS)
            return [(point.id, point.payload) for point in points]

        return await scan_episodes(read, after=after, limit=limit)

    def optimize(self) -> None:
        """Build segments that are searched faster, of what was written last. Blocks the process: 0.4 s for each."""
        translated(self._shard.optimize)
        self._left_unindexed = self.unindexed_points

    def _is_worth_optimizing(self, *, loaded: bool = False) -> bool:
        settings = self._settings
        # What the engine has left alone once it will leave alone again.
        fresh = self.unindexed_points - self._left_unindexed
        return fresh >= (settings.optimize_loaded_after_points if loaded else settings.optimize_after_points)

    async def aclose(self) -> None:
        """Write what is buffered and close the engine. Closing twice is allowed."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._upkeep is not None:
            self._upkeep.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._upkeep
            self._upkeep = None
        await self._kept.aclose()
        translated(self._shard.flush)
        translated(self._shard.close)

    async def _keep_up(self) -> None:
        """Flush to disk, and optimise, rather in quiet times, for as long as the index is open."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._settings.flush_seconds)
            try:
                if self._is_dirty:
                    self._is_dirty = False
                    translated(self._shard.flush)
                is_quiet = loop.time() - self._last_search_seconds >= self._settings.optimize_quiet_seconds
                if self._is_worth_optimizing(loaded=not is_quiet):
                    self.optimize()
            except StoreUnavailable as error:
                self._is_dirty = True
                _log.warning("episode index upkeep failed", error=str(error.__cause__ or error))

    def _dense_request(self, query: IndexQuery, condition: Filter, limit: int) -> QueryRequest:
        nearest = Query.Nearest(query.vector.tolist(), using=DENSE)
        return QueryRequest(limit=limit, query=nearest, filter=condition)

    def _lexical_request(self, query: IndexQuery, condition: Filter, limit: int) -> QueryRequest | None:
        terms = self._bm25.embed_query(query.text)
        if not terms.indices:
            return None
        return QueryRequest(
            limit=limit,
            query=Query.Nearest(terms, using=LEXICAL),
            filter=condition,
            params=SearchParams(idf=IdfParams(corpus=Filter(must=[_owned(query.owner)]))),
        )

    def _update(self, operation: UpdateOperation) -> None:
        try:
            translated(lambda: self._shard.update(operation))
        except StoreUnavailable:
            self._kept.forget_all()
            raise

    def _query(self, request: QueryRequest) -> list[Any]:
        return list(translated(lambda: self._shard.query(request)))

    def _query_both(self, first: QueryRequest, second: QueryRequest) -> tuple[list[Any], list[Any]]:
        found = translated(lambda: self._shard.query_batch(QueryBatchRequest([first, second])))
        return found[0], found[1]

    def _best(
        self,
        points: list[Any],
        fetched: int,
        limit: int,
        request: Callable[[int], QueryRequest | None],
    ) -> tuple[_Scores, bool]:
        """The best `limit` episodes, and whether there are no others.

        Several pieces of one episode may have used up what was fetched: then more are fetched.
        """
        scores = _episode_scores(points)
        while len(points) == fetched and len(scores) < limit and fetched < limit * self._pieces_max:
            fetched = min(fetched * 4, limit * self._pieces_max)
            more = request(fetched)
            assert more is not None
            points = self._query(more)
            scores = _episode_scores(points)
        is_complete = len(points) < fetched and len(scores) <= limit
        ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return dict(ordered[:limit]), is_complete

    def _scores_of(
        self,
        keys: Sequence[EpisodeKey],
        query: IndexQuery,
        make_request: Callable[[IndexQuery, Filter, int], QueryRequest | None],
    ) -> _Scores:
        if not keys:
            return {}
        condition = _visible(query, _turns(keys))
        limit = len(keys) * _PIECES_A_TURN
        request = make_request(query, condition, limit)
        if request is None:
            return {}
        points = self._query(request)
        if len(points) == limit:
            everything = make_request(query, condition, len(keys) * self._pieces_max)
            assert everything is not None
            points = self._query(everything)
        return _episode_scores(points)


def _point(piece: IndexedPiece, terms: Any) -> Point:
    vectors = {DENSE: piece.vector.tolist(), LEXICAL: terms}
    return Point(point_id(piece.key, piece.number), vectors, payload_of(piece))


def _owned(owner: Owner) -> FieldCondition:
    return FieldCondition("owner", match=MatchValue(owner.key))


def _turns(keys: Sequence[EpisodeKey]) -> FieldCondition:
    return FieldCondition("turn", match=MatchAny([place(key) for key in keys]))


def _visible(query: IndexQuery, *further: FieldCondition) -> Filter:
    """What the reader sees. Owner and scope are one field, since each condition costs 0.1 ms."""
    values = [visibility(query.owner, scope_key) for scope_key in query.scope_keys]
    match = MatchValue(values[0]) if len(values) == 1 else MatchAny(values)
    return Filter(must=[FieldCondition("visibility", match=match), *further])


def _episode_scores(points: Sequence[Any]) -> _Scores:
    """The best score of each episode among points that come best first."""
    scores: _Scores = {}
    for point in points:
        scores.setdefault(point.id.int >> PIECE_BITS, point.score)
    return scores
