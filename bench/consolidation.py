"""How long the jobs on notes take for one user, and how long the event loop stands still meanwhile.

A fresh embedded PostgreSQL, vectors at random around topics, and a part of the notes said twice. Each job runs twice:
the second run shows that nothing is left to do.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from services.agentic.app import migrate_agentic
from services.agentic.config import AgenticSettings
from services.agentic.maintenance.schedule import note_jobs
from services.agentic.model import Note, NoteId, NoteKind
from services.agentic.stores.postgres import PostgresNoteStore
from services.common.clock import SystemClock
from services.common.datadir import DataDir
from services.common.embedding.vectors import Matrix
from services.common.ids import Uuid7Ids
from services.common.maintenance import MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.tier_embedder import TierEmbedder
from services.common.tokens import token_counter
from tests.support.embedding import HashingEmbedder

OWNER = Owner(TenantId("bench"), UserId("ann"))
TOPIC_NOTES = 12
SAID_TWICE = 0.05
PAGE = 500
STALL_SECONDS = 0.05


def make_notes(count: int, dimension: int) -> tuple[list[Note], Matrix]:
    """Notes in topics; the last twentieth repeats the first."""
    generator = np.random.default_rng(1)
    topics = generator.normal(size=(count // TOPIC_NOTES, dimension))
    begin = datetime(2025, 1, 1, tzinfo=UTC)
    repeated = int(count * (1 - SAID_TWICE))
    notes: list[Note] = []
    rows: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []
    for place in range(count):
        if place >= repeated:
            said, row = notes[place - repeated], rows[place - repeated]
            time_said = begin + timedelta(minutes=place)
            note_id = NoteId(f"00000000-0000-7000-8000-{place:012d}")
            notes.append(replace(said, note_id=note_id, create_time=time_said, update_time=time_said))
        else:
            topic = place % len(topics)
            row = topics[topic] + generator.normal(size=dimension) * 0.45
            row /= np.linalg.norm(row)
            time_said = begin + timedelta(minutes=place)
            notes.append(
                Note(
                    note_id=NoteId(f"00000000-0000-7000-8000-{place:012d}"),
                    user_id=OWNER.user_id,
                    content=f"Ann: item {place} of shelf {topic} costs {place} euros since 12 May.",
                    kind=NoteKind.FACT,
                    importance=0.5,
                    time=time_said,
                    create_time=time_said,
                    update_time=time_said,
                    keywords=(f"shelf {topic}", f"item {place}"),
                    derived_from=(InteractionId(f"11111111-0000-7000-8000-{place:012d}"),),
                )
            )
        rows.append(row)
    return notes, np.stack(rows).astype(np.float32)


async def watch_loop(stalls: list[float]) -> None:
    """Notes how long the event loop stood still."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.005)
        if (late := time.perf_counter() - before - 0.005) > STALL_SECONDS:
            stalls.append(late)


async def measure(count: int) -> None:
    """Runs the jobs and prints a line for each run."""
    print(f"{count} notes, load {os.getloadavg()[0]:.1f}")
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        data_dir = stack.enter_context(DataDir(folder / "data"))
        postgres = await stack.enter_async_context(EmbeddedPostgres(data_dir))
        await migrate_agentic(postgres.owner_dsn)
        pool = await stack.enter_async_context(await create_pool(postgres.app_dsn, PoolSettings(size_max=4)))
        store = await stack.enter_async_context(contextlib.aclosing(PostgresNoteStore(pool)))
        embedder = TierEmbedder(HashingEmbedder())
        notes, vectors = make_notes(count, embedder.dimension)
        for start in range(0, count, PAGE):
            page, rows = notes[start : start + PAGE], vectors[start : start + PAGE]
            await store.write(OWNER, lambda w, p=page, r=rows: w.add_notes(p, r, model=embedder.model_id))  # type: ignore[misc]
        clock = SystemClock()
        runner = MaintenanceRunner(PostgresMaintenanceStore(pool), clock=clock, ids=Uuid7Ids(clock))
        stalls: list[float] = []
        watching = asyncio.create_task(watch_loop(stalls))
        for each in note_jobs(store, embedder, token_counter(), clock, AgenticSettings()):
            for attempt in (1, 2):
                stalls.clear()
                started, used = time.perf_counter(), time.process_time()
                report = await runner.run(each.job, owner=OWNER)
                print(
                    f"{each.job.name} run {attempt}: {time.perf_counter() - started:.1f} s, processor "
                    f"{time.process_time() - used:.1f} s, {report.applied} of {report.planned} changes, "
                    f"{report.over_cap} over the cap, {len(stalls)} stalls above {STALL_SECONDS * 1000:.0f} ms, "
                    f"longest {max(stalls, default=0.0) * 1000:.0f} ms",
                    flush=True,
                )
        watching.cancel()


def main() -> None:
    """Reads the arguments and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=8_000)
    asyncio.run(measure(parser.parse_args().notes))


if __name__ == "__main__":
    main()
