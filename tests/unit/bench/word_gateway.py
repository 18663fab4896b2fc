"""A gateway in a few lines that recalls by shared words: something for the benchmarks to measure in tests."""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import Message

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import gateway_pb2 as pb


class WordMemory:
    """Remembers turns in a dict; ranks them by the number of words they share with the query."""

    def __init__(self) -> None:
        self.turns: defaultdict[str, dict[str, common_pb2.Turn]] = defaultdict(dict)
        self.requests: list[pb.RememberRequest] = []

    async def remember(self, request: pb.RememberRequest, context: object) -> pb.RememberResponse:
        del context
        self.requests.append(request)
        references = []
        for turn in request.turns:
            interaction_id = str(uuid.uuid4())
            self.turns[request.user_id][interaction_id] = turn
            references.append(pb.InteractionReference(interaction_id=interaction_id))
        return pb.RememberResponse(interactions=references, consistency_token="t")

    async def recall(self, request: pb.RecallRequest, context: object) -> pb.RecallResponse:
        del context
        ranked = self._ranked(request.user_id, request.query)[: request.limit or 10]
        return pb.RecallResponse(memories=[pb.Memory(memory_id=item) for item in ranked], consistent=True)

    async def build_context(self, request: pb.BuildContextRequest, context: object) -> pb.BuildContextResponse:
        del context
        count = request.token_budget // 1_000
        ranked = self._ranked(request.user_id, request.query)[:count]
        items = [pb.ContextItem(memory_id=item, interaction_ids=[item]) for item in ranked]
        return pb.BuildContextResponse(sections=[pb.ContextSection(items=items)])

    def _ranked(self, user_id: str, query: str) -> list[str]:
        words = set(re.findall(r"\w+", query.lower()))
        turns = self.turns[user_id].items()
        shared = {key: len(words & set(re.findall(r"\w+", turn.content.lower()))) for key, turn in turns}
        return sorted((key for key, count in shared.items() if count), key=lambda key: -shared[key])

    async def backlog(self, request: pb.GetBacklogRequest, context: object) -> pb.GetBacklogResponse:
        del request, context
        return pb.GetBacklogResponse()


@asynccontextmanager
async def word_gateway() -> AsyncIterator[tuple[str, WordMemory]]:
    """A running gateway: its address, and what it was told."""
    memory, server = WordMemory(), grpc.aio.server()
    handlers = {
        "MemoryService": {
            "Remember": _handler(memory.remember, pb.RememberRequest),
            "Recall": _handler(memory.recall, pb.RecallRequest),
            "BuildContext": _handler(memory.build_context, pb.BuildContextRequest),
        },
        "DeliveryService": {"GetBacklog": _handler(memory.backlog, pb.GetBacklogRequest)},
    }
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(f"mneme.gateway.v1.{service}", methods)
            for service, methods in handlers.items()
        ]
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}", memory
    finally:
        await server.stop(None)


def _handler(method: Callable[..., Any], request: type[Message]) -> grpc.RpcMethodHandler[Any, Any]:
    return grpc.unary_unary_rpc_method_handler(
        method, request_deserializer=request.FromString, response_serializer=lambda m: m.SerializeToString()
    )
