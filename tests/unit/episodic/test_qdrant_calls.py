"""What the driver sends to a server, and what it makes of the answers, over real gRPC."""

import contextlib
import datetime as dt
import ipaddress
from collections.abc import AsyncIterator

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from qdrant_client import grpc as qdrant

from services.common.errors import FailedPrecondition, StoreUnavailable
from services.common.telemetry import state
from services.episodic.config import QdrantServer, QdrantSettings
from services.episodic.model import Owner, UserId
from services.episodic.stores.points import point_id
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import address_of, create_qdrant_client
from tests.contract.episode_index import key_of, piece, query
from tests.contract.episode_samples import OWNER, TENANT
from tests.unit.episodic.qdrant_recorder import QdrantRecorder, failure, serving

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


def settings(**changes: float) -> QdrantSettings:
    quick = {"retry_seconds_min": 0.001, "retry_seconds_max": 0.002}
    return QdrantSettings(**{**quick, **changes})  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def opened(recorder: QdrantRecorder, **changes: float) -> AsyncIterator[QdrantEpisodeIndex]:
    async with serving(recorder) as port:
        chosen = settings(**changes)
        client = create_qdrant_client(QdrantServer(url=f"http://127.0.0.1:{port}"), chosen)
        index = await QdrantEpisodeIndex.open(client, model="m", dimension=64, settings=chosen)
        yield index
        await index.aclose()


async def use_everything(index: QdrantEpisodeIndex) -> None:
    await index.put([piece(1, "apple")])
    await index.search(query("apple", scope_keys=("1", "2\x1fp")), limit=10)
    await index.score(query("apple"), dense=[key_of(1)], lexical=[key_of(1)])
    await index.remove(OWNER, [key_of(1)])
    await index.count(OWNER)
    await index.scan(after=None, limit=10)


def fields(condition: qdrant.Filter) -> set[str]:
    return {part.field.key for part in condition.must}


@pytest.mark.parametrize("version", ["1.19.0", "1.20.0-dev", "v1.21.3", "2.0.0"])
async def test_versions_that_know_the_users_own_statistics_are_taken(version: str) -> None:
    async with opened(QdrantRecorder(version)) as index:
        assert index.model.startswith("m@")


@pytest.mark.parametrize("version", ["1.18.3", "1.9.9", "0.11.0", "", "unknown"])
async def test_older_servers_are_refused_before_anything_is_made(version: str) -> None:
    recorder = QdrantRecorder(version)
    with pytest.raises(FailedPrecondition, match=r"1\.19 or newer"):
        async with opened(recorder):
            pass
    assert not recorder.made


async def test_the_collection_is_made_for_tenants() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder):
        pass

    (made,) = recorder.made.values()
    assert made.collection_name == "mneme-episodes-64-m"
    dense = made.vectors_config.params_map.map["dense"]
    assert (dense.size, dense.distance) == (64, qdrant.Distance.Cosine)
    assert made.sparse_vectors_config.map["bm25"].modifier == qdrant.Modifier.Idf
    assert (made.hnsw_config.m, made.hnsw_config.payload_m) == (0, 16)
    assert made.shard_number == 1
    indexes = {index.field_name: index for index in recorder.requests["CreateFieldIndex"]}
    assert set(indexes) == {"owner", "visibility", "turn", "tenant", "user", "time"}
    assert indexes["owner"].field_index_params.keyword_index_params.is_tenant
    assert indexes["turn"].field_index_params.integer_index_params.lookup
    assert all(index.wait for index in indexes.values())


async def test_a_collection_that_another_replica_made_meanwhile_is_used() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as first:
        recorder.overlooked = 1
        recorder.failures["Create"].append(failure(grpc.StatusCode.ALREADY_EXISTS))
        async with opened(recorder) as second:
            assert second.model == first.model
    assert len(recorder.requests["Create"]) == 2


async def test_spec_7_1_every_filter_names_the_owner_and_indexed_fields_alone() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        await use_everything(index)

    indexed = {index.field_name for index in recorder.requests["CreateFieldIndex"]}
    sent = list(recorder.filters)
    assert len(sent) == 8
    for condition in sent:
        assert fields(condition) <= indexed
        own = next(part.field.match for part in condition.must if part.field.key in {"owner", "visibility"})
        named = [own.keyword] if own.HasField("keyword") else list(own.keywords.strings)
        assert named
        assert all(name.split("\x1e")[0] == OWNER.key for name in named)


async def test_spec_2_11_a_scan_reads_a_majority_of_replicas_and_no_more_than_owners() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder, shards=4) as index:
        await index.scan(after=key_of(1), limit=10)

    (sent,) = recorder.requests["Scroll"]
    assert sent.offset.uuid == str(point_id(key_of(2), 0))
    assert sent.limit == 10
    assert sent.read_consistency.type == qdrant.ReadConsistencyType.Majority
    assert list(sent.with_payload.include.fields) == ["tenant", "user"]
    assert not sent.with_vectors.enable
    assert not sent.shard_key_selector.shard_keys
    assert not sent.filter.must


