"""A stand-in for a Qdrant server: `python -m tests.support.qdrant_server --folder F --port P`.

It is not Qdrant. It speaks the messages of Qdrant's public gRPC API for exactly the calls that this project's driver
makes, over real gRPC, and keeps points in Qdrant's embedded engine, in a folder. It exists to exercise what lies
between: the wire, deadlines, retries, a server that is killed and comes back with its data, one that refuses, and
limits that an administrator has set. It says nothing about a server's speed, consensus, replication, or what the
documentation leaves open.

It prints `ready` and serves until it is stopped; a kill loses nothing that was answered.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
from qdrant_client import grpc as qdrant
from qdrant_client.grpc import collections_service_pb2_grpc, points_service_pb2_grpc, qdrant_pb2_grpc

from tests.support.qdrant_engine import Collection, Collections, RefusedError, conditions

_FAULTS_METHOD: Final = "/mneme.test.Faults/Add"
_READY: Final = "ready"
_SCHEMA_TYPES: Final = {
    "keyword_index_params": qdrant.PayloadSchemaType.Keyword,
    "integer_index_params": qdrant.PayloadSchemaType.Integer,
    "float_index_params": qdrant.PayloadSchemaType.Float,
}


@dataclass
class Fault:
    """What calls are answered instead of what they ask for."""

    code: str  # name of a status
    method: str = ""  # Upsert, QueryBatch ...; empty: any
    times: int = 1  # calls that are answered so
    is_done: bool = False  # the call takes effect all the same: its answer is lost
    trailers: dict[str, str] = field(default_factory=dict)


class StandIn:
    """Answers calls from collections in a folder."""

    def __init__(self, folder: Path, *, version: str = "1.19.0", strict: qdrant.StrictModeConfig | None = None) -> None:
        """`strict` is what new collections are limited to, as a server's configuration may say."""
        self.collections = Collections(folder)
        self.faults: list[Fault] = []
        self.calls: list[str] = []
        self._version = version
        self._strict = strict

    async def answer(self, method: str, request: Any, context: Any) -> Any:
        self.calls.append(method)
        fault = next((fault for fault in self.faults if fault.times and fault.method in {"", method}), None)
        if fault is not None:
            fault.times -= 1
            if not fault.is_done:
                await self._abort(fault, context)
        response = None
        try:
            response = getattr(self, f"_{method}")(request)
        except RefusedError as error:
            await context.abort(error.code, str(error))
        if fault is not None:
            await self._abort(fault, context)
        return response

    async def _abort(self, fault: Fault, context: Any) -> None:
        await context.abort(grpc.StatusCode[fault.code], "told so", trailing_metadata=tuple(fault.trailers.items()))

    async def add_fault(self, request: bytes, _context: Any) -> bytes:
        self.faults.append(Fault(**json.loads(request)))
        return b""

    def _HealthCheck(self, _request: Any) -> Any:
        return qdrant.HealthCheckReply(title="a stand-in for qdrant", version=self._version)

    def _List(self, request: Any) -> Any:  # noqa: ARG002 - it asks for all
        described = [qdrant.CollectionDescription(name=name) for name in self.collections.names]
        return qdrant.ListCollectionsResponse(collections=described)

    def _CollectionExists(self, request: Any) -> Any:
        exists = request.collection_name in self.collections
        return qdrant.CollectionExistsResponse(result=qdrant.CollectionExists(exists=exists))

    def _Create(self, request: Any) -> Any:
        if self._strict is not None and not request.HasField("strict_mode_config"):
            request.strict_mode_config.CopyFrom(self._strict)
        self.collections.create(request)
        return qdrant.CollectionOperationResponse(result=True)

    def _Delete(self, request: Any) -> Any:
        if isinstance(request, qdrant.DeleteCollection):
            return qdrant.CollectionOperationResponse(result=self.collections.delete(request.collection_name))
        collection = self._checked(request, request.points.filter)
        collection.delete(request)
        return _written()

    def _Get(self, request: Any) -> Any:
        collection = self.collections.get(request.collection_name)
        if isinstance(request, qdrant.GetPoints):
            _limit(collection, "max_timeout", request.timeout)
            return qdrant.GetResponse(result=collection.retrieve(request))
        made = collection.made
        config = qdrant.CollectionConfig(
            params=qdrant.CollectionParams(
                shard_number=made.shard_number,
                vectors_config=made.vectors_config,
                sparse_vectors_config=made.sparse_vectors_config,
                replication_factor=made.replication_factor,
            ),
            hnsw_config=made.hnsw_config,
            optimizer_config=qdrant.OptimizersConfigDiff(
                deleted_threshold=0.2, vacuum_min_vector_number=1_000, default_segment_number=0, flush_interval_sec=5
            ),
            wal_config=qdrant.WalConfigDiff(wal_capacity_mb=32, wal_segments_ahead=0),
            strict_mode_config=made.strict_mode_config if made.HasField("strict_mode_config") else None,
            metadata=dict(made.metadata),
        )
        schema = {
            index.field_name: qdrant.PayloadSchemaInfo(
                data_type=_SCHEMA_TYPES[index.field_index_params.WhichOneof("index_params")],
                params=index.field_index_params,
            )
            for index in collection.indexes
        }
        # Grey, as after a start: the server optimises no more until something is written.
        status = qdrant.CollectionStatus.Green if collection.points_count else qdrant.CollectionStatus.Grey
        info = qdrant.CollectionInfo(
            status=status,
            optimizer_status=qdrant.OptimizerStatus(ok=True),
            config=config,
            payload_schema=schema,
            points_count=collection.points_count,
        )
        return qdrant.GetCollectionInfoResponse(result=info)

    def _CreateShardKey(self, request: Any) -> Any:
        self.collections.get(request.collection_name).create_shard(request.request.shard_key.keyword)
        return qdrant.CreateShardKeyResponse(result=True)

    def _ListShardKeys(self, request: Any) -> Any:
        names = self.collections.get(request.collection_name).shard_keys
        keys = [qdrant.ShardKeyDescription(key=qdrant.ShardKey(keyword=name)) for name in names]
        return qdrant.ListShardKeysResponse(shard_keys=keys)

    def _CreateFieldIndex(self, request: Any) -> Any:
        self.collections.get(request.collection_name).create_index(request)
        return _written()

    def _Upsert(self, request: Any) -> Any:
        collection = self.collections.get(request.collection_name)
        _limit(collection, "upsert_max_batchsize", len(request.points))
        _limit(collection, "max_timeout", request.timeout)
        collection.upsert(request)
        return _written()

    def _Count(self, request: Any) -> Any:
        count = self._checked(request, request.filter).count(request)
        return qdrant.CountResponse(result=qdrant.CountResult(count=count))

    def _Scroll(self, request: Any) -> Any:
        collection = self._checked(request, request.filter)
        _limit(collection, "max_query_limit", request.limit)
        return qdrant.ScrollResponse(result=collection.scroll(request))

    def _QueryBatch(self, request: Any) -> Any:
        _limit(self.collections.get(request.collection_name), "search_max_batchsize", len(request.query_points))
        answers = []
        for query in request.query_points:
            collection = self._checked(query, query.filter, timeout=request.timeout)
            _limit(collection, "max_query_limit", query.limit)
            answers.append(collection.query(query))
        return qdrant.QueryBatchResponse(result=answers)

    def _checked(self, request: Any, condition: qdrant.Filter, *, timeout: int = 0) -> Collection:
        """The collection of a request, unless its strict mode forbids what the request asks for."""
        collection = self.collections.get(request.collection_name)
        _limit(collection, "max_timeout", timeout or request.timeout)
        _limit(collection, "filter_max_conditions", len(condition.must))
        indexed = {index.field_name for index in collection.indexes}
        for part in conditions(condition):
            values = max(len(part.match.keywords.strings), len(part.match.integers.integers))
            _limit(collection, "condition_max_size", values)
            strict = collection.made.strict_mode_config
            if strict.enabled and strict.HasField("unindexed_filtering_retrieve") and part.key not in indexed:
                raise RefusedError(
                    grpc.StatusCode.INVALID_ARGUMENT, f'Bad request: Index required but not found for "{part.key}"'
                )
        return collection


