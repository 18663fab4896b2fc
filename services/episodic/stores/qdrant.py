"""The episode index on a Qdrant server, over gRPC, for any number of processes."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np
import structlog
from qdrant_client import AsyncQdrantClient, models

from services.common.errors import StoreUnavailable
from services.episodic.comparison_store import IndexedEpisode
from services.episodic.config import QdrantSettings, TextSettings
from services.episodic.model import EpisodeKey, Owner
from services.episodic.store import IndexedPiece, IndexQuery, RetrieverHits, Vector
from services.episodic.stores.points import DENSE, OWNER_FIELDS, create_bm25, episode_key, point_id, scan_episodes
from services.episodic.stores.qdrant_collection import QdrantCollection, open_collection, restore_collection
from services.episodic.stores.qdrant_connection import QdrantConnection, is_lost
from services.episodic.stores.qdrant_points import (
    RetrieverRequest,
    batches_of,
    dense_lane,
    episode_scores,
    lexical_lane,
    owned_by,
    point_of,
    visible_to,
)
from services.episodic.stores.qdrant_scroll import scroll

_log = structlog.get_logger(__name__)

_T = TypeVar("_T")
_Scores = dict[EpisodeKey, float]
_Points = list[models.ScoredPoint]

_PIECES_A_TURN: Final = 4
"""Pieces that are fetched for each episode at first when named ones are scored."""
_FETCH_GROWTH: Final = 4
_ORDERING: Final = models.WriteOrdering.MEDIUM
"""One leader orders the writes of a shard: a removal never overtakes the write that it follows on a replica."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Episodes whose pieces are to be scored by one of the two retrievers."""

    number: int  # of the retriever
    request: RetrieverRequest
    keys: Sequence[EpisodeKey]


