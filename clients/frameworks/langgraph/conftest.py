"""Clients of the running gateway at MNEME_TARGET, and stores for tests that both kinds of store must pass."""

from __future__ import annotations

import asyncio
import os
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import pytest
import pytest_asyncio
from langgraph.store.base import BaseStore
from mneme_langgraph import AsyncMnemeStore, MnemeStore

from mneme_client import Client, SyncClient

OpenStore: TypeAlias = Callable[..., BaseStore]


@pytest.fixture
def user_id() -> str:
    """A user of this test alone."""
    return f"langgraph-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def client() -> Iterator[SyncClient]:
    """The blocking client."""
    with SyncClient(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest_asyncio.fixture
async def aclient() -> AsyncIterator[Client]:
    """The client for asyncio."""
    async with Client(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest.fixture(params=[MnemeStore, AsyncMnemeStore])
def open_store(request: pytest.FixtureRequest, client: SyncClient, user_id: str) -> Iterator[OpenStore]:
    """Makes stores of the test's user with options: of each kind, called by blocking methods.

    Those of an `AsyncMnemeStore` run its asynchronous ones in an event loop in another thread.
    """
    if request.param is MnemeStore:
        yield lambda **options: MnemeStore(client, user_id, **options)
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    opened = AsyncExitStack()

    async def made(options: dict[str, Any]) -> BaseStore:
        aclient = await opened.enter_async_context(Client(os.environ["MNEME_TARGET"]))
        return AsyncMnemeStore(aclient, user_id, **options)

    async def closed() -> None:
        await opened.aclose()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    yield lambda **options: asyncio.run_coroutine_threadsafe(made(options), loop).result(30)
    asyncio.run_coroutine_threadsafe(closed(), loop).result(30)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def any_store(open_store: OpenStore) -> BaseStore:
    """A store of each kind, without options."""
    return open_store()