def _limit(collection: Collection, name: str, value: int) -> None:
    strict: Any = collection.made.strict_mode_config
    if strict.enabled and strict.HasField(name) and value > getattr(strict, name):
        raise RefusedError(
            grpc.StatusCode.INVALID_ARGUMENT, f"Bad request: {name} is {getattr(strict, name)}, not {value}"
        )


def _written() -> Any:
    result = qdrant.UpdateResult(operation_id=1, status=qdrant.UpdateStatus.Completed)
    return qdrant.PointsOperationResponse(result=result)


@contextlib.asynccontextmanager
async def serving(stand_in: StandIn, *, port: int = 0) -> AsyncIterator[int]:
    """Serves it on a port of this machine, a free one where it is 0, and closes it at the end."""

    def handlers(*names: str) -> Any:
        def handler(name: str) -> Any:
            async def answer(_self: Any, request: Any, context: Any) -> Any:
                return await stand_in.answer(name, request, context)

            return answer

        return {name: handler(name) for name in names}

    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    registrations: tuple[tuple[Any, Any, tuple[str, ...]], ...] = (
        (qdrant_pb2_grpc.add_QdrantServicer_to_server, qdrant_pb2_grpc.QdrantServicer, ("HealthCheck",)),
        (
            collections_service_pb2_grpc.add_CollectionsServicer_to_server,
            collections_service_pb2_grpc.CollectionsServicer,
            ("List", "CollectionExists", "Create", "Get", "Delete", "CreateShardKey", "ListShardKeys"),
        ),
        (
            points_service_pb2_grpc.add_PointsServicer_to_server,
            points_service_pb2_grpc.PointsServicer,
            ("Upsert", "Delete", "Get", "Count", "Scroll", "QueryBatch", "CreateFieldIndex"),
        ),
    )
    for register, base, names in registrations:
        register(type("Servicer", (base,), handlers(*names))(), server)
    service, method = _FAULTS_METHOD[1:].split("/")
    faults: dict[str, Any] = {method: grpc.unary_unary_rpc_method_handler(stand_in.add_fault)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, faults),))
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield bound
    finally:
        await server.stop(None)
        stand_in.collections.close()


class QdrantProcess:
    """The stand-in as a process that can be killed and started again with its data."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.support.qdrant_server"]
        self._process = subprocess.Popen(
            [*command, "--folder", str(self._folder), "--port", str(self.port)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != _READY:
            raise RuntimeError(f"the stand-in ended with {self._process.wait()}")

    def kill(self) -> None:
        """As kill -9 does; nothing where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def pause(self) -> None:
        """Holds the process: connections stay open and nothing answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def fail(self, fault: Fault) -> None:
        with grpc.insecure_channel(f"127.0.0.1:{self.port}") as channel:
            add: Any = channel.unary_unary(_FAULTS_METHOD)
            add(json.dumps(asdict(fault)).encode(), timeout=10)


@contextlib.contextmanager
def running(folder: Path, port: int) -> Iterator[QdrantProcess]:
    """A process that has been started, killed at the end."""
    process = QdrantProcess(folder, port)
    try:
        process.start()
        yield process
    finally:
        process.kill()


async def _serve(folder: Path, port: int) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    async with serving(StandIn(folder), port=port):
        sys.stdout.write(f"{_READY}\n")
        sys.stdout.flush()
        await stopped.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A stand-in for a Qdrant server, for tests.")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.folder, arguments.port))
