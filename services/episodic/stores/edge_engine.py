"""The calls that the embedded vector engine is asked for, one after the other, in the process that holds it.

Runs in a process of its own (`edge_child.py`), because the engine keeps Python's interpreter lock during every call,
disk syncs included (qdrant-edge-py 0.9): on any thread of a service it would stop the whole service.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
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
    ScrollRequest,
    SearchParams,
    UpdateOperation,
)

from services.episodic.index_config import EdgeSettings, TextSettings
from services.episodic.model import EpisodeKey, Owner, place
from services.episodic.store import IndexedPiece, IndexQuery, RetrieverHits, Vector
from services.episodic.stores.edge_checksums import take_checksums, verify_checksums
from services.episodic.stores.edge_shard import open_shard, read_points, rewrite_segments
from services.episodic.stores.points import (
    DENSE,
    LEXICAL,
    OWNER_FIELDS,
    PIECE_BITS,
    create_bm25,
    episode_key,
    id_behind,
    payload_of,
    point_id,
    scope_key_of,
    visibility,
)

Terms = dict[int, float]
"""Weights of a sparse vector by term."""
PieceRow = tuple[int, EpisodeKey, str, Vector, Terms]
"""A point: its id, its episode, the scope's key, its vector of length 1, and its terms."""
_Scores = dict[EpisodeKey, float]

_PIECES_A_TURN: Final = 4
"""Pieces fetched for each episode at first when named episodes are scored."""
_NORM_TOLERANCE: Final = 0.05
_WORDLESS_MIN: Final = 32
"""Points in a row without a single term that cannot be what was put in."""


class DamagedShardError(Exception):
    """The files of the shard are not as the engine wrote them."""


@dataclass(frozen=True, slots=True)
class ShardState:
    """Size of an open shard."""

    points: int
    unindexed_points: int  # not in an optimised segment yet
    segments: int  # with the one that is written to
    was_closed: bool = True  # the files are those of an orderly close, or new


