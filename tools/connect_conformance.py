"""Serves the Connect project's conformance service as the gateway serves its calls, for `connectconformance`.

Usage: make conformance-connect. Reads a ServerCompatRequest from standard input, writes a ServerCompatResponse with the
address, and serves until SIGTERM. Connect's library, the codecs, the middleware and the HTTP server are those of
`services.gateway.http`; the handlers are not, since the gateway's pass on only the headers that they
know. MNEME_CONFORMANCE_PROTOS is the folder of the suite's protos.
"""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import sys
import tempfile
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

import grpc_tools.protoc
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec
from connectrpc.errors import ConnectError, ErrorDetail
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.any_pb2 import Any as PackedMessage
from protobuf.wkt import Any as PackedDetail

from services.common.rpc.certificates import TlsFiles
from services.gateway.http.application import _BodyInTime, _NotStored
from services.gateway.http.json_codec import CompactJsonCodec
from services.gateway.http.server import _bind, _config, _Server
from services.gateway.http.settings import HttpSettings

PACKAGE: Final = "connectrpc.conformance.v1"
PROTOS: Final = ("config", "server_compat", "service")
GRACE_SECONDS: Final = 1.0
Context = RequestContext[Any, Any]


def load_protos(root: Path) -> None:
    """Compiles the protos below `root` into the default descriptor pool."""
    files = [f"connectrpc/conformance/v1/{name}.proto" for name in PROTOS]
    includes = [f"-I{root}", f"-I{resources.files('grpc_tools') / '_proto'}"]
    with tempfile.NamedTemporaryFile() as compiled:
        options = ["--include_imports", f"--descriptor_set_out={compiled.name}"]
        if grpc_tools.protoc.main(["protoc", *includes, *options, *files]) != 0:
            sys.exit("the protos of the conformance suite cannot be compiled")
        descriptors = descriptor_pb2.FileDescriptorSet.FromString(Path(compiled.name).read_bytes())
    for file in descriptors.file:
        if file.package == PACKAGE:
            descriptor_pool.Default().Add(file)


def message_class(name: str) -> Any:
    """The class of a message of the suite."""
    return message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(f"{PACKAGE}.{name}"))


def request_info(request: Any, context: Context, asked_ms: float | None) -> Any:
    """What was received, for the response to echo."""
    info = message_class("ConformancePayload.RequestInfo")()
    values: dict[str, list[str]] = {}
    for name, value in context.request_headers.allitems():
        values.setdefault(name, []).append(value)
    for name, of_name in values.items():
        info.request_headers.add(name=name, value=of_name)
    if asked_ms is not None:
        info.timeout_ms = round(asked_ms)
    info.requests.add().Pack(request)
    return info


def begin(definition: Any, context: Context) -> None:
    """Sets the headers and trailers of the response."""
    for fields, target in (
        (definition.response_headers, context.response_headers),
        (definition.response_trailers, context.response_trailers),
    ):
        for field in fields:
            for value in field.value:
                target.add(field.name, value)


def failure(error: Any, info: Any | None) -> ConnectError:
    """The error that a request asks for, with what was received as its last detail."""
    details = list(error.details)
    if info is not None:
        packed = PackedMessage()
        packed.Pack(info)
        details.append(packed)
    number = error.DESCRIPTOR.fields_by_name["code"].enum_type.values_by_number[error.code].name
    wired = [ErrorDetail(PackedDetail(type_url=detail.type_url, value=detail.value)) for detail in details]
    return ConnectError(Code[number.removeprefix("CODE_")], error.message, wired)


async def unary(request: Any, context: Context, response: Any) -> Any:
    """Answers as the request defines."""
    info = request_info(request, context, context.timeout_ms)
    definition = request.response_definition
    begin(definition, context)
    await asyncio.sleep(definition.response_delay_ms / 1000)  # past the deadline too: the client ends the call
    if definition.WhichOneof("response") == "error":
        raise failure(definition.error, info)
    response.payload.data = definition.response_data
    response.payload.request_info.CopyFrom(info)
    return response


