"""Server reflection as grpc.reflection.v1 and v1alpha, whose messages are alike in all but their package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from grpc_reflection.v1alpha import reflection, reflection_pb2

_OLD: Final = "v1alpha"
_NEW: Final = "v1"
_NEW_NAME: Final = reflection.SERVICE_NAME.replace(_OLD, _NEW)


def add_reflection(service_names: Sequence[str], server: grpc.aio.Server) -> None:
    """Lets clients ask a server for its services and their messages.

    The library serves v1alpha alone; newer clients ask for v1 first.

    Args:
        service_names: Full names of what the server has, reflection aside.
        server: Not started yet.
    """
    _describe_v1()
    servicer = reflection.aio.ReflectionServicer([*service_names, reflection.SERVICE_NAME, _NEW_NAME])
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": handler})
            for name in (reflection.SERVICE_NAME, _NEW_NAME)
        ]
    )


def _describe_v1() -> None:
    """Adds the proto file of v1 to the known ones, so that reflection can describe itself."""
    pool = descriptor_pool.Default()
    old = descriptor_pb2.FileDescriptorProto.FromString(reflection_pb2.DESCRIPTOR.serialized_pb)
    new = descriptor_pb2.FileDescriptorProto()
    text_format.Parse(text_format.MessageToString(old).replace(_OLD, _NEW), new)
    pool.Add(new)  # adding the same file again changes nothing
