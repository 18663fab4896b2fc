"""Gateways tell each other of new deliveries, also after the database has cut them off."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import asyncpg
import pytest

from services.common.background import BackgroundWork, RestartDelays
from services.common.postgres.types import Connection
from services.gateway.journal.notice import NoticeSettings, PostgresNotice
from tests.support.postgres import DatabaseUrls

_OTHERS = "FROM pg_stat_activity WHERE application_name = 'mneme-gateway-notice' AND datname = current_database()"
SETTINGS = NoticeSettings(gather_seconds=0.0)


class Listening:
    """A gateway's end, which counts what it was told."""

    def __init__(self, url: str) -> None:
        self._told = asyncio.Event()
        self.notice = PostgresNotice(url, on_notice=self._told.set, settings=SETTINGS)

    async def told(self) -> None:
        """Waits until it is told once more."""
        async with asyncio.timeout(60):
            await self._told.wait()
        self._told.clear()

    @property
    def is_told(self) -> bool:
        return self._told.is_set()


@contextlib.asynccontextmanager
async def listening(*ends: Listening) -> AsyncIterator[None]:
    async with BackgroundWork[int]("test", RestartDelays(first_seconds=0.01)) as background:
        for number, end in enumerate(ends):
            background.keep_running(number, end.notice.run)
        yield


@pytest.fixture
async def administrator(fresh_database: DatabaseUrls) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.superuser)
    yield connection
    await connection.close()


async def test_others_are_told_and_not_oneself(fresh_database: DatabaseUrls) -> None:
    writer, reader = Listening(fresh_database.app), Listening(fresh_database.app)
    async with listening(writer, reader):
        await writer.told()  # as everybody who begins to listen
        await reader.told()
        writer.notice.announce()
        await reader.told()
        assert not writer.is_told


async def test_whoever_was_cut_off_looks_again_and_is_told_again(
    fresh_database: DatabaseUrls, administrator: Connection
) -> None:
    writer, reader = Listening(fresh_database.app), Listening(fresh_database.app)
    async with listening(writer, reader):
        await writer.told()
        await reader.told()
        cut = await administrator.fetch(f"SELECT pg_terminate_backend(pid) {_OTHERS}")
        assert len(cut) == 2
        await writer.told()  # neither has written anything, and yet both are back
        await reader.told()
        writer.notice.announce()
        await reader.told()
