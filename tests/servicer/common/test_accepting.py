"""Several waiting calls of a method are taken at once, and those that came are answered before a server stops."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from grpc._cython import cygrpc  # type: ignore[attr-defined]

from services.common.rpc import accepting
from services.common.rpc.accepting import _AcceptingServer, _Calls


class Asked:
    """Calls that a server was asked for, as futures that the test completes."""

    def __init__(self) -> None:
        self.calls: list[asyncio.Future[Any]] = []
        self.is_running = True

    def ask(self) -> Any:
        self.calls.append(asyncio.get_running_loop().create_future())
        return self.calls[-1]


@pytest.fixture
async def asked() -> Asked:
    return Asked()


@pytest.fixture
async def calls(asked: Asked) -> _Calls:
    return _Calls(asked.ask, lambda: asked.is_running)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_spec_6_5_four_calls_of_a_method_are_asked_for_and_each_that_came_is_replaced(
    asked: Asked, calls: _Calls
) -> None:
    first = calls.next()
    assert len(asked.calls) == 4
    for number, call in enumerate(list(asked.calls)):
        call.set_result(number)
    await settle()
    assert len(asked.calls) == 8
    assert [await first, await calls.next(), await calls.next(), await calls.next()] == [0, 1, 2, 3]
    assert not calls.next().done()


async def test_a_call_that_could_not_be_taken_is_asked_for_again_while_the_server_runs(
    asked: Asked, calls: _Calls
) -> None:
    following = calls.next()
    asked.calls[0].set_exception(cygrpc._RequestCallError("lost"))
    await settle()
    assert not following.done()
    assert len(asked.calls) == 5


async def test_the_library_hears_of_a_stop_and_of_errors_that_stay(asked: Asked, calls: _Calls) -> None:
    following = calls.next()
    asked.calls[0].set_exception(KeyError("method"))
    with pytest.raises(KeyError):
        await following
    asked.is_running = False
    following = calls.next()
    asked.calls[1].set_exception(cygrpc._RequestCallError("stopped"))
    with pytest.raises(cygrpc._RequestCallError):
        await following
    assert len(asked.calls) == 4


class Echo(grpc.GenericRpcHandler):
    """Returns what it gets."""

    def service(self, _details: grpc.HandlerCallDetails) -> Any:
        async def echo(request: bytes, _context: Any) -> bytes:
            await asyncio.sleep(0)
            return request

        return grpc.unary_unary_rpc_method_handler(echo)


async def test_a_flood_of_calls_is_answered_until_the_server_stops() -> None:
    server = accepting.server(handlers=[Echo()])
    assert isinstance(server._server, _AcceptingServer)  # type: ignore[attr-defined]
    assert type(grpc.aio.server()._server) is cygrpc.AioServer  # type: ignore[attr-defined] # others are as before
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        call: Any = channel.unary_unary("/any/Echo")
        texts = [b"%d" % number for number in range(500)]
        assert await asyncio.gather(*(call(text) for text in texts)) == texts
        async with asyncio.timeout(60):
            await server.stop(4.0)
        with pytest.raises(grpc.aio.AioRpcError):
            await call(b"late", timeout=1.0)
