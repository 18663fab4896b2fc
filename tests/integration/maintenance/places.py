"""The stores that maintenance jobs work on, opened as a service opens them, and what a case of a job is."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from services.agentic.stores import postgres as agentic_store
from services.common.ids import Uuid7Ids
from services.common.maintenance import Job, MaintenanceRunner
from services.common.maintenance.postgres import PostgresMaintenanceStore
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.types import Pool
from services.episodic.stores import postgres as episodic_store
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.semantic.stores import postgres as semantic_store
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE

MIGRATIONS: Final = [
    (episodic_store.SCHEMA, episodic_store.MIGRATIONS_FOLDER),
    (semantic_store.SCHEMA, semantic_store.MIGRATIONS_FOLDER),
    (agentic_store.SCHEMA, agentic_store.MIGRATIONS_FOLDER),
    MAINTENANCE,
]
FIRST: Final = HashingEmbedder(64)
SECOND: Final = HashingEmbedder(32, "second")


@dataclass
class Place:
    """The stores of a process."""

    pool: Pool
    clock: FakeClock
    indexes: Sequence[EdgeEpisodeIndex] = ()  # of `FIRST` and `SECOND`, as many as the case needs
    dsn: str = ""  # of the database, as the services' role

    @property
    def index(self) -> EdgeEpisodeIndex:
        return self.indexes[0]

    @property
    def log(self) -> PostgresMaintenanceStore:
        return PostgresMaintenanceStore(self.pool)

    @property
    def runner(self) -> MaintenanceRunner:
        return MaintenanceRunner(self.log, clock=self.clock, ids=Uuid7Ids(self.clock))


@dataclass(frozen=True)
class Seen:
    """What a user finds, and what is stored. Without ids and times that differ from run to run."""

    recallable: frozenset[str]  # memories that a search can return
    stored: frozenset[str]  # memories that can be read by their ids, archived ones too
    further: frozenset[str] = field(default_factory=frozenset)  # what the job makes besides


class JobCase(Protocol):
    """A job with memories on which it has several steps to do."""

    @property
    def name(self) -> str:
        """Of the job."""
        ...

    @property
    def index_count(self) -> int:
        """Vector indexes that it needs."""
        ...

    @property
    def comes_back(self) -> bool:
        """Whether an undo restores all that was recallable before."""
        ...

    async def fill(self, place: Place) -> None:
        """Stores memories, and sets the clock to when the job runs."""
        ...

    def job(self, place: Place) -> Job[Any]:
        """The job as its service makes it, with settings under which it has work."""
        ...

    async def settle(self, place: Place) -> None:
        """What else runs in the service does its work, such as the indexer."""
        ...

    async def seen(self, place: Place) -> Seen:
        """What is there."""
        ...

    async def check(self, place: Place) -> None:
        """Fails where something that is out of use has no successor that can be found instead."""
        ...


@contextlib.asynccontextmanager
async def opened(case: JobCase, dsn: str, folder: Path, clock: FakeClock) -> AsyncIterator[Place]:
    """The stores of a case in a database and a folder."""
    async with contextlib.AsyncExitStack() as stack:
        pool = await stack.enter_async_context(await create_pool(dsn, PoolSettings(size_max=4)))
        indexes = []
        for embedder in (FIRST, SECOND)[: case.index_count]:
            model, dimension = embedder.fingerprint, embedder.dimension
            index = await EdgeEpisodeIndex.open(folder, model=model, dimension=dimension)
            stack.push_async_callback(index.aclose)
            indexes.append(index)
        yield Place(pool, clock, indexes, dsn)
