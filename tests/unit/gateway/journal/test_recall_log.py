"""The log of recalls: what waits while the journal is away, and what becomes of what cannot be written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from services.common.errors import StoreUnavailable
from services.common.telemetry import state
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import RecallRecord
from services.gateway.journal.recall_log import RecallLog
from tests.support.clock import FakeClock

FACT = (MemoryKind.FACT, "0190a1b2-0000-7000-8000-000000000001")
BAD = "a record that the journal refuses"


class Records:
    """Takes records while it is up, but not a batch with the bad one."""

    def __init__(self) -> None:
        self.is_up = True
        self.written: list[str] = []
        self.calls = 0
        self.third = asyncio.Event()  # a third call

    async def add_recalls(self, records: Sequence[RecallRecord]) -> None:
        self.calls += 1
        if self.calls == 3:
            self.third.set()
        await asyncio.sleep(0)
        if not self.is_up:
            raise StoreUnavailable("the journal is away")
        if any(record.recall_id == BAD for record in records):
            raise ValueError(BAD)
        self.written += [record.recall_id for record in records]


@pytest.fixture
def records() -> Records:
    return Records()


@pytest.fixture
def unrecorded() -> Iterator[Callable[[], dict[str, int]]]:
    """Reads how many recalls went unrecorded, by reason; of logs that are made meanwhile."""
    reader = InMemoryMetricReader()
    state.switch_on(None, MeterProvider(metric_readers=[reader]))

    def read() -> dict[str, int]:
        found = reader.get_metrics_data()
        assert found is not None
        points = found.resource_metrics[0].scope_metrics[0].metrics[0].data.data_points
        return {str((p.attributes or {})["reason"]): int(p.value) for p in points if p.value}  # type: ignore[union-attr]

    try:
        yield read
    finally:
        state.switch_off()


@contextlib.asynccontextmanager
async def running(log: RecallLog) -> AsyncIterator[None]:
    task = asyncio.create_task(log.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def log_to(records: Records, *, queue_max: int = 10, wait_seconds: float = 10.0) -> RecallLog:
    return RecallLog(
        records,  # type: ignore[arg-type]  # the part of the port that is written to
        FakeClock(),
        queue_max=queue_max,
        wait_seconds=wait_seconds,
        retry_seconds=0.001,
    )


async def record(log: RecallLog, *recall_ids: str) -> None:
    for recall_id in recall_ids:
        await log.record("acme", "u1", recall_id, [FACT])


async def test_spec_6_10_a_batch_that_cannot_be_written_is_written_again(records: Records) -> None:
    log = log_to(records)
    records.is_up = False
    await record(log, "1", "2")
    with pytest.raises(StoreUnavailable):
        await log.flush()
    await record(log, "3")
    records.is_up = True
    await log.flush()
    await log.flush()
    assert records.written == ["1", "2", "3"]


async def test_spec_6_10_recalls_beyond_the_queue_wait_until_the_journal_is_back(records: Records) -> None:
    log = log_to(records, queue_max=2)
    records.is_up = False
    async with running(log), asyncio.timeout(60):
        await record(log, "1", "2")
        beyond = asyncio.create_task(record(log, "3"))
        await records.third.wait()  # it is tried again by itself
        assert not beyond.done()
        records.is_up = True
        await beyond
        await log.flush()
    assert records.written == ["1", "2", "3"]


async def test_spec_6_10_a_recall_without_room_goes_on_after_a_bounded_time(
    records: Records, unrecorded: Callable[[], dict[str, int]]
) -> None:
    log = log_to(records, queue_max=2, wait_seconds=0.001)
    await record(log, "1", "2", "3")
    await log.flush()
    assert records.written == ["1", "2"]
    assert unrecorded() == {"queue_full": 1}


async def test_a_record_that_the_journal_refuses_holds_up_no_other(
    records: Records, unrecorded: Callable[[], dict[str, int]]
) -> None:
    log = log_to(records)
    await record(log, "1", BAD, "2")
    await log.flush()
    await record(log, "3", "4")
    await log.flush()
    assert records.written == ["1", "2", "3", "4"]
    assert unrecorded() == {"refused": 1}


async def test_spec_6_10_what_waits_is_written_when_the_gateway_stops(
    records: Records, unrecorded: Callable[[], dict[str, int]]
) -> None:
    log = log_to(records)
    await record(log, "1")
    await log.aclose()
    assert records.written == ["1"]
    records.is_up = False
    await record(log, "2", "3")
    await log.aclose()
    assert unrecorded() == {"closed": 2}
