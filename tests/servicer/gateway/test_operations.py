"""Health, reflection, and the end of a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import conversations_pb2, memory_pb2, recall_pb2
from services.common.postgres.server import EmbeddedPostgres
from tests.support.stack import RunningStack, Stubs, gated_gateway, stubs, until

if TYPE_CHECKING:
    from services.common.embedding.embedder import OnnxEmbedder

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVICES = {
    "gateway": ["v1.MemoryService", "v1.ConversationService", "v1.DeliveryService"],
    "session": ["internal.v1.SessionInternalService", "v1.SessionService"],
    "episodic": ["v1.EpisodicService", "internal.v1.EpisodicInternalService"],
    "semantic": ["v1.FactService", "v1.ProfileService"],
    "agentic": ["v1.NoteService"],
}


def addresses(stack: RunningStack) -> dict[str, str]:
    targets = stack.services.tier_targets
    return {
        "gateway": stack.target,
        **{name: getattr(targets, name) for name in ("session", "episodic", "semantic", "agentic")},
    }


@pytest.mark.parametrize("name", SERVICES)
async def test_spec_8_2_every_service_says_that_it_is_healthy_without_a_credential(
    secured_stack: RunningStack, name: str
) -> None:
    async with grpc.aio.insecure_channel(addresses(secured_stack)[name]) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        for service in ("", *(f"mneme.{name}.{service}" for service in SERVICES[name])):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Check(health_pb2.HealthCheckRequest(service="unknown"))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def reflected(
    channel: grpc.aio.Channel, version: str, request: reflection_pb2.ServerReflectionRequest
) -> reflection_pb2.ServerReflectionResponse:
    async def requests() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        yield request

    # The messages of both versions are the same on the wire.
    method: Any = channel.stream_stream(
        f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    (answer,) = [answer async for answer in method(requests())]
    assert isinstance(answer, reflection_pb2.ServerReflectionResponse)
    return answer


@pytest.mark.parametrize("version", ["v1", "v1alpha"])
@pytest.mark.parametrize("name", SERVICES)
async def test_spec_8_2_every_service_can_be_explored_without_proto_files(
    secured_stack: RunningStack, name: str, version: str
) -> None:
    async with grpc.aio.insecure_channel(addresses(secured_stack)[name]) as channel:
        listing = await reflected(channel, version, reflection_pb2.ServerReflectionRequest(list_services=""))
        listed = {service.name for service in listing.list_services_response.service}
        wanted = {f"mneme.{name}.{service}" for service in SERVICES[name]}
        assert wanted <= listed
        assert "grpc.health.v1.Health" in listed
        for service in {*wanted, f"grpc.reflection.{version}.ServerReflection"}:
            request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=service)
            assert (await reflected(channel, version, request)).file_descriptor_response.file_descriptor_proto


async def test_an_unknown_method_is_unimplemented(gateway: Stubs) -> None:
    method: Any = gateway.channel.unary_unary("/mneme.gateway.v1.MemoryService/Forget")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await method(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_spec_8_2_a_call_whose_time_is_over_ends(gateway: Stubs, user_id: str) -> None:
    request = recall_pb2.RecallRequest(user_id=user_id, query="anything")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await gateway.memory.Recall(request, timeout=0.000_1)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def streamed(user_id: str, text: str) -> memory_pb2.RememberStreamRequest:
    turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text)
    return memory_pb2.RememberStreamRequest(
        item=memory_pb2.RememberRequest(user_id=user_id, conversation_id="c1", turns=[turn])
    )


async def test_spec_8_2_a_call_under_way_finishes_while_the_server_stops(
    stack: RunningStack, embedder: OnnxEmbedder, postgres_server: EmbeddedPostgres, user_id: str
) -> None:
    async with (
        gated_gateway(stack, embedder, postgres_server) as gated,
        stubs(gated.target) as under_way,
        stubs(gated.target) as newcomer,
    ):
        listing = conversations_pb2.ListInteractionsRequest(user_id=user_id, conversation_id="c1")

        async def is_written() -> bool:
            return bool((await newcomer.conversations.ListInteractions(listing)).interactions)

        async def is_refused() -> bool:
            call = newcomer.conversations.ListInteractions(listing)
            # A call that comes at the very moment is cancelled by gRPC, later ones cannot connect.
            return await call.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}

        call = under_way.memory.RememberStream()
        await call.write(streamed(user_id, "before"))
        await until(is_written)
        stopping = asyncio.ensure_future(gated.stop())
        await until(is_refused)
        await call.write(streamed(user_id, "after"))
        await call.done_writing()
        assert len([response async for response in call]) == 2
        await stopping
