"""Collections of the stand-in for a Qdrant server: Qdrant's embedded engine behind the messages of its gRPC API.

Only what this project's driver asks for is understood; the rest is refused rather than guessed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import grpc
from qdrant_client import grpc as qdrant
from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    FloatIndexParams,
    HnswIndexConfig,
    IdfParams,
    IntegerIndexParams,
    KeywordIndexParams,
    MatchAny,
    MatchValue,
    Modifier,
    Point,
    Query,
    QueryRequest,
    ScrollRequest,
    SearchParams,
    SparseVector,
    UpdateOperation,
)

_MADE: Final = "made.bin"
_INDEXES: Final = "indexes"
_SHARDS: Final = "shards"
_SHARD: Final = "shard"


class RefusedError(Exception):
    """What a server would answer with a status."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class Collections:
    """The collections in a folder; opened again, they are as they were."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._open = {made.parent.name: Collection(made.parent) for made in folder.glob(f"*/{_MADE}")}

    def __contains__(self, name: str) -> bool:
        return name in self._open

    @property
    def names(self) -> list[str]:
        return sorted(self._open)

    def get(self, name: str) -> Collection:
        if name not in self._open:
            raise RefusedError(grpc.StatusCode.NOT_FOUND, f"Not found: Collection `{name}` doesn't exist!")
        return self._open[name]

    def create(self, made: qdrant.CreateCollection) -> None:
        name = made.collection_name
        if name in self._open:
            raise RefusedError(grpc.StatusCode.ALREADY_EXISTS, f"Collection `{name}` already exists!")
        folder = self._folder / name
        (folder / _INDEXES).mkdir(parents=True)
        (folder / _MADE).write_bytes(made.SerializeToString())
        self._open[name] = Collection(folder)

    def delete(self, name: str) -> bool:
        collection = self._open.pop(name, None)
        if collection is None:
            return False
        collection.close()
        shutil.rmtree(self._folder / name)
        return True

    def close(self) -> None:
        for collection in self._open.values():
            collection.close()


class Collection:
    """One collection, of one shard or of shards that are named."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.made = qdrant.CreateCollection.FromString((folder / _MADE).read_bytes())
        self._is_custom = self.made.sharding_method == qdrant.ShardingMethod.Custom
        names = [""] if not self._is_custom else [path.name for path in (folder / _SHARDS).glob("*")]
        self._shards = {name: self._open_shard(name) for name in names}

    @property
    def indexes(self) -> list[qdrant.CreateFieldIndexCollection]:
        """What the payload is indexed by."""
        files = sorted((self._folder / _INDEXES).iterdir())
        return [qdrant.CreateFieldIndexCollection.FromString(file.read_bytes()) for file in files]

    @property
    def shard_keys(self) -> list[str]:
        return sorted(name for name in self._shards if name)

    @property
    def points_count(self) -> int:
        return sum(shard.info().points_count for shard in self._shards.values())

    def create_shard(self, name: str) -> None:
        if not self._is_custom or name in self._shards:
            raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, f"Bad request: shard key {name} cannot be made")
        self._shards[name] = self._open_shard(name)

    def create_index(self, index: qdrant.CreateFieldIndexCollection) -> None:
        (self._folder / _INDEXES / index.field_name).write_bytes(index.SerializeToString())
        for shard in self._shards.values():
            shard.update(UpdateOperation.create_field_index(index.field_name, _index_params(index)))

    def upsert(self, request: qdrant.UpsertPoints) -> None:
        points = [_point(point) for point in request.points]
        for shard in self._chosen(request, is_write=True):
            shard.update(UpdateOperation.upsert_points(points))

    def delete(self, request: qdrant.DeletePoints) -> None:
        condition = _filter(request.points.filter)
        for shard in self._chosen(request, is_write=True):
            shard.update(UpdateOperation.delete_points_by_filter(condition))

    def count(self, request: qdrant.CountPoints) -> int:
        asked = CountRequest(exact=request.exact, filter=_filter(request.filter))
        return sum(shard.count(asked) for shard in self._chosen(request))

    def scroll(self, request: qdrant.ScrollPoints) -> list[qdrant.RetrievedPoint]:
        asked = ScrollRequest(
            offset=UUID(request.offset.uuid) if request.HasField("offset") else None,
            limit=request.limit,
            filter=_filter(request.filter),
            with_payload=_payload_fields(request.with_payload),
            with_vector=request.with_vectors.enable,
        )
        found = [point for shard in self._chosen(request) for point in shard.scroll(asked)[0]]
        return [_retrieved(point) for point in sorted(found, key=lambda point: point.id)[: request.limit]]

    def retrieve(self, request: qdrant.GetPoints) -> list[qdrant.RetrievedPoint]:
        """The points of these ids that are there, with the vectors that are named."""
        ids: list[Any] = [UUID(one.uuid) for one in request.ids]
        payload, names = _payload_fields(request.with_payload), list(request.with_vectors.include.names)
        found = [point for shard in self._chosen(request) for point in shard.retrieve(ids, payload, names)]
        return [_retrieved(point) for point in found]

    def query(self, request: qdrant.QueryPoints) -> qdrant.BatchResult:
        asked = QueryRequest(
            limit=request.limit,
            query=Query.Nearest(_vector(request.query.nearest), using=request.using),
            filter=_filter(request.filter),
            params=SearchParams(idf=IdfParams(corpus=_filter(request.params.idf.corpus)))
            if request.params.HasField("idf")
            else None,
        )
        found = [point for shard in self._chosen(request) for point in shard.query(asked)]
        found.sort(key=lambda point: -point.score)
        points = [
            qdrant.ScoredPoint(id=qdrant.PointId(uuid=str(point.id)), score=point.score, version=point.version)
            for point in found[: request.limit]
        ]
        return qdrant.BatchResult(result=points)

    def close(self) -> None:
        for shard in self._shards.values():
            shard.flush()
            shard.close()

    def _chosen(self, request: Any, *, is_write: bool = False) -> Iterator[EdgeShard]:
        if not self._is_custom:
            yield self._shards[""]
            return
        names = [key.keyword for key in request.shard_key_selector.shard_keys]
        if is_write and not names:
            raise RefusedError(grpc.StatusCode.INVALID_ARGUMENT, "Bad request: Shard key not specified")
        for name in names or self._shards:
            if name not in self._shards:
                raise RefusedError(grpc.StatusCode.NOT_FOUND, f"Not found: Shard key {name} not found")
            yield self._shards[name]

    def _open_shard(self, name: str) -> EdgeShard:
        folder = self._folder / _SHARDS / name if name else self._folder / _SHARD
        if (folder / "edge_config.json").exists():
            return EdgeShard.load(str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        shard = EdgeShard.create(str(folder), _config(self.made))
        for index in self.indexes:
            shard.update(UpdateOperation.create_field_index(index.field_name, _index_params(index)))
        return shard


def _config(made: qdrant.CreateCollection) -> EdgeConfig:
    dense = made.vectors_config.params_map.map
    return EdgeConfig(
        vectors={
            name: EdgeVectorParams(size=params.size, distance=_distance(params)) for name, params in dense.items()
        },
        sparse_vectors={
            name: EdgeSparseVectorParams(modifier=Modifier.Idf if params.modifier == qdrant.Modifier.Idf else None)
            for name, params in made.sparse_vectors_config.map.items()
        },
        hnsw_config=HnswIndexConfig(
            m=made.hnsw_config.m,
            ef_construct=made.hnsw_config.ef_construct,
            full_scan_threshold=made.hnsw_config.full_scan_threshold,
            payload_m=made.hnsw_config.payload_m,
        ),
    )


def _distance(params: qdrant.VectorParams) -> Distance:
    if params.distance != qdrant.Distance.Cosine:
        raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, "the stand-in knows cosines alone")
    return Distance.Cosine