async def stream(request: Any, context: Context, response_type: Any) -> AsyncIterator[Any]:
    """Answers with as many messages as the request defines, and with an error after them."""
    info = request_info(request, context, context.timeout_ms)
    definition = request.response_definition
    begin(definition, context)
    for index, data in enumerate(definition.response_data):
        await asyncio.sleep(definition.response_delay_ms / 1000)
        response = response_type()
        response.payload.data = data
        if index == 0:
            response.payload.request_info.CopyFrom(info)
        yield response
    if definition.HasField("error"):
        raise failure(definition.error, None if definition.response_data else info)


def endpoints() -> dict[str, Any]:
    """The methods that the gateway's HTTP port can serve: those without a stream of requests."""

    def method(name: str, stream_type: StreamType) -> MethodInfo[Any, Any]:
        return MethodInfo(
            name=name,
            service_name=f"{PACKAGE}.ConformanceService",
            input=message_class(f"{name}Request"),
            output=message_class(f"{name}Response"),
            idempotency_level=IdempotencyLevel.UNKNOWN,  # as the gateway: calls are POSTs
            stream_type=stream_type,
        )

    def of_unary(name: str) -> Any:
        info = method(name, StreamType.UNARY)

        async def call(request: Any, context: Context) -> Any:
            return await unary(request, context, info.output())

        return Endpoint.unary(info, call)

    server_stream = method("ServerStream", StreamType.SERVER_STREAM)

    def of_stream(request: Any, context: Context) -> AsyncIterator[Any]:
        return stream(request, context, server_stream.output)

    found = {f"/{PACKAGE}.ConformanceService/{name}": of_unary(name) for name in ("Unary", "IdempotentUnary")}
    return found | {f"/{PACKAGE}.ConformanceService/ServerStream": Endpoint.server_stream(server_stream, of_stream)}


class Calls(ConnectASGIApplication[None]):
    """Connect's application over the conformance service."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__(
            service=None,
            endpoints=lambda _: endpoints(),
            read_max_bytes=bytes_max,
            codecs=[google_protobuf_binary_codec(), CompactJsonCodec([message_class("UnaryResponse").DESCRIPTOR.file])],
        )

    @property
    def path(self) -> str:
        """Where it is mounted."""
        return "/"


def read_message(message: Any) -> Any:
    """Reads one message with its size before it."""
    (size,) = struct.unpack(">I", sys.stdin.buffer.read(4))
    message.ParseFromString(sys.stdin.buffer.read(size))
    return message


def write_message(message: Any) -> None:
    """Writes one message with its size before it."""
    text = message.SerializeToString()
    sys.stdout.buffer.write(struct.pack(">I", len(text)) + text)
    sys.stdout.buffer.flush()


async def serve(folder: Path) -> None:
    """Serves as one request of the runner asks, until SIGTERM."""
    request = read_message(message_class("ServerCompatRequest")())
    settings = HttpSettings()
    tls = None
    if request.use_tls:
        (folder / "cert.pem").write_bytes(request.server_creds.cert)
        (folder / "key.pem").write_bytes(request.server_creds.key)
        tls = TlsFiles(certificate=folder / "cert.pem", key=folder / "key.pem")
    calls = Calls(request.message_receive_limit or settings.message_bytes_max)
    app = _NotStored(_BodyInTime(calls, settings.request_seconds))
    bound = _bind("127.0.0.1:0")
    server = _Server(_config(app, settings, tls, GRACE_SECONDS))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, setattr, server, "should_exit", True)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    await server.listening(serving)
    response = message_class("ServerCompatResponse")(host="127.0.0.1", port=bound.getsockname()[1])
    if request.use_tls:
        response.pem_cert = request.server_creds.cert
    write_message(response)
    await serving


if __name__ == "__main__":
    load_protos(Path(os.environ["MNEME_CONFORMANCE_PROTOS"]))
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(serve(Path(scratch)))
