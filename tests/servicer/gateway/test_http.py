"""HTTP beside gRPC: the same calls, credentials and errors, as JSON, protobuf and gRPC-Web."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from connectrpc.client import ConnectClient
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.json_format import ParseDict
from google.rpc import error_details_pb2

from mneme_client import Client, Turn
from services.common.auth import Authenticator
from services.common.auth.authenticator import DEVELOPMENT_PRINCIPAL
from services.common.rpc.certificates import TlsFiles
from services.common.rpc.server import ServiceBinding
from services.gateway.http.server import http_server
from services.gateway.http.settings import HttpSettings
from tests.support.certificates import self_signed
from tests.support.echo import EchoServicer, running_echo
from tests.support.stack import RunningStack, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

MEMORY = "mneme.gateway.v1.MemoryService"
TURNS = [{"role": "MESSAGE_ROLE_USER", "content": "My cat Momo hates the trams."}]


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def send(address: str, path: str, body: Any = None, *, method: str = "", **headers: str) -> Response:
    """One request by the standard library, as any HTTP client makes it."""
    content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"http://{address}{path}", content, {"content-type": "application/json", **names})
    request.method = method or ("GET" if content is None else "POST")

    def run() -> Response:
        try:
            with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
                return Response(response.status, dict(response.headers), response.read())
        except urllib.error.HTTPError as error:
            return Response(error.code, dict(error.headers), error.read())

    return await asyncio.to_thread(run)


def method_info(name: str, stream_type: StreamType = StreamType.UNARY) -> MethodInfo[Any, Any]:
    method = descriptor_pool.Default().FindServiceByName(MEMORY).methods_by_name[name]
    return MethodInfo(
        name=name,
        service_name=MEMORY,
        input=message_factory.GetMessageClass(method.input_type),
        output=message_factory.GetMessageClass(method.output_type),
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=stream_type,
    )


@pytest.fixture
def address(stack: RunningStack) -> str:
    return stack.services.http_address


async def test_spec_9_1_a_call_is_a_json_post(address: str, user_id: str) -> None:
    body = {"requestId": "h1", "userId": user_id, "conversationId": "c1", "turns": TURNS}
    first = await send(address, f"/{MEMORY}/Remember", body)
    again = await send(address, f"/{MEMORY}/Remember", body)
    assert (first.status, again.status) == (200, 200)
    assert again.json == {**first.json, "replayed": True}
    token = first.json["consistencyToken"]
    asked = {"userId": user_id, "query": "Which pet is there?", "consistencyToken": token}
    found = await send(address, f"/{MEMORY}/Recall", asked)
    assert found.json["memories"][0]["turn"]["content"] == TURNS[0]["content"]


@pytest.mark.parametrize("protocol", [ProtocolType.CONNECT, ProtocolType.GRPC_WEB])
@pytest.mark.parametrize("codec", [google_protobuf_binary_codec(), google_protobuf_json_codec()], ids=["proto", "json"])
async def test_spec_9_1_connect_and_grpc_web_return_what_grpc_returns(
    address: str, client: Client, user_id: str, protocol: ProtocolType, codec: Any
) -> None:
    remembered = await client.remember(user_id, "c1", [Turn("I moved to Lyon last spring.")])
    asked = {"user_id": user_id, "query": "Where?", "consistency_token": remembered.consistency_token}
    async with ConnectClient(f"http://{address}", protocol=protocol, codec=codec) as http:
        recall = method_info("Recall")
        found = await http.execute_unary(request=ParseDict(asked, recall.input()), method=recall)
        stream = method_info("RecallStream", StreamType.SERVER_STREAM)
        request = ParseDict({"recall": asked}, stream.input())
        parts = [part async for part in http.execute_server_stream(request=request, method=stream)]
    by_grpc = await client.recall(user_id, "Where?")
    assert [memory.memory_id for memory in found.memories] == [memory.memory_id for memory in by_grpc.memories]
    assert [m.memory_id for m in parts[-1].response.memories] == [m.memory_id for m in found.memories]


async def test_spec_9_1_errors_name_the_field_and_the_reason(address: str, user_id: str) -> None:
    refused = await send(address, f"/{MEMORY}/Recall", {"userId": user_id})
    assert (refused.status, refused.json["code"]) == (400, "invalid_argument")
    assert "query" in refused.json["message"]
    assert {detail["type"] for detail in refused.json["details"]} == {"google.rpc.ErrorInfo", "google.rpc.BadRequest"}


async def test_spec_9_1_a_misspelt_enum_value_is_refused_and_asks_for_nothing_else(address: str, user_id: str) -> None:
    refused = await send(address, f"/{MEMORY}/Recall", {"userId": user_id, "query": "x", "tiers": ["EPISODIC"]})
    assert (refused.status, refused.json["code"]) == (400, "invalid_argument")
    assert refused.json["message"].startswith("the request is not valid: tiers[0] must be one of TIER_UNSPECIFIED, ")
    assert {detail["type"] for detail in refused.json["details"]} == {"google.rpc.ErrorInfo", "google.rpc.BadRequest"}


async def test_spec_9_1_what_is_not_served_is_refused(address: str) -> None:
    statuses = [
        (await send(address, "/mneme.gateway.v1.NoService/Recall", {})).status,
        (await send(address, f"/{MEMORY}/RememberStream", {})).status,  # a stream of requests needs gRPC
        (await send(address, "/mneme.episodic.internal.v1.EpisodicInternalService/StoreEpisodes", {})).status,
        (await send(address, f"/{MEMORY}/Recall")).status,  # a GET
        (await send(address, f"/{MEMORY}/Recall", b"{", content_type="text/plain")).status,
        (await send(address, f"/{MEMORY}/Recall", b"{")).status,
    ]
    assert statuses == [404, 404, 404, 405, 415, 400]


async def test_spec_9_1_a_request_that_is_no_call_is_refused_in_words(address: str) -> None:
    unknown = await send(address, f"/{MEMORY}/Rcall", {})
    got = await send(address, f"/{MEMORY}/Recall")
    form = await send(address, f"/{MEMORY}/Recall", b"{}", content_type="application/x-www-form-urlencoded")
    assert [b"/openapi.json" in unknown.body, b"POST" in got.body, b"application/json" in form.body] == [True] * 3
    assert form.headers["content-type"].startswith("text/plain")


async def test_spec_7_1_a_call_needs_the_credential_that_grpc_asks_for(secured_stack: RunningStack) -> None:
    address = secured_stack.services.http_address
    path, body = f"/{MEMORY}/Remember", {"requestId": "h1", "userId": "u", "conversationId": "c", "turns": TURNS}
    by_key = {
        name: (await send(address, path, body, authorization=f"Bearer {key}")).status
        for name, key in secured_stack.keys.items()
    }
    assert by_key["writer"] == 200
    assert by_key["reader"] == 403
    assert by_key["expired"] == by_key["revoked"] == 401
    refused = (await send(address, path, body)).json
    assert refused["code"] == Code.UNAUTHENTICATED.value
    (detail,) = refused["details"]
    info = error_details_pb2.ErrorInfo.FromString(base64.b64decode(detail["value"] + "=="))
    assert (detail["type"], info.reason) == ("google.rpc.ErrorInfo", "CREDENTIAL_MISSING")
    forged = secured_stack.identity()[0]
    assert (await send(address, path, body, **{forged[0]: "x"})).status == 401  # identities are for services


async def test_spec_9_1_pages_of_other_sites_may_not_call(address: str) -> None:
    preflight = await send(
        address,
        f"/{MEMORY}/Recall",
        method="OPTIONS",
        origin="https://elsewhere.example",
        access_control_request_method="POST",
    )
    assert "access-control-allow-origin" not in {name.lower() for name in preflight.headers}
    rebound = await send(address, f"/{MEMORY}/Recall", {}, host="elsewhere.example")
    assert rebound.status == 400  # development mode asks for no key: only the machine's own names may be used


async def test_spec_9_1_the_contract_and_the_health_can_be_read(address: str) -> None:
    contract = (await send(address, "/openapi.json")).json
    assert f"/{MEMORY}/Recall" in contract["paths"]
    assert contract["servers"] == [{"url": "/"}]  # on whatever port it is served
    assert not [path for path in contract["paths"] if ".internal." in path]
    referenced = set(json.dumps(contract).split("#/components/schemas/")[1:])
    assert {reference.split('"')[0] for reference in referenced} == contract["components"]["schemas"].keys()
    assert (await send(address, "/health")).json == {"status": "SERVING", "needs_key": False}


async def test_spec_9_1_an_error_of_a_stream_comes_as_its_end(address: str) -> None:
    stream = method_info("RecallStream", StreamType.SERVER_STREAM)
    async with ConnectClient(f"http://{address}", codec=google_protobuf_json_codec()) as http:
        with pytest.raises(ConnectError) as caught:
            [part async for part in http.execute_server_stream(request=stream.input(), method=stream)]
    assert caught.value.code is Code.INVALID_ARGUMENT


async def test_spec_7_2_a_head_and_a_body_must_come_in_time() -> None:
    async def response_to(address: str, sent: bytes) -> bytes:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        async with asyncio.timeout(60):
            received = await reader.read()
        writer.close()
        return received

    authenticator = Authenticator(development_principal=DEVELOPMENT_PRINCIPAL)
    settings = HttpSettings(request_seconds=0.2, idle_seconds=1)
    services = [ServiceBinding(MEMORY, lambda *_: None, None, {})]
    async with (
        running_echo(EchoServicer(), authenticator) as running,
        http_server("127.0.0.1:0", services, running.server, settings) as address,
    ):
        assert await response_to(address, b"") == b""
        assert await response_to(address, b"POST / HTTP/1.1\r\nhost: local") == b""
        head = f"POST /{MEMORY}/Recall HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        assert b" 408 " in await response_to(address, f"{head}content-length: 9\r\n\r\n".encode())


async def test_spec_7_2_replaced_certificates_are_used_without_a_restart(tmp_path: Path) -> None:
    first, second = self_signed("first"), self_signed("second")
    certificate, key = first.saved(tmp_path, "tls")

    def shown(at: str) -> str:
        host, _, port = at.rpartition(":")
        return ssl.get_server_certificate((host, int(port)), timeout=10)

    authenticator = Authenticator(development_principal=DEVELOPMENT_PRINCIPAL)
    async with (
        running_echo(EchoServicer(), authenticator) as running,
        http_server("127.0.0.1:0", [], running.server, HttpSettings(), tls=TlsFiles(certificate, key)) as served,
    ):
        assert await asyncio.to_thread(shown, served) == first.certificate.decode()
        second.saved(tmp_path, "new")
        (tmp_path / "new.key").replace(key)
        (tmp_path / "new.crt").replace(certificate)

        async def is_new() -> bool:
            return await asyncio.to_thread(shown, served) == second.certificate.decode()

        await until(is_new)


async def test_spec_8_2_calls_are_served_while_the_server_drains(monkeypatch: pytest.MonkeyPatch) -> None:
    authenticator = Authenticator(development_principal=DEVELOPMENT_PRINCIPAL)
    begun, over = asyncio.Event(), asyncio.Event()

    async def drain() -> None:
        begun.set()
        await over.wait()

    async with running_echo(EchoServicer(), authenticator) as running, contextlib.AsyncExitStack() as http:
        monkeypatch.setattr(running.server, "drain", drain)  # as long as the test needs
        address = await http.enter_async_context(http_server("127.0.0.1:0", [], running.server, HttpSettings()))
        stopping = asyncio.create_task(http.aclose())
        async with asyncio.timeout(20):
            await begun.wait()
        assert (await send(address, "/openapi.json")).status == 200
        assert not stopping.done()
        over.set()
        await stopping