def _index_params(index: qdrant.CreateFieldIndexCollection) -> Any:
    params = index.field_index_params
    match params.WhichOneof("index_params"):
        case "keyword_index_params":
            return KeywordIndexParams(is_tenant=params.keyword_index_params.is_tenant)
        case "integer_index_params":
            integer = params.integer_index_params
            return IntegerIndexParams(lookup=integer.lookup, range=integer.range)
        case "float_index_params":
            return FloatIndexParams()
        case kind:
            raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, f"the stand-in has no index of the kind {kind}")


def _point(point: qdrant.PointStruct) -> Point:
    vectors: dict[str, Any] = {name: _vector(vector) for name, vector in point.vectors.vectors.vectors.items()}
    payload = {name: _value(value) for name, value in point.payload.items()}
    return Point(UUID(point.id.uuid), vectors, payload)


def _payload_fields(selector: qdrant.WithPayloadSelector) -> Any:
    """All, none, or those that are named."""
    return list(selector.include.fields) if selector.HasField("include") else selector.enable


def _retrieved(point: Any) -> qdrant.RetrievedPoint:
    vectors = {
        name: qdrant.VectorOutput(sparse=qdrant.SparseVector(indices=vector.indices, values=vector.values))
        if isinstance(vector, SparseVector)
        else qdrant.VectorOutput(dense=qdrant.DenseVector(data=vector))
        for name, vector in (point.vector or {}).items()
    }
    return qdrant.RetrievedPoint(
        id=qdrant.PointId(uuid=str(point.id)),
        payload={name: _payload_value(value) for name, value in point.payload.items()},
        vectors=qdrant.VectorsOutput(vectors=qdrant.NamedVectorsOutput(vectors=vectors)),
    )


def _payload_value(value: Any) -> qdrant.Value:
    kinds = {str: "string_value", int: "integer_value", float: "double_value"}
    return qdrant.Value(**{kinds[type(value)]: value})


def _vector(vector: Any) -> Any:
    """Dense or sparse, of a point or of a query."""
    kind = vector.WhichOneof("vector" if isinstance(vector, qdrant.Vector) else "variant")
    if kind == "dense":
        return list(vector.dense.data)
    if kind == "sparse":
        return SparseVector(list(vector.sparse.indices), list(vector.sparse.values))
    if isinstance(vector, qdrant.Vector) and vector.HasField("indices"):
        return SparseVector(list(vector.indices.data), list(vector.data))
    if isinstance(vector, qdrant.Vector):
        return list(vector.data)
    raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, f"the stand-in has no vectors of the kind {kind}")


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("kind"))


def _filter(condition: qdrant.Filter) -> Filter:
    if condition.should or condition.must_not or condition.HasField("min_should"):
        raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, "the stand-in knows `must` alone")
    return Filter(must=[_condition(part) for part in condition.must])


def _condition(condition: qdrant.Condition) -> FieldCondition:
    field = condition.field
    match field.match.WhichOneof("match_value"):
        case "keyword":
            return FieldCondition(field.key, match=MatchValue(field.match.keyword))
        case "integer":
            return FieldCondition(field.key, match=MatchValue(field.match.integer))
        case "keywords":
            return FieldCondition(field.key, match=MatchAny(list(field.match.keywords.strings)))
        case "integers":
            return FieldCondition(field.key, match=MatchAny(list(field.match.integers.integers)))
        case kind:
            raise RefusedError(grpc.StatusCode.UNIMPLEMENTED, f"the stand-in has no match of the kind {kind}")


def conditions(condition: qdrant.Filter) -> Iterator[qdrant.FieldCondition]:
    """The parts of a filter."""
    for part in condition.must:
        yield part.field