async def test_spec_5_4_term_statistics_are_asked_for_the_owner_alone() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        await index.search(query("apple pie"), limit=10)

    (batch,) = recorder.requests["QueryBatch"]
    dense, lexical = batch.query_points
    assert (dense.using, lexical.using) == ("dense", "bm25")
    (condition,) = lexical.params.idf.corpus.must
    assert (condition.field.key, condition.field.match.keyword) == ("owner", OWNER.key)
    assert (dense.limit, lexical.limit) == (13, 13)
    assert not dense.with_payload.enable


async def test_writes_wait_until_they_are_seen_and_keep_their_order() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder, upsert_points_max=3) as index:
        await index.put([piece(n, "apple") for n in range(8)])
        await index.remove(OWNER, [key_of(1)])

    upserts = recorder.requests["Upsert"]
    assert [len(upsert.points) for upsert in upserts] == [3, 3, 2]
    for write in (*upserts, *recorder.requests["Delete"]):
        assert write.wait
        assert write.ordering.type == qdrant.WriteOrderingType.Medium
        assert write.timeout == 20


async def test_every_call_has_a_deadline() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder, search_timeout_seconds=3, write_timeout_seconds=7) as index:
        await use_everything(index)

    longest = {method: max(seconds) for method, seconds in recorder.seconds_left.items()}
    # On its way a deadline is rounded up.
    assert longest["QueryBatch"] < 3.5
    assert longest["Count"] < 3.5
    assert max(longest.values()) < 8.5


@pytest.mark.parametrize("code", [UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED])
async def test_transient_errors_are_tried_again_and_then_reported(code: grpc.StatusCode) -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        recorder.failures["Upsert"] += [failure(code)] * 3
        await index.put([piece(1, "apple")])
        assert len(recorder.requests["Upsert"]) == 4

        recorder.failures["QueryBatch"] += [failure(code)] * 2
        with pytest.raises(StoreUnavailable):
            await index.search(query("apple"), limit=10)
        assert len(recorder.requests["QueryBatch"]) == 2


@pytest.mark.parametrize("code", ["NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "INTERNAL"])
async def test_refusals_are_reported_at_once(code: str) -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        recorder.failures["QueryBatch"].append(failure(grpc.StatusCode[code]))
        with pytest.raises(StoreUnavailable):
            await index.search(query("apple"), limit=10)
        assert len(recorder.requests["QueryBatch"]) == 1


async def test_faults_of_ours_are_no_outage() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        recorder.failures["Upsert"].append(failure(grpc.StatusCode.INVALID_ARGUMENT))
        with pytest.raises(grpc.aio.AioRpcError):
            await index.put([piece(1, "apple")])
        assert len(recorder.requests["Upsert"]) == 1


async def test_a_rate_limit_that_lasts_is_passed_on_with_its_time() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        recorder.failures["Upsert"].append(failure(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_after="60"))
        with pytest.raises(StoreUnavailable) as caught:
            await index.put([piece(1, "apple")])
        assert caught.value.retry_after_seconds == 60
        assert len(recorder.requests["Upsert"]) == 1


@pytest.mark.parametrize("status", ["Acknowledged", "WaitTimeout"])
async def test_a_write_that_is_not_applied_yet_has_failed(status: str) -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as index:
        recorder.write_status = qdrant.UpdateStatus.Value(status)
        with pytest.raises(StoreUnavailable):
            await index.put([piece(1, "apple")])
        with pytest.raises(StoreUnavailable):
            await index.remove(OWNER, [key_of(1)])


async def test_an_owner_lies_in_one_shard() -> None:
    recorder = QdrantRecorder()
    bob = Owner(TENANT, UserId("bob"))
    async with opened(recorder, shards=4) as index:
        await use_everything(index)
        await index.put([piece(n, "pear", owner=owner) for n in range(3) for owner in (OWNER, bob)])

    (made,) = recorder.made.values()
    assert made.sharding_method == qdrant.ShardingMethod.Custom
    assert recorder.shards == [f"owners-{n}" for n in range(4)]
    queries = [part for batch in recorder.requests["QueryBatch"] for part in batch.query_points]
    others = [*recorder.requests["Delete"], *recorder.requests["Count"], *queries]
    (own,) = {key.keyword for request in others for key in request.shard_key_selector.shard_keys}
    for upsert in recorder.requests["Upsert"]:
        owners = {point.payload["owner"].string_value for point in upsert.points}
        (shard,) = [key.keyword for key in upsert.shard_key_selector.shard_keys]
        assert OWNER.key not in owners or shard == own


async def test_the_number_of_shards_stays_that_of_the_collection() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder, shards=4):
        pass
    async with opened(recorder, shards=2) as index:
        await index.count(OWNER)

    assert len(recorder.shards) == 4
    assert recorder.requests["Count"][0].shard_key_selector.shard_keys


async def test_what_the_server_refuses_to_prepare_is_told() -> None:
    recorder = QdrantRecorder()
    recorder.failures["Create"].append(failure(grpc.StatusCode.INVALID_ARGUMENT))
    with pytest.raises(FailedPrecondition, match="refuses to create the collection: told so"):
        async with opened(recorder, shards=4):
            pass


async def test_without_a_server_the_start_fails_in_time() -> None:
    client = create_qdrant_client(QdrantServer(url="http://127.0.0.1:9"), settings())
    with pytest.raises(StoreUnavailable):
        await QdrantEpisodeIndex.open(client, model="m", dimension=64, settings=settings(start_timeout_seconds=0.2))


async def test_the_api_key_goes_with_every_call_under_tls() -> None:
    certificate, key = self_signed()
    recorder = QdrantRecorder()
    async with serving(recorder, grpc.ssl_server_credentials([(key, certificate)])) as port:
        server = QdrantServer(url=f"https://127.0.0.1:{port}", api_key="k-1", authority=certificate)
        client = create_qdrant_client(server, settings())
        index = await QdrantEpisodeIndex.open(client, model="m", dimension=64, settings=settings())
        await use_everything(index)
        await index.aclose()

        stranger = create_qdrant_client(QdrantServer(url=f"https://127.0.0.1:{port}"), settings())
        with pytest.raises(StoreUnavailable):
            await QdrantEpisodeIndex.open(
                stranger, model="m", dimension=64, settings=settings(start_timeout_seconds=0.1)
            )

    assert recorder.api_keys == {"k-1"}
    assert "k-1" not in repr(server)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://qdrant", ("qdrant", 6334, False)),
        ("http://qdrant:6333/", ("qdrant", 6334, False)),
        ("https://qdrant.example:443", ("qdrant.example", 443, True)),
        ("grpc://[::1]:7000", ("[::1]", 7000, False)),
    ],
)
def test_urls_name_the_grpc_port(url: str, target: tuple[str, int, bool]) -> None:
    assert address_of(url) == target


