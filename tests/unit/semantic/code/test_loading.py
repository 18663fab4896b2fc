"""A repository is loaded once, whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from services.common.cache import OwnerCache
from services.common.owners import Owner, TenantId, UserId
from services.semantic.code.config import CodeSettings
from services.semantic.code.model import PackedFile, RepositoryHead
from services.semantic.code.packing import pack
from services.semantic.code.parser import parse_file
from services.semantic.code.parsers import CodeParsers
from services.semantic.code.service import CodeService
from services.semantic.code.store import CodeStore
from tests.support.clock import FakeClock

ADA = Owner(TenantId("t"), UserId("ada"))


class _SlowStore:
    """What loading a repository of one file needs; its files come when the test says so."""

    def __init__(self) -> None:
        self.may_read = asyncio.Event()
        self.is_reading = asyncio.Event()
        self.reads = 0

    async def head(self, _owner: Owner, _repository_id: str) -> RepositoryHead:
        return RepositoryHead(epoch=1, revision=1, file_count=1)

    async def changed(self, _owner: Owner, _repository_id: str, *, after_revision: int) -> Sequence[PackedFile]:
        assert after_revision < 1
        self.reads += 1
        self.is_reading.set()
        await self.may_read.wait()
        return [pack(parse_file("a.py", b"def levy(): pass\n"))]


def _service(store: _SlowStore) -> CodeService:
    return CodeService(
        cast("CodeStore", store),
        CodeParsers(processes=1, timeout_seconds=1.0),
        clock=FakeClock(datetime(2026, 1, 1, tzinfo=UTC)),
        cache=OwnerCache(bytes_max=1 << 20),
        settings=CodeSettings(),
        retention_seconds=1.0,
    )


async def test_a_caller_that_gives_up_does_not_stop_the_loading() -> None:
    store = _SlowStore()
    service = _service(store)
    first = asyncio.ensure_future(service.ask(ADA, "r", lambda index: len(index.graph)))
    await store.is_reading.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    store.may_read.set()
    assert await service.ask(ADA, "r", lambda index: len(index.graph)) == 1
    assert store.reads == 1
    await service.aclose()


async def test_closing_stops_the_loading() -> None:
    store = _SlowStore()
    service = _service(store)
    waiting = asyncio.ensure_future(service.ask(ADA, "r", lambda index: len(index.graph)))
    await store.is_reading.wait()
    await service.aclose()
    with pytest.raises(asyncio.CancelledError):
        await waiting
