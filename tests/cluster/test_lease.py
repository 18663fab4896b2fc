"""Processes that elect a leader by a Lease of a real API server, one of them killed, the server stopped and started."""

from __future__ import annotations

import asyncio
import signal
import sys
import uuid
from collections.abc import AsyncIterator

import pytest

from services.common.clock import SystemClock
from services.common.errors import Conflict
from services.common.maintenance.fence import check_fence
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.maintenance.store import Claim
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from tests.cluster.replica import JOB
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tools.cluster.control_plane import API_SERVER, ControlPlane


class Replica:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def reports(self, word: str) -> str:
        """Waits for a line that begins with a word and returns the rest of it."""
        assert self.process.stdout is not None
        async with asyncio.timeout(90):
            while line := await self.process.stdout.readline():
                first, _, rest = line.decode().strip().partition(" ")
                if first == word:
                    return rest
        raise AssertionError(f"the process ended and never reported {word}")

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Sends a signal."""
        self.process.send_signal(number)


class Replicas:
    """Processes of one election."""

    def __init__(self, cluster: ControlPlane, dsn: str) -> None:
        self._cluster, self._dsn = cluster, dsn
        self._lease = f"mneme-{uuid.uuid4().hex[:8]}"
        self._started: list[Replica] = []

    async def start(self, name: str, *, skew_seconds: float = 0.0) -> Replica:
        """Starts one, whose monotonic clock is ahead by some seconds."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.cluster.replica",
            name, str(self._cluster.kubeconfig), self._lease, self._dsn, str(skew_seconds),
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        replica = Replica(process)
        self._started.append(replica)
        return replica

    async def stop(self) -> None:
        """Kills all that run."""
        for replica in self._started:
            if replica.process.returncode is None:
                replica.kill()
            await replica.process.wait()


@pytest.fixture
async def urls(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as made:
        yield made


@pytest.fixture
async def pool(urls: DatabaseUrls) -> AsyncIterator[Pool]:
    opened = await create_pool(urls.app)
    yield opened
    await opened.close()


@pytest.fixture
async def replicas(cluster: ControlPlane, urls: DatabaseUrls) -> AsyncIterator[Replicas]:
    started = Replicas(cluster, urls.app)
    yield started
    await started.stop()


async def test_spec_6_9_a_leader_that_was_killed_is_replaced_by_another_process(replicas: Replicas) -> None:
    first = await replicas.start("first")
    term = int(await first.reports("leads"))
    second = await replicas.start("second", skew_seconds=5_000.0)  # clocks of two machines have nothing in common
    first.kill()
    assert int(await second.reports("leads")) > term


async def test_spec_6_9_an_election_survives_its_api_server(replicas: Replicas, cluster: ControlPlane) -> None:
    first = await replicas.start("first")
    term = int(await first.reports("leads"))
    second = await replicas.start("second", skew_seconds=-5_000.0)
    cluster.stop_program(API_SERVER, signal.SIGKILL)
    try:
        await first.reports("follows")  # its time is over, and it has heard of nobody
    finally:
        cluster.start_program(API_SERVER)
    leads = {asyncio.create_task(replica.reports("leads")) for replica in (first, second)}
    done, pending = await asyncio.wait(leads, return_when=asyncio.FIRST_COMPLETED, timeout=90)
    for task in pending:
        task.cancel()
    assert [int(task.result()) > term for task in done] == [True]


async def test_spec_6_9_a_leader_that_slept_through_its_term_never_writes(replicas: Replicas, pool: Pool) -> None:
    store, clock = PostgresMaintenanceStore(pool), SystemClock()
    first = await replicas.start("first")
    term = int(await first.reports("leads"))
    first.kill(signal.SIGSTOP)  # a long pause of its machine
    second = await replicas.start("second")
    later = int(await second.reports("leads"))
    stale = Claim(JOB, None, "first", "018f0000-0000-7000-8000-000000000000", "", term)
    async with pool.acquire() as connection, connection.transaction():
        with pytest.raises(Conflict):
            await check_fence(connection, stale)
    with pytest.raises(Conflict):
        await store.renew(stale, cursor="stale", now=clock.now(), lease=clock.now() - clock.now())
    first.kill(signal.SIGCONT)
    assert later > term
    await first.reports("follows")