@pytest.mark.parametrize("url", ["qdrant:6334", "redis://qdrant", "http://", "http://u:p@qdrant", "http://qdrant/path"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="URL of Qdrant"):
        create_qdrant_client(QdrantServer(url=url), settings())


def self_signed() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "qdrant")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


@pytest.mark.parametrize("code", ["UNAUTHENTICATED", "PERMISSION_DENIED"])
async def test_a_wrong_key_is_told_at_the_start(code: str) -> None:
    recorder = QdrantRecorder()
    recorder.failures["CollectionExists"].append(failure(grpc.StatusCode[code]))
    with pytest.raises(FailedPrecondition, match="refuses the API key: told so"):
        async with opened(recorder):
            pass


async def test_a_name_that_is_an_alias_is_used() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder) as first:
        recorder.overlooked = 9  # an alias counts as no collection, and takes its name
        recorder.failures["Create"].append(failure(grpc.StatusCode.INVALID_ARGUMENT))
        async with opened(recorder) as second:
            assert second.model == first.model


async def test_spec_2_11_a_collection_that_is_gone_is_made_anew_with_its_generation() -> None:
    recorder = QdrantRecorder()
    async with opened(recorder, shards=2) as index:
        (before,) = recorder.made.values()
        recorder.made.clear()
        recorder.shards.clear()
        for call in (index.put([piece(1, "apple")]), index.count(OWNER)):
            recorder.failures["Upsert"].append(failure(grpc.StatusCode.NOT_FOUND))
            recorder.failures["Count"].append(failure(grpc.StatusCode.NOT_FOUND))
            with pytest.raises(StoreUnavailable):
                await call
        (after,) = recorder.made.values()
    assert after == before
    assert recorder.shards == ["owners-0", "owners-1"]
    assert len(recorder.requests["Create"]) == 2


async def test_spec_8_1_calls_are_client_spans_of_a_database_without_content() -> None:
    exporter = InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    async with opened(QdrantRecorder()) as index:
        state.switch_on(tracers, None)
        try:
            await use_everything(index)
            await index.check()
        finally:
            state.switch_off()
    spans = exporter.get_finished_spans()
    operations = {str((span.attributes or {})["db.operation.name"]) for span in spans}
    assert operations == {"upsert", "query_batch_points", "delete", "count", "scroll"}
    assert {span.kind for span in spans} == {SpanKind.CLIENT}
    (collection,) = {str((span.attributes or {})["db.collection.name"]) for span in spans}
    assert {span.name for span in spans} == {f"{operation} {collection}" for operation in operations}
    assert "apple" not in " ".join(span.to_json() for span in spans)