class EdgeEngine:
    """An open shard. Calls block; errors are the engine's own."""

    def __init__(self, folder: Path, *, dimension: int, text: TextSettings, settings: EdgeSettings) -> None:
        """Open or create the shard in `folder`.

        Raises:
            DamagedShardError: A file differs from what the last orderly close left.
        """
        self._folder = folder
        self._dimension = dimension
        self._settings = settings
        self._bm25 = create_bm25(text)
        self._pieces_max = text.pieces_max
        is_new = not folder.exists()
        damaged = verify_checksums(folder)
        if damaged:
            raise DamagedShardError(f"changed since it was closed: {', '.join(damaged[:3])}")
        self._was_closed = is_new or damaged is not None
        self._shard = self._open()

    def state(self) -> ShardState:
        """Size of the shard."""
        info = self._shard.info()
        points = int(info.points_count)
        # Sparse vectors always count as indexed, dense ones in an optimised segment.
        unindexed = max(0, 2 * points - int(info.indexed_vectors_count))
        return ShardState(points, unindexed, int(info.segments_count), self._was_closed)

    def put(self, pieces: Sequence[IndexedPiece], *, with_terms: bool) -> list[Terms]:
        """Add or replace pieces; returns their terms where asked to."""
        sparse = [self._bm25.embed_document(piece.text) for piece in pieces]
        points = [_point(piece, terms) for piece, terms in zip(pieces, sparse, strict=True)]
        self._shard.update(UpdateOperation.upsert_points(points))
        return [_terms_of(terms) for terms in sparse] if with_terms else []

    def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """Remove every piece of these episodes."""
        self._shard.update(UpdateOperation.delete_points_by_filter(Filter(must=[_owned(owner), _turns(keys)])))

    def remove_owner(self, owner: Owner) -> None:
        """Delete all points of an owner."""
        self._shard.update(UpdateOperation.delete_points_by_filter(Filter(must=[_owned(owner)])))

    def count(self, owner: Owner) -> int:
        """Number of the owner's pieces."""
        return int(self._shard.count(CountRequest(exact=True, filter=Filter(must=[_owned(owner)]))))

    def owners_from(self, start: UUID, limit: int) -> list[tuple[UUID, dict[str, Any]]]:
        """Points of all owners from an id on, with the fields that name the owner."""
        points = read_points(self._shard, start=start, limit=limit, payload=OWNER_FIELDS)
        return [(point.id, point.payload) for point in points]

    def ids_of(self, owner: Owner, start: UUID, limit: int) -> list[UUID]:
        """Ids of an owner's points from an id on."""
        request = ScrollRequest(
            offset=start, limit=limit, filter=Filter(must=[_owned(owner)]), with_payload=False, with_vector=False
        )
        points, _ = self._shard.scroll(request)
        return [UUID(str(point.id)) for point in points]

    def pieces_of(self, identifiers: Sequence[UUID]) -> list[PieceRow]:
        """The points with these ids, with vectors and terms."""
        return [_piece_of(point) for point in self._shard.retrieve(list(identifiers), ["visibility"], True)]

    def vectors_of(self, owner: Owner, keys: Sequence[EpisodeKey]) -> list[tuple[EpisodeKey, Vector]]:
        """See `EpisodeIndex.vectors`."""
        points: list[Any] = self._shard.retrieve([point_id(key, 0) for key in keys], ["owner"], True)
        return [
            (episode_key(point.id), np.array(point.vector[DENSE], np.float32))
            for point in points
            if point.payload["owner"] == owner.key
        ]

    def search(self, query: IndexQuery, limit: int) -> RetrieverHits:
        """See `EpisodeIndex.search`."""
        visible = _visible(query)
        fetched = math.ceil(limit * self._settings.overfetch_factor)
        dense_request = self._dense_request(query, visible, fetched)
        lexical_request = self._lexical_request(query, visible, fetched)
        lexical: list[Any] = []
        if lexical_request is None:
            dense = list(self._shard.query(dense_request))
        else:
            dense, lexical = self._shard.query_batch(QueryBatchRequest([dense_request, lexical_request]))
        dense_scores, dense_complete = self._best(
            dense, fetched, limit, lambda count: self._dense_request(query, visible, count)
        )
        lexical_scores, lexical_complete = self._best(
            lexical, fetched, limit, lambda count: self._lexical_request(query, visible, count)
        )
        return RetrieverHits(
            dense=dense_scores,
            lexical=lexical_scores,
            dense_complete=dense_complete,
            lexical_complete=lexical_complete,
        )

    def score(self, query: IndexQuery, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]) -> RetrieverHits:
        """See `EpisodeIndex.score`."""
        return RetrieverHits(
            dense=self._scores_of(dense, query, self._dense_request),
            lexical=self._scores_of(lexical, query, self._lexical_request),
            dense_complete=False,
            lexical_complete=False,
        )

    def verify(self, start: UUID, limit: int) -> UUID | None:
        """Read points from an id on as searches do; returns where to go on, None at the end.

        Raises:
            DamagedShardError: A point cannot be what was put in.
        """
        points = read_points(self._shard, start=start, limit=limit, payload=True, vectors=True)
        has_words = False
        for point in points:
            vectors, payload = point.vector, point.payload
            has_words = has_words or (LEXICAL in vectors and bool(vectors[LEXICAL].indices))
            norm = float(np.linalg.norm(vectors[DENSE]))
            if not math.isclose(norm, 1.0, abs_tol=_NORM_TOLERANCE) or "visibility" not in payload:
                raise DamagedShardError(f"point {point.id} has a vector of length {norm:.3f} or no payload")
        if len(points) >= _WORDLESS_MIN and not has_words:
            raise DamagedShardError(f"no terms in {len(points)} points from {points[0].id} on")
        if points:
            dense, lexical = points[0].vector[DENSE], points[0].vector.get(LEXICAL)
            self._shard.query(QueryRequest(limit=1, query=Query.Nearest(list(dense), using=DENSE)))
            if lexical is not None:
                self._shard.query(QueryRequest(limit=1, query=Query.Nearest(lexical, using=LEXICAL)))
        return id_behind(points[-1].id) if len(points) == limit else None

    def flush(self) -> None:
        """Write everything to the disk."""
        self._shard.flush()

    def optimize(self) -> ShardState:
        """Build segments that are searched faster, of what was written last."""
        self._shard.optimize()
        return self.state()

    def purge(self) -> ShardState:
        """Write every segment anew from which a point was removed; blocks for as long as it takes.

        An interruption leaves what a crash leaves: files without checksums, which are read through at the next start.
        """
        self._shard.flush()
        self._shard.close()
        try:
            rewrite_segments(self._folder, dimension=self._dimension, settings=self._settings)
            self._shard = self._open()
        except BaseException as error:
            # The index is closed now, and calls that wait would report damaged files. A new process opens it again.
            sys.stderr.write(f"the purge of {self._folder} failed: {error}\n")
            sys.stderr.flush()
            os._exit(1)
        return self.state()

    def close(self) -> None:
        """Write everything to the disk, and note what the files hold."""
        self._shard.flush()
        self._shard.close()
        take_checksums(self._folder)

    def _open(self) -> EdgeShard:
        return open_shard(self._folder, dimension=self._dimension, settings=self._settings)

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
            points = list(self._shard.query(more))
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
        points = list(self._shard.query(request))
        if len(points) == limit:
            everything = make_request(query, condition, len(keys) * self._pieces_max)
            assert everything is not None
            points = list(self._shard.query(everything))
        return _episode_scores(points)


def _point(piece: IndexedPiece, terms: Any) -> Point:
    vectors = {DENSE: piece.vector.tolist(), LEXICAL: terms}
    return Point(point_id(piece.key, piece.number), vectors, payload_of(piece))


def _piece_of(point: Any) -> PieceRow:
    # Each look at an attribute makes its objects anew.
    identifier, vectors = point.id, point.vector
    return (
        identifier.int,
        episode_key(identifier),
        scope_key_of(point.payload["visibility"]),
        np.array(vectors[DENSE], np.float32),
        _terms_of(vectors[LEXICAL]) if LEXICAL in vectors else {},
    )


def _terms_of(sparse: Any) -> Terms:
    return dict(zip(sparse.indices, sparse.values, strict=True))


def _owned(owner: Owner) -> FieldCondition:
    return FieldCondition("owner", match=MatchValue(owner.key))


def _turns(keys: Sequence[EpisodeKey]) -> FieldCondition:
    return FieldCondition("turn", match=MatchAny([place(key) for key in keys]))


def _visible(query: IndexQuery, *further: FieldCondition) -> Filter:
    """What the reader sees. Owner and scope are one field: each condition costs time."""
    values = [visibility(query.owner, scope_key) for scope_key in query.scope_keys]
    match = MatchValue(values[0]) if len(values) == 1 else MatchAny(values)
    return Filter(must=[FieldCondition("visibility", match=match), *further])


def _episode_scores(points: Sequence[Any]) -> _Scores:
    """The best score of each episode among points that come best first."""
    scores: _Scores = {}
    for point in points:
        scores.setdefault(point.id.int >> PIECE_BITS, point.score)
    return scores
