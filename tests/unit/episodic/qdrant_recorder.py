"""A gRPC server with Qdrant's API that finds nothing, writes down what it is asked, and fails when told so."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import grpc
from qdrant_client import grpc as qdrant
from qdrant_client.grpc import collections_service_pb2_grpc, points_service_pb2_grpc, qdrant_pb2_grpc

Failure = tuple[grpc.StatusCode, Sequence[tuple[str, str]]]


def failure(code: grpc.StatusCode, **trailers: str) -> Failure:
    return code, tuple((name.replace("_", "-"), value) for name, value in trailers.items())


class QdrantRecorder:
    """What was asked, by method, and what is answered."""

    def __init__(self, version: str = "1.19.0") -> None:
        self.version = version
        self.write_status = qdrant.UpdateStatus.Completed
        self.requests: dict[str, list[Any]] = defaultdict(list)
        self.seconds_left: dict[str, list[float]] = defaultdict(list)
        self.api_keys: set[str | None] = set()
        self.failures: dict[str, list[Failure]] = defaultdict(list)
        self.made: dict[str, qdrant.CreateCollection] = {}
        self.shards: list[str] = []
        self.overlooked = 0  # times that a collection is said not to exist although it does

    @property
    def filters(self) -> Iterable[qdrant.Filter]:
        """Every filter that was sent, those of term statistics included."""
        for batch in self.requests["QueryBatch"]:
            for query in batch.query_points:
                yield query.filter
                if query.HasField("params"):
                    yield query.params.idf.corpus
        yield from (request.points.filter for request in self.requests["Delete"])
        yield from (request.filter for request in self.requests["Count"])

    async def answer(self, method: str, request: Any, context: Any) -> Any:
        self.requests[method].append(request)
        self.seconds_left[method].append(context.time_remaining())
        self.api_keys.add(dict(context.invocation_metadata()).get("api-key"))
        if self.failures[method]:
            code, trailers = self.failures[method].pop(0)
            await context.abort(code, "told so", trailing_metadata=trailers)
        make = getattr(self, f"_{method}", None)
        return make(request) if make else self._written(request)

    def _written(self, _request: Any) -> Any:
        return qdrant.PointsOperationResponse(result=qdrant.UpdateResult(operation_id=1, status=self.write_status))

    def _HealthCheck(self, _request: Any) -> Any:
        return qdrant.HealthCheckReply(title="qdrant", version=self.version)

    def _CollectionExists(self, request: Any) -> Any:
        exists = request.collection_name in self.made and not self.overlooked
        self.overlooked = max(0, self.overlooked - 1)
        return qdrant.CollectionExistsResponse(result=qdrant.CollectionExists(exists=exists))

    def _Create(self, request: Any) -> Any:
        self.made[request.collection_name] = request
        return qdrant.CollectionOperationResponse(result=True)

    def _Get(self, request: Any) -> Any:
        made = self.made[request.collection_name]
        optimizers = qdrant.OptimizersConfigDiff(
            deleted_threshold=0.2, vacuum_min_vector_number=1_000, default_segment_number=0, flush_interval_sec=5
        )
        config = qdrant.CollectionConfig(
            params=qdrant.CollectionParams(
                shard_number=made.shard_number,
                vectors_config=made.vectors_config,
                sparse_vectors_config=made.sparse_vectors_config,
            ),
            hnsw_config=made.hnsw_config,
            optimizer_config=optimizers,
            wal_config=qdrant.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
            metadata=dict(made.metadata),
        )
        indexed = {
            index.field_name: qdrant.PayloadSchemaInfo(data_type=qdrant.PayloadSchemaType.Keyword)
            for index in self.requests["CreateFieldIndex"]
        }
        info = qdrant.CollectionInfo(
            status=qdrant.CollectionStatus.Green,
            optimizer_status=qdrant.OptimizerStatus(ok=True),
            config=config,
            payload_schema=indexed,
        )
        return qdrant.GetCollectionInfoResponse(result=info)

    def _CreateShardKey(self, request: Any) -> Any:
        self.shards.append(request.request.shard_key.keyword)
        return qdrant.CreateShardKeyResponse(result=True)

    def _ListShardKeys(self, _request: Any) -> Any:
        keys = [qdrant.ShardKeyDescription(key=qdrant.ShardKey(keyword=shard)) for shard in self.shards]
        return qdrant.ListShardKeysResponse(shard_keys=keys)

    def _QueryBatch(self, request: Any) -> Any:
        return qdrant.QueryBatchResponse(result=[qdrant.BatchResult() for _ in request.query_points])

    def _Count(self, _request: Any) -> Any:
        return qdrant.CountResponse(result=qdrant.CountResult(count=0))

    def _Scroll(self, _request: Any) -> Any:
        return qdrant.ScrollResponse()


@contextlib.asynccontextmanager
async def serving(recorder: QdrantRecorder, credentials: grpc.ServerCredentials | None = None) -> AsyncIterator[int]:
    """Serve it on a free port of this machine."""

    def handlers(*names: str) -> Any:
        def handler(name: str) -> Any:
            async def answer(_self: Any, request: Any, context: Any) -> Any:
                return await recorder.answer(name, request, context)

            return answer

        return {name: handler(name) for name in names}

    server = grpc.aio.server()
    health = type("Health", (qdrant_pb2_grpc.QdrantServicer,), handlers("HealthCheck"))
    collections = type(
        "Collections",
        (collections_service_pb2_grpc.CollectionsServicer,),
        handlers("CollectionExists", "Create", "Get", "CreateShardKey", "ListShardKeys"),
    )
    points = type(
        "Points",
        (points_service_pb2_grpc.PointsServicer,),
        handlers("Upsert", "Delete", "Count", "Scroll", "QueryBatch", "CreateFieldIndex"),
    )
    registrations: tuple[tuple[Any, Any], ...] = (
        (qdrant_pb2_grpc.add_QdrantServicer_to_server, health()),
        (collections_service_pb2_grpc.add_CollectionsServicer_to_server, collections()),
        (points_service_pb2_grpc.add_PointsServicer_to_server, points()),
    )
    for register, servicer in registrations:
        register(servicer, server)
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)
