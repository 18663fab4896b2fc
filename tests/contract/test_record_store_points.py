from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client import grpc as qdrant

from services.common.copying.checksum import checksum_of
from services.common.copying.model import CopyError, Record, key_of
from services.common.copying.postgres_values import vector_bytes
from services.common.datadir import DataDirLocked
from services.episodic.config import EdgeSettings, QdrantServer, QdrantSettings
from services.episodic.model import Owner, TenantId, UserId
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.points_copy import (
    EdgePointEngine,
    EmbeddingModel,
    PointEngine,
    PointRecords,
    QdrantPointEngine,
)
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import QdrantConnection, create_qdrant_client
from tests.contract.episode_index import piece, query
from tests.contract.episode_samples import OWNER
from tests.contract.record_store import RecordStoreContract, Subject
from tests.support.qdrant_server import StandIn, serving

# The client's local mode keeps no payload indexes and says so; filters are the same without.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

MODEL = EmbeddingModel("hashing-test-64", 64)


def qdrant_engine(client: AsyncQdrantClient) -> QdrantPointEngine:
    return QdrantPointEngine(QdrantConnection(client, QdrantSettings()))


def point(n: int) -> Record:
    owner = Owner(TenantId(f"tenant-{n % 3}"), UserId("ana"))
    vector = np.random.default_rng(n).normal(size=64).astype(np.float32)
    return {
        "id": str(UUID(int=(7919 * n) % 1009 << 96 | n)),
        "vector": vector_bytes(vector / np.linalg.norm(vector)),
        "term_ids": [3, 2**32 - 1 - n],
        "term_weights": [0.5, float(np.float32(1.1 + n))],
        "payload": {
            "owner": owner.key,
            "visibility": f"{owner.key}\x1e1",
            "turn": 2**62 + n,
            "tenant": owner.tenant_id,
            "user": owner.user_id,
            # A whole second in between.
            "time": 1_767_225_600.0 + n / 2,
        },
    }


class PointRecordsContract(RecordStoreContract):
    """Both engines keep vectors but for their last digits, so that those are compared by themselves."""

    async def test_what_is_written_is_read_unchanged(self, subject: Subject) -> None:
        records = {str(point(n)["id"]): point(n) for n in range(5)}

        await subject.store.write(subject.kind, list(records.values()))

        found = await subject.store.read(subject.kind, after=None, limit=10)
        assert [record["id"] for record in found] == sorted(records)
        for record in found:
            wanted = records[record["id"]]
            assert np.abs(numbers(record) - numbers(wanted)).max() < 1e-6
            assert {**record, "vector": b""} == {**wanted, "vector": b""}
        assert checksum_of(subject.kind, found).agrees_with(checksum_of(subject.kind, records.values()))


def numbers(record: Record) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.frombuffer(record["vector"], dtype="<f4")


class TestEdgePointRecords(PointRecordsContract):
    """The embedded engine."""

    @pytest.fixture
    async def subject(self, tmp_path: Path) -> AsyncIterator[Subject]:
        points = await EdgePointEngine(tmp_path).open(MODEL, create=True)
        yield Subject(points, points.kinds[0], point)
        await points.aclose()


class TestQdrantPointRecords(PointRecordsContract):
    """A server, in the client's local mode."""

    @pytest.fixture
    async def subject(self) -> AsyncIterator[Subject]:
        engine = qdrant_engine(AsyncQdrantClient(location=":memory:"))
        points = await engine.open(MODEL, create=True)
        yield Subject(points, points.kinds[0], point)
        await engine.aclose()


class TestQdrantPointRecordsOverTheWire(PointRecordsContract):
    """The stand-in server, with shards, and a strict mode that allows less than a page at once."""

    @pytest.fixture
    async def subject(self, tmp_path: Path) -> AsyncIterator[Subject]:
        strict = qdrant.StrictModeConfig(enabled=True, max_query_limit=4, upsert_max_batchsize=3)
        async with serving(StandIn(tmp_path, strict=strict)) as port:
            settings = QdrantSettings(shards=2)
            client = create_qdrant_client(QdrantServer(url=f"http://127.0.0.1:{port}"), settings)
            engine = QdrantPointEngine(QdrantConnection(client, settings), settings)
            points = await engine.open(MODEL, create=True)
            yield Subject(points, points.kinds[0], point)
            await engine.aclose()


