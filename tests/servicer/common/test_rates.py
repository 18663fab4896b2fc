"""Calls beyond the rate of their tenant, at a real server."""

from __future__ import annotations

import grpc

from services.common.auth import Authenticator, Principal, Role
from services.common.rates import RateLimiter, RateSettings
from services.common.rpc.channel import CallMetadata, open_channel
from services.common.rpc.interceptors import InterceptorSettings, interceptors
from services.common.rpc.server import GrpcServer, ServerSettings
from tests.servicer.common.conftest import READER, WRITER
from tests.servicer.common.test_interceptors import method
from tests.support.clock import SequentialIds
from tests.support.echo import EchoServicer, binding
from tests.support.stack import refusal

OTHER_TENANT = Principal("globex", "robot", Role.WRITER)


async def test_spec_7_2_calls_beyond_a_tenant_s_rate_are_refused_with_a_time_to_retry(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata
) -> None:
    limiter = RateLimiter(
        RateSettings(reads_per_second=2.0, writes_per_second=1.0, burst_seconds=1.0), monotonic=lambda: 0.0
    )
    bindings = [binding(servicer)]
    chain = interceptors(InterceptorSettings(), authenticator, bindings[0].method_roles, SequentialIds(), rates=limiter)
    names = [type(interceptor).__name__ for interceptor in chain]
    assert names[names.index("AuthInterceptor") :] == ["AuthInterceptor", "RateInterceptor", "AdmissionInterceptor"]
    server = GrpcServer(ServerSettings(grace_seconds=0.0), bindings, chain)
    async with open_channel(await server.start()) as channel:
        for _ in range(2):
            assert await method(channel)(b"x", metadata=metadata(WRITER)) == b"x"
        refused = await refusal(method(channel)(b"x", metadata=metadata(READER)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        assert refused.facts == {"limit_name": "rates.reads_per_second", "limit": "2"}
        assert await method(channel, "Write")(b"x", metadata=metadata(WRITER)) == b"x"
        assert (await refusal(method(channel, "Write")(b"x", metadata=metadata(WRITER)))).reason == "RATE_LIMITED"
        assert await method(channel)(b"x", metadata=metadata(OTHER_TENANT)) == b"x"
        assert len(servicer.principals) == 4
    await server.stop()
