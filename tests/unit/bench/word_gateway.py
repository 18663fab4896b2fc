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
from mneme.gateway.v1 import context_pb2, deliveries_pb2, memory_pb2, recall_pb2


class WordMemory:
    """Remembers turns in a dict; ranks them by the number of words they share with the query."""

    def __init__(self) -> None:
        self.turns: defaultdict[str, dict[str, common_pb2.Turn]] = defaultdict(dict)
        self.requests: list[memory_pb2.RememberRequest] = []

    async def remember(self, request: memory_pb2.RememberRequest, context: object) -> memory_pb2.RememberResponse:
        del context
        self.requests.append(request)
        references = []
        for turn in request.turns:
            interaction_id = str(uuid.uuid4())
            self.turns[request.user_id][interaction_id] = turn
            references.append(memory_pb2.InteractionReference(interaction_id=interaction_id))
        return memory_pb2.RememberResponse(interactions=references, consistency_token="t")

    async def recall(self, request: recall_pb2.RecallRequest, context: object) -> recall_pb2.RecallResponse:
        del context
        ranked = self._ranked(request.user_id, request.query)[: request.limit or 10]
        return recall_pb2.RecallResponse(
            memories=[recall_pb2.Memory(memory_id=item) for item in ranked], consistent=True
        )

    async def build_context(
        self, request: context_pb2.BuildContextRequest, context: object
    ) -> context_pb2.BuildContextResponse:
        del context
        count = request.token_budget // 1_000
        ranked = self._ranked(request.user_id, request.query)[:count]
        items = [context_pb2.ContextItem(memory_id=item, interaction_ids=[item]) for item in ranked]
        return context_pb2.BuildContextResponse(sections=[context_pb2.ContextSection(items=items)])

    def _ranked(self, user_id: str, query: str) -> list[str]:
        words = set(re.findall(r"\w+", query.lower()))
        turns = self.turns[user_id].items()
        shared = {key: len(words & set(re.findall(r"\w+", turn.content.lower()))) for key, turn in turns}
        return sorted((key for key, count in shared.items() if count), key=lambda key: -shared[key])

    async def backlog(
        self, request: deliveries_pb2.GetBacklogRequest, context: object
    ) -> deliveries_pb2.GetBacklogResponse:
        del request, context
        return deliveries_pb2.GetBacklogResponse()


@asynccontextmanager
async def word_gateway() -> AsyncIterator[tuple[str, WordMemory]]:
    """A running gateway: its address, and what it was told."""
    memory, server = WordMemory(), grpc.aio.server()
    handlers = {
        "MemoryService": {
            "Remember": _handler(memory.remember, memory_pb2.RememberRequest),
            "Recall": _handler(memory.recall, recall_pb2.RecallRequest),
            "BuildContext": _handler(memory.build_context, context_pb2.BuildContextRequest),
        },
        "DeliveryService": {"GetBacklog": _handler(memory.backlog, deliveries_pb2.GetBacklogRequest)},
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
