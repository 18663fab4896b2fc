"""Messages between caller and handler, within the process and through a socket: each side has its own."""

from __future__ import annotations

from typing import Any

import pytest

from mneme.session.v1 import session_pb2, session_pb2_grpc
from services.common.auth import Role
from services.common.hosting import RunningServer
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding
from tests.support.echo import channel_to

AT_ONCE = ServerSettings(grace_seconds=0.0)


class SessionServicer:
    """Keeps the requests that it gets, and the answer that it gives."""

    def __init__(self) -> None:
        self.requests: list[session_pb2.GetSessionRequest] = []
        self.answer = session_pb2.GetSessionResponse(session=session_pb2.Session(user_id="ada"))

    def __getattr__(self, name: str) -> Any:
        async def get(request: session_pb2.GetSessionRequest, _context: Context) -> session_pb2.GetSessionResponse:
            self.requests.append(request)
            return self.answer

        return get


@pytest.mark.parametrize("changes_the_answer", [False, True])
async def test_neither_side_can_change_what_the_other_holds(way: str, changes_the_answer: bool) -> None:
    servicer = SessionServicer()
    bound = ServiceBinding(
        "mneme.session.v1.SessionService",
        session_pb2_grpc.add_SessionServiceServicer_to_server,
        servicer,
        dict.fromkeys(
            ("CreateSession", "GetSession", "ListSessions", "AppendTurns", "ExtendSession", "DeleteSession"),
            Role.READER,
        ),
    )
    server = GrpcServer(AT_ONCE, [bound], [])
    running = RunningServer(await server.start(), server)
    async with channel_to(running, way) as channel:
        request = session_pb2.GetSessionRequest(user_id="ada")
        response = await session_pb2_grpc.SessionServiceStub(channel).GetSession(request)
        request.user_id = "bob"
        if changes_the_answer:
            response.session.user_id = "bob"
        else:
            servicer.answer.session.user_id = "bob"
    await server.stop()

    assert [kept.user_id for kept in servicer.requests] == ["ada"]
    assert {servicer.answer.session.user_id, response.session.user_id} == {"ada", "bob"}
