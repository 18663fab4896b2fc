"""The outbox alone at a thousand turns a second: acknowledgements, backlog, and what PostgreSQL has to do for a turn.

    python -m bench.outbox --out FILE [--rate 1000] [--seconds 20] [--gateways 2] [--tenants 20]

Writers append turns of many tenants to a journal on the embedded PostgreSQL at an even rate; the dispatchers of some
gateways hand them to tiers that take everything at once. So the bound that is found is the outbox's own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psutil

from bench.common import print_table, report_head, run, times_of, write_json
from bench.resources import postgres_processes
from bench.texts import TextSource
from services.common.background import BackgroundWork
from services.common.clock import SystemClock
from services.common.datadir import DataDir
from services.common.errors import MnemeError
from services.common.ids import Uuid7Ids
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.common.turns import MessageRole, Turn
from services.gateway.app import migrate_gateway
from services.gateway.journal.dispatcher import Dispatcher
from services.gateway.journal.model import Appended, Caller, Delivery, DeliveryOutcome, RememberCommand, Tier
from services.gateway.journal.stores.postgres import PostgresJournal

_LATE_SHARE_MAX: Final = 0.02
_BACKLOG_SECONDS: Final = 3.0
"""The backlog of a system that keeps up is at most what comes in so many seconds, over all tiers."""


class _Tier:
    """Takes every delivery."""

    async def deliver(self, tenant_id: str, deliveries: Sequence[Delivery]) -> DeliveryOutcome:
        """See `DeliverySink`."""
        del tenant_id
        return DeliveryOutcome(done=tuple(deliveries))


@dataclass
class _Run:
    """What is measured."""

    seconds: list[float] = field(default_factory=list)
    """Of each acknowledgement."""
    late: int = 0
    """Writes that began more than a second after their time."""
    failed: int = 0
    """Writes that were not acknowledged in time."""
    backlogs: list[int] = field(default_factory=list)


async def _write(journal: PostgresJournal, dispatchers: Sequence[Dispatcher], run: _Run, options: Any) -> None:
    texts, begin = TextSource(1), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in itertools.count():
            due = begin + number / options.rate
            if due > begin + options.seconds:
                return
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            run.late += time.perf_counter() > due + 1.0
            caller = Caller(tenant_id=f"tenant-{number % options.tenants}", principal_id="bench")
            turn = Turn(role=MessageRole.USER, content=texts.turn().text, time=datetime.now(UTC))
            user = f"user-{number % 200}"
            command = RememberCommand(user, f"{user}-{number // 4000}", (turn,), request_id=str(number), digest=b"1")
            group.create_task(_append(journal, dispatchers[number % len(dispatchers)], caller, command, run))


async def _append(
    journal: PostgresJournal, dispatcher: Dispatcher, caller: Caller, command: RememberCommand, run: _Run
) -> None:
    begin = time.perf_counter()
    try:
        (outcome,) = await journal.append(caller, [command])
    except MnemeError:
        run.failed += 1
        return
    assert isinstance(outcome, Appended)
    run.seconds.append(time.perf_counter() - begin)
    dispatcher.wake()


async def _watch(pool: Pool, run: _Run) -> None:
    while True:
        await asyncio.sleep(1.0)
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
            run.backlogs.append(await connection.fetchval("SELECT count(*) FROM gateway.deliveries"))


def _processor_seconds(folder: Path) -> dict[int, float]:
    """Of each process of PostgreSQL, by its id."""
    found = {}
    for process in postgres_processes(folder):
        with contextlib.suppress(psutil.NoSuchProcess):
            found[process.pid] = sum(process.cpu_times()[:2])
    return found


async def _measure(options: argparse.Namespace) -> tuple[_Run, float, float]:
    result, clock = _Run(), SystemClock()
    with tempfile.TemporaryDirectory(prefix="mneme-bench-") as folder, DataDir(Path(folder) / "data") as data_dir:
        server = EmbeddedPostgres(data_dir)
        await server.start()
        try:
            await migrate_gateway(server.owner_dsn)
            pool = await create_pool(server.app_dsn, PoolSettings(size_max=24))
            ids = Uuid7Ids(clock)
            journal = PostgresJournal(pool, clock=clock, ids=ids)
            dispatchers = [
                Dispatcher(queue=journal, sinks={tier: _Tier() for tier in Tier}, clock=clock)
                for _ in range(options.gateways)
            ]
            async with BackgroundWork[str]("watch") as watch:
                works = [BackgroundWork[str](f"gateway-{number}") for number in range(options.gateways)]
                for dispatcher, work in zip(dispatchers, works, strict=True):
                    dispatcher.start(work)
                own, before = time.process_time(), _processor_seconds(data_dir.path)
                watch.keep_running("backlog", lambda: _watch(pool, result))
                await _write(journal, dispatchers, result, options)
                own = time.process_time() - own
                after = _processor_seconds(data_dir.path)
                database = sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())
                for work in works:
                    await work.aclose()
            await pool.close()
        finally:
            await server.stop()
    return result, own, database


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where the outbox did not keep up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=1000.0, help="turns a second")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--gateways", type=int, default=2, help="dispatchers for each tier")
    parser.add_argument("--tenants", type=int, default=20)
    options = parser.parse_args(arguments)
    found, own, database = run(_measure(options))
    turns, times = len(found.seconds), times_of(found.seconds)
    last = found.backlogs[-1] if found.backlogs else 0
    keeps_up = (
        not found.failed
        and found.late <= _LATE_SHARE_MAX * turns
        and last <= _BACKLOG_SECONDS * options.rate * len(Tier)
    )
    settings = {name: getattr(options, name) for name in ("rate", "seconds", "gateways", "tenants")}
    per_turn = {"gateways": round(1000 * own / turns, 3), "postgres": round(1000 * database / turns, 3)}
    report = report_head("outbox", driver="embedded", settings=settings)
    report |= {
        "turns": turns,
        "late": found.late,
        "failed": found.failed,
        "acknowledgement": asdict(times),
        "backlogs": found.backlogs,
        "processor_ms_per_turn": per_turn,
        "keeps_up": keeps_up,
    }
    write_json(options.out, report)
    print_table(
        f"outbox: {turns} turns, {found.late} written late, {found.failed} failed",
        ("ack p50 ms", "p95 ms", "largest backlog", "last backlog", "gateways ms / turn", "PostgreSQL ms / turn"),
        [(times.p50, times.p95, max(found.backlogs, default=0), last, per_turn["gateways"], per_turn["postgres"])],
    )
    return 0 if keeps_up else 1


if __name__ == "__main__":
    raise SystemExit(main())