class QdrantEpisodeIndex:
    """An `EpisodeIndex` on a server of version 1.19 or newer. Belongs to one event loop; `aclose` it.

    Scores are those of the embedded engine within 1e-4. What scores as the last one at a limit is fetched whole, up
    to `ties_factor` times the limit, and cut off by key: the server returns such points in any order.
    """

    def __init__(
        self,
        connection: QdrantConnection,
        collection: QdrantCollection,
        *,
        model: str,
        dimension: int,
        text: TextSettings,
    ) -> None:
        """Use a collection that is ready; use `open`."""
        self._connection = connection
        self._collection = collection
        self._model = f"{model}@{collection.generation}"
        self._dimension = dimension
        self._settings = collection.settings
        self._bm25 = create_bm25(text)
        self._pieces_max = text.pieces_max

    @classmethod
    async def open(
        cls,
        client: AsyncQdrantClient,
        *,
        model: str,
        dimension: int,
        text: TextSettings | None = None,
        settings: QdrantSettings | None = None,
    ) -> QdrantEpisodeIndex:
        """Check the server, and open or make the collection of a model.

        Args:
            client: The index's own from now on: closed with it, or when this fails.
            model: Fingerprint of the embedding model; each model has a collection of its own.
            dimension: Components of its vectors.
            text: How text becomes terms.
            settings: Sizes and times.

        Raises:
            StoreUnavailable: The server does not respond within `start_timeout_seconds`.
            FailedPrecondition: It is too old, or the collection is someone else's.
        """
        chosen = settings or QdrantSettings()
        connection = QdrantConnection(client, chosen)
        try:
            await connection.check()
            collection = await open_collection(connection, model=model, dimension=dimension, settings=chosen)
        except BaseException:
            await connection.aclose()
            raise
        return cls(connection, collection, model=model, dimension=dimension, text=text or TextSettings())

    @property
    def model(self) -> str:
        """Fingerprint of the model, and of the collection: what is noted as indexed in another one is not in it.

        So the episodes are indexed again when a service moves to a server, or its collection was lost.
        """
        return self._model

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        return self._dimension

    async def put(self, pieces: Sequence[IndexedPiece]) -> None:
        """See `EpisodeIndex.put`. Each batch is applied when the server responds, or the call fails.

        A collection that is gone is made anew, and the call fails: what it held must be found missing by `count`.
        """
        by_shard: dict[str | None, list[IndexedPiece]] = {}
        for piece in pieces:
            by_shard.setdefault(self._collection.shard_of(piece.owner), []).append(piece)
        for shard, group in by_shard.items():
            batches = batches_of(
                group, points_max=self._settings.upsert_points_max, bytes_max=self._settings.upsert_bytes_max
            )
            for batch in batches:
                async with self._restored_if_lost():
                    await self._upsert(batch, shard)

    async def search(self, query: IndexQuery, *, limit: int) -> RetrieverHits:
        """See `EpisodeIndex.search`. One call for both retrievers, unless pieces of one episode or ties need more."""
        visible = visible_to(query)
        fetched = self._allowed(math.ceil(limit * self._settings.overfetch_factor))
        dense_request, lexical_request = self._retrievers(query)
        requests = [make(visible, fetched) for make in (dense_request, lexical_request) if make is not None]
        points = await self._query(requests)
        dense, dense_complete = await self._best(points[0], dense_request, visible, fetched, limit)
        lexical: _Scores = {}
        lexical_complete = True
        if lexical_request is not None:
            lexical, lexical_complete = await self._best(points[1], lexical_request, visible, fetched, limit)
        return RetrieverHits(
            dense=dense, lexical=lexical, dense_complete=dense_complete, lexical_complete=lexical_complete
        )

    async def score(
        self, query: IndexQuery, *, dense: Sequence[EpisodeKey], lexical: Sequence[EpisodeKey]
    ) -> RetrieverHits:
        """See `EpisodeIndex.score`. All of it is one call, unless episodes have more pieces than usual."""
        retrievers = zip(self._retrievers(query), (dense, lexical), strict=True)
        wanted = [_Wanted(number, make, keys) for number, (make, keys) in enumerate(retrievers) if make is not None]
        found: tuple[_Points, _Points] = ([], [])
        more = []
        for chunk, points in await self._points_of(query, wanted, _PIECES_A_TURN):
            if len(points) < len(chunk.keys) * _PIECES_A_TURN:
                found[chunk.number].extend(points)
            else:
                more.append(chunk)
        for chunk, points in await self._points_of(query, more, self._pieces_max):
            found[chunk.number].extend(points)
        return RetrieverHits(
            dense=episode_scores(found[0]),
            lexical=episode_scores(found[1]),
            dense_complete=False,
            lexical_complete=False,
        )

    async def vectors(self, owner: Owner, keys: Sequence[EpisodeKey]) -> Mapping[EpisodeKey, Vector]:
        """See `EpisodeIndex.vectors`."""
        found: dict[EpisodeKey, Vector] = {}
        for chunk in _chunks(keys, self._settings.keys_max):
            ids = [str(point_id(key, 0)) for key in chunk]
            points = await self._connection.read(
                lambda client, ids=ids: client.retrieve(  # type: ignore[misc]
                    self._collection.name,
                    ids,
                    with_payload=["owner"],
                    with_vectors=[DENSE],
                    shard_key_selector=self._collection.shard_of(owner),
                    timeout=self._settings.search_timeout_seconds,
                ),
                operation="retrieve",
                collection=self._collection.name,
            )
            for point in points:
                if (point.payload or {}).get("owner") == owner.key and isinstance(point.vector, dict):
                    found[episode_key(UUID(str(point.id)))] = np.array(point.vector[DENSE], np.float32)
        return found

    async def remove(self, owner: Owner, keys: Sequence[EpisodeKey]) -> None:
        """See `EpisodeIndex.remove`."""
        shard = self._collection.shard_of(owner)
        for chunk in _chunks(keys, self._settings.keys_max):
            await self._delete(owned_by(owner, chunk), shard)

    async def remove_owner(self, owner: Owner) -> None:
        """See `EpisodeIndex.remove_owner`."""
        await self._delete(owned_by(owner), self._collection.shard_of(owner))

    async def count(self, owner: Owner) -> int:
        """See `EpisodeIndex.count`. A collection that is gone is made anew, as in `put`."""
        async with self._restored_if_lost():
            result = await self._connection.read(
                lambda client: client.count(
                    self._collection.name,
                    owned_by(owner),
                    exact=True,
                    shard_key_selector=self._collection.shard_of(owner),
                    timeout=self._settings.search_timeout_seconds,
                ),
                operation="count",
                collection=self._collection.name,
            )
        return result.count

    async def scan(self, *, after: EpisodeKey | None, limit: int) -> list[IndexedEpisode]:
        """See `EpisodeIndex.scan`. Over all shards. A collection that is gone is made anew, as in `put`."""

        async def read(start: UUID, count: int) -> list[tuple[UUID, dict[str, Any]]]:
            points = await scroll(self._connection, self._collection, start=start, limit=count, payload=OWNER_FIELDS)
            return [(UUID(str(point.id)), point.payload or {}) for point in points]

        async with self._restored_if_lost():
            return await scan_episodes(read, after=after, limit=limit)

    async def check(self) -> None:
        """See `EpisodeIndex.check`."""
        await self._connection.ping()

    async def aclose(self) -> None:
        """Close the connection; the server has everything. Closing twice is allowed."""
        await self._connection.aclose()

    @contextlib.asynccontextmanager
    async def _restored_if_lost(self) -> AsyncIterator[None]:
        """Recreates a collection that was deleted, for the next call."""
        try:
            yield
        except StoreUnavailable as error:
            if is_lost(error):
                _log.warning("the qdrant collection is gone, and made anew", collection=self._collection.name)
                await restore_collection(self._connection, self._collection, dimension=self._dimension)
            raise

    async def _upsert(self, pieces: Sequence[IndexedPiece], shard: str | None) -> None:
        points = [point_of(piece, self._bm25) for piece in pieces]
        result = await self._connection.write(
            lambda client: client.upsert(
                self._collection.name,
                points,
                wait=True,  # rows become active when this returns, and a search must find them then
                ordering=_ORDERING,
                shard_key_selector=shard,
                timeout=self._settings.write_timeout_seconds,
            ),
            operation="upsert",
            collection=self._collection.name,
        )
        _require_completed(result)

    async def _delete(self, condition: models.Filter, shard: str | None) -> None:
        result = await self._connection.write(
            lambda client: client.delete(
                self._collection.name,
                models.FilterSelector(filter=condition),
                wait=True,
                ordering=_ORDERING,
                shard_key_selector=shard,
                timeout=self._settings.write_timeout_seconds,
            ),
            operation="delete",
            collection=self._collection.name,
        )
        _require_completed(result)

    def _retrievers(self, query: IndexQuery) -> tuple[RetrieverRequest, RetrieverRequest | None]:
        shard = self._collection.shard_of(query.owner)
        return dense_lane(query, shard), lexical_lane(query, shard, self._bm25)

    async def _points_of(
        self, query: IndexQuery, wanted: Sequence[_Wanted], pieces: int
    ) -> list[tuple[_Wanted, _Points]]:
        """So many points of each of the episodes, in as few calls as the server allows."""
        size = max(1, min(self._settings.keys_max, self._collection.query_limit_max // pieces))
        chunks = [_Wanted(one.number, one.request, keys) for one in wanted for keys in _chunks(one.keys, size)]
        requests = [one.request(visible_to(query, one.keys), self._allowed(len(one.keys) * pieces)) for one in chunks]
        return list(zip(chunks, await self._query(requests), strict=True))

    def _allowed(self, limit: int) -> int:
        return min(limit, self._collection.query_limit_max)

    async def _query(self, requests: Sequence[models.QueryRequest]) -> list[_Points]:
        found: list[_Points] = []
        for batch in _chunks(requests, min(max(1, len(requests)), self._collection.queries_max)):
            found += await self._query_at_once(batch)
        return found

    async def _query_at_once(self, requests: Sequence[models.QueryRequest]) -> list[_Points]:
        answers = await self._connection.read(
            lambda client: client.query_batch_points(
                self._collection.name, requests, timeout=self._settings.search_timeout_seconds
            ),
            operation="query_batch_points",
            collection=self._collection.name,
        )
        return [answer.points for answer in answers]

    async def _best(
        self, points: _Points, request: RetrieverRequest, visible: models.Filter, fetched: int, limit: int
    ) -> tuple[_Scores, bool]:
        """The best `limit` episodes, and whether there are no others.

        Pieces of the same episodes may have used up what was fetched, or episodes beyond it may score as the last
        of the best do, and come before it by their keys: then more are fetched.
        """
        scores = episode_scores(points)
        while len(points) == fetched:
            is_short = len(scores) < limit
            is_tied = not is_short and _is_tied(scores, limit, points[-1].score)
            fetched_max = self._allowed(limit * (self._pieces_max if is_short else self._settings.ties_factor))
            if not (is_short or is_tied) or fetched >= fetched_max:
                break
            fetched = min(fetched * _FETCH_GROWTH, fetched_max)
            (points,) = await self._query([request(visible, fetched)])
            scores = episode_scores(points)
        is_complete = len(points) < fetched and len(scores) <= limit
        return dict(itertools.islice(scores.items(), limit)), is_complete


def _is_tied(scores: _Scores, limit: int, lowest: float) -> bool:
    """Whether what was not fetched may score as the last of the best does."""
    last = next(itertools.islice(scores.values(), limit - 1, None))
    return last <= lowest


def _chunks(items: Sequence[_T], size: int) -> list[Sequence[_T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _require_completed(result: models.UpdateResult) -> None:
    """Refuse a response that leaves it open when the write will be seen, such as `wait_timeout`."""
    if result.status != models.UpdateStatus.COMPLETED:
        _log.warning("qdrant has not applied a write in time", status=result.status.value)
        raise StoreUnavailable("qdrant", 1.0)
