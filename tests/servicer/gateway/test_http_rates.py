"""The rate of a tenant by HTTP: what a caller beyond it gets, by Connect, gRPC-Web and mem0's paths."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from connectrpc.client import ConnectClient
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo

from mneme.gateway.v1 import memory_pb2_grpc, recall_pb2
from services.common.auth import ApiKeyRing, Authenticator, Role, create_api_key
from services.common.errors import LimitExceeded, NotFound, Reason, StoreUnavailable
from services.common.rates import RateLimiter, RateSettings
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding, method_roles
from services.gateway.bindings import MEMORY_ROLES
from services.gateway.http.server import http_server
from services.gateway.http.settings import HttpSettings
from tests.servicer.gateway.test_http import MEMORY, method_info, send
from tests.support.clock import SequentialIds

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECONDS = 2.5
"""Until the next call is let in, at the rate of the test and a clock that stands still."""


class Memories(memory_pb2_grpc.MemoryServiceServicer):
    """Fails as it is told to, and finds nothing otherwise."""

    def __init__(self) -> None:
        """Finds nothing."""
        self.failure: Exception | None = None

    async def Recall(self, _request: Any, _context: Any) -> recall_pb2.RecallResponse:
        """No memories."""
        if self.failure is not None:
            raise self.failure
        return recall_pb2.RecallResponse()


class Limited:
    """A gateway whose callers of "acme" may make one read at once; those of "globex" as many as they like."""

    def __init__(self, address: str, keys: dict[str, str], memories: Memories) -> None:
        self.address = address
        self.keys = keys
        self.memories = memories

    def credential(self, tenant_id: str) -> str:
        return f"Bearer {self.keys[tenant_id]}"

    async def recall(self, tenant_id: str) -> Any:
        return await send(self.address, f"/{MEMORY}/Recall", {}, authorization=self.credential(tenant_id))


@pytest_asyncio.fixture(loop_scope="session")
async def limited(tmp_path: Path) -> AsyncIterator[Limited]:
    path, now = tmp_path / "keys.json", datetime.now(UTC)
    keys = {
        tenant_id: create_api_key(path, tenant_id=tenant_id, principal_id="robot", role=Role.WRITER, now=now)[0]
        for tenant_id in ("acme", "globex")
    }
    rate = RateSettings(tenant_reads_per_second={"acme": 1 / SECONDS}, burst_seconds=SECONDS)
    memories = Memories()  # type: ignore[abstract]  # its other methods are not called
    binding = ServiceBinding(MEMORY, memory_pb2_grpc.add_MemoryServiceServicer_to_server, memories, MEMORY_ROLES)
    authenticator = Authenticator(api_keys=ApiKeyRing(path))
    limiter = RateLimiter(rate, monotonic=lambda: 0.0)
    chain = interceptors(InterceptorSettings(), authenticator, method_roles([binding]), SequentialIds(), rates=limiter)
    server = GrpcServer(ServerSettings(grace_seconds=0.0), [binding], chain)
    await server.start()
    try:
        async with http_server("127.0.0.1:0", [binding], server, HttpSettings(), grace_seconds=1.0) as address:
            yield Limited(address, keys, memories)
    finally:
        await server.stop()


def detail(response: Any, kind: type[Any]) -> Any:
    """A detail of an error in JSON."""
    by_type = {one["type"]: one["value"] for one in response.json["details"]}
    packed = by_type[kind.DESCRIPTOR.full_name]
    return kind.FromString(base64.b64decode(packed + "=" * (-len(packed) % 4)))


async def test_spec_7_2_a_call_by_http_beyond_its_tenant_s_rate_says_when_to_retry(limited: Limited) -> None:
    assert (await limited.recall("acme")).status == 200
    refused = await limited.recall("acme")
    assert (refused.status, refused.json["code"]) == (429, "resource_exhausted")
    assert detail(refused, ErrorInfo).reason == "RATE_LIMITED"
    assert detail(refused, RetryInfo).retry_delay.ToTimedelta().total_seconds() == SECONDS
    assert {name.lower(): value for name, value in refused.headers.items()}["retry-after"] == "3"  # whole seconds
    assert [(await limited.recall("globex")).status for _ in range(3)] == [200, 200, 200]


async def test_spec_7_2_a_call_by_grpc_web_beyond_its_tenant_s_rate_has_the_same_details(limited: Limited) -> None:
    recall, headers = method_info("Recall"), {"authorization": limited.credential("acme")}
    address, codec = f"http://{limited.address}", google_protobuf_binary_codec()
    async with ConnectClient(address, protocol=ProtocolType.GRPC_WEB, codec=codec) as http:
        await http.execute_unary(request=recall.input(), method=recall, headers=headers)
        with pytest.raises(ConnectError) as caught:
            await http.execute_unary(request=recall.input(), method=recall, headers=headers)
    assert caught.value.code is Code.RESOURCE_EXHAUSTED
    assert "google.rpc.RetryInfo" in {one.type_name for one in caught.value.details}


async def test_spec_9_5_mem0s_paths_say_when_to_retry(limited: Limited) -> None:
    path, body = "/mem0/v3/memories/search/", {"query": "x", "filters": {"user_id": "ana"}}
    assert (await limited.recall("acme")).status == 200
    refused = await send(limited.address, path, body, authorization=f"Token {limited.keys['acme']}")
    assert refused.status == 429
    assert {name.lower(): value for name, value in refused.headers.items()}["retry-after"] == "3"


@pytest.mark.parametrize(
    ("failure", "status", "header"),
    [
        (StoreUnavailable("journal", 0.2), 503, "1"),
        (LimitExceeded("documents_per_user", 10, reason=Reason.LIMIT_EXCEEDED), 429, None),  # waiting does not help
        (NotFound("memory", "m1"), 404, None),
    ],
)
async def test_spec_9_1_a_header_says_when_to_retry_where_waiting_helps(
    limited: Limited, failure: Exception, status: int, header: str | None
) -> None:
    limited.memories.failure = failure
    refused = await limited.recall("globex")
    assert refused.status == status
    assert {name.lower(): value for name, value in refused.headers.items()}.get("retry-after") == header
