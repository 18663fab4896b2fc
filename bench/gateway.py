"""The gateway as the benchmarks use it: raw stubs, so that no client library's time is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import grpc

from bench.common import BenchError, Channel
from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import (
    context_pb2,
    conversations_pb2_grpc,
    deliveries_pb2,
    deliveries_pb2_grpc,
    erasure_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    recall_pb2,
)
from mneme.session.v1 import session_pb2_grpc

T = TypeVar("T")

CALL_SECONDS: Final = 30.0
_RETRYABLE: Final = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
)
_ATTEMPTS_MAX: Final = 12
_POLL_SECONDS: Final = 0.1
_STALL_SECONDS: Final = 300.0
"""With no delivery made for so long, waiting ends with an error."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """Deliveries that wait, and that were given up, over all tiers."""

    pending: int
    dead: int


class Gateway:
    """Stubs of one gateway, with the credential and a deadline on each call."""

    def __init__(self, channel: Channel) -> None:
        """Use an open channel."""
        self.channel = channel.channel
        self.memory = memory_pb2_grpc.MemoryServiceStub(channel.channel)
        self.conversations = conversations_pb2_grpc.ConversationServiceStub(channel.channel)
        self.sessions = session_pb2_grpc.SessionServiceStub(channel.channel)
        self.delivery = deliveries_pb2_grpc.DeliveryServiceStub(channel.channel)
        self.erasures = erasure_pb2_grpc.ErasureServiceStub(channel.channel)
        self.metadata = channel.metadata

    async def remember(self, request: memory_pb2.RememberRequest) -> memory_pb2.RememberResponse:
        """Remember, without any retry."""
        return await self.memory.Remember(request, timeout=CALL_SECONDS, metadata=self.metadata)

    async def remember_batch(self, items: Sequence[memory_pb2.RememberRequest]) -> list[memory_pb2.RememberResponse]:
        """Remember items of many conversations, with retries.

        Raises:
            BenchError: An item was refused.
        """
        request = memory_pb2.RememberBatchRequest(items=items)
        response = await retried(
            lambda: self.memory.RememberBatch(request, timeout=CALL_SECONDS, metadata=self.metadata)
        )
        for result in response.results:
            if result.HasField("error"):
                raise BenchError(f"an item was refused: {result.error.message}")
        return [result.response for result in response.results]

    async def recall(self, request: recall_pb2.RecallRequest) -> recall_pb2.RecallResponse:
        """Recall, without any retry."""
        return await self.memory.Recall(request, timeout=CALL_SECONDS, metadata=self.metadata)

    async def build_context(self, request: context_pb2.BuildContextRequest) -> context_pb2.BuildContextResponse:
        """Build a context, without any retry."""
        return await self.memory.BuildContext(request, timeout=CALL_SECONDS, metadata=self.metadata)

    async def backlog(self) -> Backlog:
        """What is still to be delivered."""
        response = await self.delivery.GetBacklog(
            deliveries_pb2.GetBacklogRequest(), timeout=CALL_SECONDS, metadata=self.metadata
        )
        return Backlog(
            pending=sum(tier.pending_count for tier in response.tiers),
            dead=sum(tier.dead_count for tier in response.tiers),
        )

    async def wait_delivered(
        self, *, on_progress: Callable[[int], None] | None = None, poll_seconds: float = _POLL_SECONDS
    ) -> Backlog:
        """Wait until no delivery is pending, for as long as there is progress.

        Raises:
            BenchError: Nothing was delivered for some minutes.
        """
        last_pending, last_change = -1, time.monotonic()
        while True:
            backlog = await retried(self.backlog)
            if backlog.pending == 0:
                return backlog
            if on_progress is not None:
                on_progress(backlog.pending)
            if backlog.pending != last_pending:
                last_pending, last_change = backlog.pending, time.monotonic()
            elif time.monotonic() - last_change > _STALL_SECONDS:
                raise BenchError(f"{backlog.pending} deliveries wait, none made for {_STALL_SECONDS:.0f} s")
            await asyncio.sleep(poll_seconds)

    async def wait_visible(self, user_id: str, consistency_token: str) -> None:
        """Wait until a user's write can be found, by the means that callers have: the consistency token.

        Raises:
            BenchError: It cannot be found within some minutes.
        """
        request = recall_pb2.RecallRequest(
            user_id=user_id, query="anything at all", limit=1, consistency_token=consistency_token
        )
        deadline = time.monotonic() + _STALL_SECONDS
        while time.monotonic() < deadline:
            if (await retried(lambda: self.recall(request))).consistent:
                return
        raise BenchError(f"a write did not become visible within {_STALL_SECONDS:.0f} s")


async def retried(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a call that a busy or starting service refused, with growing pauses."""
    for attempt in range(_ATTEMPTS_MAX):
        try:
            return await call()
        except grpc.aio.AioRpcError as error:
            if error.code() not in _RETRYABLE or attempt == _ATTEMPTS_MAX - 1:
                raise
        await asyncio.sleep(min(0.05 * 2**attempt, 5.0))
    raise AssertionError("unreachable: the last attempt returns or raises")


def one_turn(request_id: str, user_id: str, conversation_id: str, text: str) -> memory_pb2.RememberRequest:
    """A Remember of one turn of a person."""
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text)
    return memory_pb2.RememberRequest(
        request_id=request_id, user_id=user_id, conversation_id=conversation_id, turns=[turn]
    )
