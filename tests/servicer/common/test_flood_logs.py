"""What a flood of refused, late and given-up calls leaves in the log."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import grpc
import pytest
from structlog.testing import capture_logs

from services.common.auth import Authenticator
from services.common.rpc.channel import CallMetadata
from tests.servicer.common.conftest import READER
from tests.servicer.common.test_interceptors import method
from tests.support.echo import EchoServicer, echo_channel

LINES_PER_SECOND = 5


async def ended(calls: list[Any]) -> None:
    async with asyncio.timeout(60):
        await asyncio.gather(*(call.code() for call in calls))


async def test_issue_17_10_refused_calls_do_not_fill_the_log(socket_channel: grpc.aio.Channel) -> None:
    loop = asyncio.get_running_loop()
    with capture_logs() as logs:
        started = loop.time()
        await ended([method(socket_channel)(b"") for _ in range(500)])
        seconds = loop.time() - started
    lines = [line for line in logs if line["event"] == "call"]
    assert 0 < len(lines) <= LINES_PER_SECOND * (seconds + 1)
    assert {line["code"] for line in lines} == {"UNAUTHENTICATED"}


async def test_issue_17_10_callers_who_go_away_leave_no_traceback(
    servicer: EchoServicer, authenticator: Authenticator, metadata: CallMetadata, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with echo_channel("socket", servicer, authenticator) as channel:
        for microseconds in range(0, 20_000, 100):
            seconds = microseconds / 1e6
            late = [method(channel)(b"x" * 10_000, metadata=metadata(READER), timeout=seconds) for _ in range(5)]
            refused = [method(channel)(b"x" * 10_000, timeout=seconds) for _ in range(5)]
            late[0].cancel()
            await ended(late + refused)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
    assert [record for record in caplog.records if record.exc_info] == []
