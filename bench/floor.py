"""The floors: what the same work costs at least, with nothing of Mneme around it.

They are measured beside Mneme in the same run and process, so that ratios hold on any machine.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import asyncpg
import grpc
import numpy as np
import numpy.typing as npt
from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    KeywordIndexParams,
    MatchValue,
    Point,
    Query,
    QueryRequest,
    UpdateOperation,
)

from bench.common import BenchError, times_of
from services.common.embedding.embedder import Embedder
from services.gateway.recall.settings import RecallSettings

Matrix = npt.NDArray[np.float32]

SEARCH_LIMIT: Final = RecallSettings().retriever_limit
"""Hits of the bare search: what the dense retriever of a Recall asks for."""
_HOP_METHOD: Final = "/bench.Floor/Hop"
_UPSERT_POINTS: Final = 1_000
_TIERS: Final = (1, 2, 3, 4, 5)


# ------------------------------------------------------------------------------------------------ hops


@asynccontextmanager
async def empty_hops() -> AsyncIterator[grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]]:
    """A grpc.aio server whose one method does nothing, and a client of it, both in this process."""
    server = grpc.aio.server()
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(_answer_nothing)
    methods = grpc.method_handlers_generic_handler("bench.Floor", {"Hop": handler})
    server.add_generic_rpc_handlers((methods,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            hop: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(_HOP_METHOD)
            yield hop
    finally:
        await server.stop(None)


async def _answer_nothing(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
    del request, context
    return b""


# ---------------------------------------------------------------------------------------------- recall


def similar_vectors(sample: Matrix, count: int, *, seed: int) -> Matrix:
    """Vectors that lie as real ones do: the sample itself, then mixtures of two of it with a little noise.

    Args:
        sample: Real vectors of length 1: float32 `[n, dimension]`.
        count: How many are wanted.
        seed: Same seed, same vectors.

    Returns:
        float32 `[count, dimension]`, rows of length 1.
    """
    if count <= len(sample):
        return sample[:count]
    source = np.random.default_rng(seed)
    more = count - len(sample)
    first, second = source.integers(0, len(sample), size=(2, more))
    share = source.uniform(0.5, 0.9, size=(more, 1)).astype(np.float32)
    noise = source.normal(0.0, 0.01, size=(more, sample.shape[1])).astype(np.float32)
    mixed = share * sample[first] + (1 - share) * sample[second] + noise
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    return np.concatenate([sample, mixed])


BARE_POINTS_MAX: Final = 200_000
"""More of them take the bare engine longer than ten minutes to build, in which it holds the whole process."""


class BareIndex:
    """Qdrant's engine alone: dense vectors and one keyword, `user`."""

    def __init__(self, folder: Path, vectors: Matrix, users: Sequence[str]) -> None:
        """Create a shard in an empty folder and fill it. Blocks.

        Args:
            folder: Where to.
            vectors: float32 `[points, dimension]`.
            users: The user of each point.
        """
        folder.mkdir(parents=True)
        dimension = int(vectors.shape[1])
        config = EdgeConfig(vectors={"v": EdgeVectorParams(size=dimension, distance=Distance.Cosine)})
        self._shard = EdgeShard.create(str(folder), config)
        self._shard.update(UpdateOperation.create_field_index("user", KeywordIndexParams(is_tenant=True)))
        for start in range(0, len(vectors), _UPSERT_POINTS):
            rows = range(start, min(start + _UPSERT_POINTS, len(vectors)))
            points = [Point(row, {"v": vectors[row].tolist()}, {"user": users[row]}) for row in rows]
            self._shard.update(UpdateOperation.upsert_points(points))
        self._shard.optimize()

    def search(self, vector: npt.NDArray[np.float32], user: str) -> int:
        """One user's nearest points, without payload; returns how many."""
        condition = Filter(must=[FieldCondition("user", match=MatchValue(user))])
        nearest = Query.Nearest(vector.tolist(), using="v")
        return len(self._shard.query(QueryRequest(limit=SEARCH_LIMIT, query=nearest, filter=condition)))

    def close(self) -> None:
        """Close the shard."""
        self._shard.close()


@dataclass(slots=True)
class RecallFloor:
    """One query embedding, one search in the bare engine, two empty hops, one after the other."""

    embedder: Embedder
    index: BareIndex | None  # None: no search
    hop: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
    user: str
    total_seconds: list[float] = field(default_factory=list)
    embed_seconds: list[float] = field(default_factory=list)
    search_seconds: list[float] = field(default_factory=list)
    hops_seconds: list[float] = field(default_factory=list)

    async def measure(self, query: str) -> None:
        """Do the work once and note what each part took."""
        started = time.perf_counter()
        vector = await self.embedder.embed_query(query)
        embedded = time.perf_counter()
        found = self.index.search(vector, self.user) if self.index is not None else 1
        searched = time.perf_counter()
        await self.hop(b"")
        await self.hop(b"")
        ended = time.perf_counter()
        assert found > 0
        self.embed_seconds.append(embedded - started)
        self.hops_seconds.append(ended - searched)
        if self.index is not None:
            self.total_seconds.append(ended - started)
            self.search_seconds.append(searched - embedded)

    def report(self) -> dict[str, Any]:
        """Times of the parts and of all of them; without a search, of the other two."""
        parts = {
            "total": self.total_seconds,
            "embed": self.embed_seconds,
            "search": self.search_seconds,
            "hops": self.hops_seconds,
        }
        return {name: asdict(times_of(seconds)) for name, seconds in parts.items() if seconds}

    def clear(self) -> None:
        """Forget what was measured so far."""
        for seconds in (self.total_seconds, self.embed_seconds, self.search_seconds, self.hops_seconds):
            seconds.clear()


