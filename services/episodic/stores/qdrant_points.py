"""Points, filters and queries of the episode index, as a Qdrant server takes them. Pure functions.

Ids, payload and terms are those of the embedded engine, so that both give the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from qdrant_client import models
from qdrant_edge import Bm25

from services.episodic.model import EpisodeKey, Owner, place
from services.episodic.store import IndexedPiece, IndexQuery
from services.episodic.stores.points import DENSE, LEXICAL, episode_key, payload_of, point_id, visibility

_POINT_BYTES: Final = 512
"""Of a point on the wire, beside its vectors and the strings that it carries twice."""

RetrieverRequest = Callable[[models.Filter, int], models.QueryRequest]
"""A query of one retriever under a filter, for so many pieces."""


def point_of(piece: IndexedPiece, bm25: Bm25) -> models.PointStruct:
    """A piece as a point; the same piece has the same id, so that it is replaced when it comes again."""
    terms = bm25.embed_document(piece.text)
    return models.PointStruct(
        id=str(point_id(piece.key, piece.number)),
        vector={
            DENSE: piece.vector.tolist(),
            LEXICAL: models.SparseVector(indices=terms.indices, values=terms.values),
        },
        payload=payload_of(piece),
    )


def batches_of(pieces: Sequence[IndexedPiece], *, points_max: int, bytes_max: int) -> Iterator[Sequence[IndexedPiece]]:
    """The pieces in runs that are small enough for one call; a piece that is too large alone has its own."""
    start, size = 0, 0
    for number, piece in enumerate(pieces):
        piece_size = _size(piece)
        if number > start and (number - start == points_max or size + piece_size > bytes_max):
            yield pieces[start:number]
            start, size = number, 0
        size += piece_size
    if start < len(pieces):
        yield pieces[start:]


def dense_lane(query: IndexQuery, shard: str | None) -> RetrieverRequest:
    """Queries by meaning."""
    vector = query.vector.tolist()

    def request(condition: models.Filter, limit: int) -> models.QueryRequest:
        return _request(vector, DENSE, condition, limit, shard)

    return request


def lexical_lane(query: IndexQuery, shard: str | None, bm25: Bm25) -> RetrieverRequest | None:
    """Queries by words, weighted over the owner's pieces alone; None where the text has none."""
    terms = bm25.embed_query(query.text)
    if not terms.indices:
        return None
    vector = models.SparseVector(indices=terms.indices, values=terms.values)
    own = models.SearchParams(idf=models.IdfCorpusParams(corpus=owned_by(query.owner)))

    def request(condition: models.Filter, limit: int) -> models.QueryRequest:
        return _request(vector, LEXICAL, condition, limit, shard, own)

    return request


def owned_by(owner: Owner, keys: Sequence[EpisodeKey] | None = None) -> models.Filter:
    """The owner's pieces, of these episodes where they are named."""
    return models.Filter(must=[_equals("owner", owner.key), *_turns(keys)])


def visible_to(query: IndexQuery, keys: Sequence[EpisodeKey] | None = None) -> models.Filter:
    """What the reader sees, of these episodes where they are named; owner and scope are one field."""
    values = [visibility(query.owner, scope_key) for scope_key in query.scope_keys]
    visible = (
        _equals("visibility", values[0])
        if len(values) == 1
        else models.FieldCondition(key="visibility", match=models.MatchAny(any=values))
    )
    return models.Filter(must=[visible, *_turns(keys)])


def episode_scores(points: Iterable[models.ScoredPoint]) -> dict[EpisodeKey, float]:
    """The best score of each episode, best first, ties by key."""
    scores: dict[EpisodeKey, float] = {}
    for point in points:
        key = episode_key(UUID(str(point.id)))
        if point.score > scores.get(key, float("-inf")):
            scores[key] = point.score
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _request(
    vector: Any,
    using: str,
    condition: models.Filter,
    limit: int,
    shard: str | None,
    params: models.SearchParams | None = None,
) -> models.QueryRequest:
    return models.QueryRequest(
        query=vector,
        using=using,
        filter=condition,
        limit=limit,
        params=params,
        shard_key=shard,
        with_payload=False,
        with_vector=False,
    )


def _equals(field: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def _turns(keys: Sequence[EpisodeKey] | None) -> list[models.FieldCondition]:
    if keys is None:
        return []
    return [models.FieldCondition(key="turn", match=models.MatchAny(any=[place(key) for key in keys]))]


def _size(piece: IndexedPiece) -> int:
    """About as many bytes as its point has: four a component, eight a term, a term in every two characters at most."""
    strings = 2 * len(piece.owner.key) + len(piece.scope_key)
    return int(piece.vector.nbytes) + 4 * len(piece.text) + 4 * strings + _POINT_BYTES