async def copied(source: PointRecords, target: PointRecords) -> None:
    """All points, in pages of ten."""
    [kind], after = source.kinds, None
    while page := await source.read(kind, after=after, limit=10):
        await target.write(kind, page)
        after = key_of(kind, page[-1])


class TestEngines:
    """From one engine to the other, and how indexes are found."""

    async def test_a_copied_index_is_opened_in_segments_that_are_built_already(self, tmp_path: Path) -> None:
        settings = EdgeSettings(optimize_after_points=300, segment_points_max=400)
        target = await EdgePointEngine(tmp_path, settings).open(MODEL, create=True)
        for start in range(0, 1_000, 100):
            await target.write(target.kinds[0], [point(n) for n in range(start, start + 100)])
        await target.aclose()

        index = await EdgeEpisodeIndex.open(
            tmp_path, model=MODEL.fingerprint, dimension=MODEL.dimension, settings=settings
        )

        assert (await index.state()).segments >= 1 + 1_000 // 300
        assert (await index.state()).unindexed_points < 300
        await index.aclose()

    async def test_an_index_that_was_copied_to_a_server_and_back_answers_as_before(self, tmp_path: Path) -> None:
        index = await EdgeEpisodeIndex.open(tmp_path / "old", model=MODEL.fingerprint, dimension=MODEL.dimension)
        await index.put([piece(n, f"apple {n} pear {n % 7}") for n in range(60)])
        question = query("apple pear 3")
        before = await index.search(question, limit=60)
        await index.aclose()
        client = AsyncQdrantClient(location=":memory:")
        server = qdrant_engine(client)

        old = await EdgePointEngine(tmp_path / "old").open(MODEL, create=False)
        there = await server.open(MODEL, create=True)
        await copied(old, there)
        await old.aclose()
        back = await EdgePointEngine(tmp_path / "new").open(MODEL, create=True)
        await copied(there, back)
        await back.aclose()

        on_server = await QdrantEpisodeIndex.open(client, model=MODEL.fingerprint, dimension=MODEL.dimension)
        again = await EdgeEpisodeIndex.open(tmp_path / "new", model=MODEL.fingerprint, dimension=MODEL.dimension)
        for found in (await on_server.search(question, limit=60), await again.search(question, limit=60)):
            assert found.dense == pytest.approx(before.dense, abs=1e-5)
            assert found.lexical == pytest.approx(before.lexical, abs=1e-4)
        assert await again.count(OWNER) == 60
        # Rows name the index by this.
        assert (await server.open(MODEL, create=False)).index_name == on_server.model
        assert back.index_name == again.model != old.index_name
        await again.aclose()
        await on_server.aclose()

    @pytest.mark.parametrize("is_server", [False, True])
    async def test_a_missing_index_is_told_and_not_made(self, tmp_path: Path, is_server: bool) -> None:
        client = AsyncQdrantClient(location=":memory:")
        engine: PointEngine = qdrant_engine(client) if is_server else EdgePointEngine(tmp_path)

        with pytest.raises(CopyError, match="no vectors of the model hashing-test-64"):
            await engine.open(MODEL, create=False)

        assert await engine.known() == {}
        await engine.aclose()

    @pytest.mark.parametrize("is_server", [False, True])
    async def test_indexes_are_known_by_their_generations(self, tmp_path: Path, is_server: bool) -> None:
        client = AsyncQdrantClient(location=":memory:")
        engine: PointEngine = qdrant_engine(client) if is_server else EdgePointEngine(tmp_path)

        points = await engine.open(MODEL, create=True)

        fingerprint, _, generation = points.index_name.rpartition("@")
        assert fingerprint == MODEL.fingerprint
        assert await engine.known() == {generation: 64}
        await points.aclose()
        await engine.aclose()


async def test_a_shard_that_a_service_has_open_is_not_copied(tmp_path: Path) -> None:
    engine = EdgePointEngine(tmp_path / "qdrant")
    records = await engine.open(MODEL, create=True)
    with pytest.raises(DataDirLocked):
        await engine.open(MODEL, create=True)
    with pytest.raises(DataDirLocked):
        await EdgeEpisodeIndex.open(
            tmp_path / "qdrant", model=MODEL.fingerprint, dimension=64, settings=EdgeSettings(lock_wait_seconds=0.0)
        )
    await records.aclose()
    await (await engine.open(MODEL, create=True)).aclose()