# -------------------------------------------------------------------------------------------- remember

_CREATE_TABLES: Final = """
    DROP SCHEMA IF EXISTS bench_floor CASCADE;
    CREATE SCHEMA bench_floor;
    CREATE SEQUENCE bench_floor.journal_sequence;
    CREATE TABLE bench_floor.conversations (LIKE gateway.conversations INCLUDING ALL);
    CREATE TABLE bench_floor.interactions (LIKE gateway.interactions INCLUDING ALL);
    CREATE TABLE bench_floor.deliveries (LIKE gateway.deliveries INCLUDING ALL);
    CREATE TABLE bench_floor.requests (LIKE gateway.requests INCLUDING ALL);
"""
_INSERT_REQUEST: Final = """
    INSERT INTO bench_floor.requests
        (tenant_id, principal_id, method, request_id, user_id, request_hash, response, create_time)
    VALUES ('t', 'p', 'Remember', $1, 'u', '', '{}', $2)
"""
_UPSERT_CONVERSATION: Final = """
    INSERT INTO bench_floor.conversations AS c
        (tenant_id, user_id, conversation_id, next_position, interaction_count, create_time, update_time)
    VALUES ('t', 'u', $1, 1, 1, $2, $2)
    ON CONFLICT (tenant_id, user_id, conversation_id)
        DO UPDATE SET next_position = c.next_position + 1, interaction_count = c.interaction_count + 1, update_time = $2
"""
_INSERT_INTERACTION: Final = """
    INSERT INTO bench_floor.interactions
        (tenant_id, interaction_id, sequence, user_id, conversation_id, position, role, speaker, content,
         said_time, scope_key, gate_reason, gate_detail, create_time)
    VALUES ('t', $1, nextval('bench_floor.journal_sequence'), 'u', $2, $3, 1, 's', $4, $5, 'g', 1, '', $5)
"""
_INSERT_DELIVERIES: Final = """
    INSERT INTO bench_floor.deliveries
        (tenant_id, tier, kind, subject_id, sequence, user_id, next_attempt_time, create_time)
    SELECT 't', tier, 1, $1, $2, 'u', $3, $3 FROM unnest($4::smallint[]) AS tier
"""


def superuser_dsn(data_dir: Path) -> str:
    """Connection URL of the embedded PostgreSQL in a data folder, from what it notes about itself.

    Raises:
        BenchError: No server runs there.
    """
    for file in data_dir.glob("postgres/*/postmaster.pid"):
        lines = file.read_text("utf-8").splitlines()
        if len(lines) > 4:
            return f"postgresql://postgres@/mneme?host={quote(lines[4], safe='/')}&port={lines[3]}"
    raise BenchError(f"no PostgreSQL runs in {data_dir}")


class RememberFloor:
    """One commit of the rows of a Remember of one turn, in tables of their own, and two empty hops."""

    def __init__(
        self,
        connection: asyncpg.Connection[asyncpg.Record],
        hop: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes],
    ) -> None:
        """Use an open connection; `open` makes the tables first."""
        self._connection = connection
        self._hop = hop
        self._count = 0
        self.total_seconds: list[float] = []
        self.commit_seconds: list[float] = []

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str, hop: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]) -> AsyncIterator[RememberFloor]:
        """Connect to the stack's server as its superuser and create the tables, of the same shape as the journal's.

        Raises:
            BenchError: The server does not wait for the disk, which would make the floor meaningless.
        """
        connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(dsn)
        try:
            for name in ("fsync", "synchronous_commit"):
                if await connection.fetchval(f"SHOW {name}") != "on":
                    raise BenchError(f"the server runs with {name} off")
            await connection.execute(_CREATE_TABLES)
            yield cls(connection, hop)
        finally:
            await connection.execute("DROP SCHEMA IF EXISTS bench_floor CASCADE")
            await connection.close()

    async def measure(self, content: str) -> None:
        """Do the work once and note what it took."""
        self._count += 1
        interaction_id, now = uuid.uuid4(), datetime.now(UTC)
        work: Sequence[tuple[str, tuple[Any, ...]]] = (
            (_INSERT_REQUEST, (f"floor-{self._count}", now)),
            (_UPSERT_CONVERSATION, ("conversation", now)),
            (_INSERT_INTERACTION, (interaction_id, "conversation", self._count, content, now)),
            (_INSERT_DELIVERIES, (interaction_id, self._count, now, _TIERS)),
        )
        started = time.perf_counter()
        async with self._connection.transaction():
            for statement, parameters in work:
                await self._connection.execute(statement, *parameters)
        committed = time.perf_counter()
        await self._hop(b"")
        await self._hop(b"")
        ended = time.perf_counter()
        self.total_seconds.append(ended - started)
        self.commit_seconds.append(committed - started)
