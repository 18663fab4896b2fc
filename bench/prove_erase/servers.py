"""Production engines for the proof, and what removes the bytes of deleted content from their files."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import redis.asyncio

from bench.common import BenchError
from bench.production import host_settings, running_engines, superuser_url
from bench.prove_erase.canaries import Pattern, vector_patterns
from services.cli.copying.places import Place, PlaceSettings
from services.cli.copying.run import CopyOptions, run_copy
from services.common.hosting import HostSettings
from services.common.settings_file import SettingsSource
from tools.engines.group import EngineGroup

if TYPE_CHECKING:
    from neo4j import AsyncDriver

_POLL_SECONDS: Final = 0.1
_VECTORS: Final = "MATCH (n) WHERE n.user_id = $user_id AND n.embedding IS NOT NULL RETURN n.embedding AS embedding"


@dataclass(frozen=True)
class Servers:
    """Servers that an installation uses, and those that it is copied to, since Neo4j cannot be purged in place."""

    folder: Path
    used: EngineGroup
    fresh: EngineGroup

    @property
    def host(self) -> HostSettings:
        """Settings of services on the servers in use."""
        return host_settings(self.used)

    @property
    def superuser_url(self) -> str:
        """The database in use, as a superuser."""
        return superuser_url(self.used)

    @property
    def folders(self) -> Mapping[str, Path]:
        """Files of the servers in use."""
        used = self.folder / "used"
        return {
            "write-ahead log": used / "postgres" / "data" / "pg_wal",
            "PostgreSQL": used / "postgres",
            "Redis": used / "redis",
            "Neo4j transaction logs": used / "neo4j" / "home" / "data" / "transactions",
            "Neo4j": used / "neo4j",
        }

    @property
    def fresh_folders(self) -> Mapping[str, Path]:
        """Files of the servers that the installation was copied to."""
        fresh = self.folder / "fresh"
        return {
            "PostgreSQL, copied to": fresh / "postgres",
            "Neo4j, copied to": fresh / "neo4j",
            "vector index, copied to": self.folder / "fresh-data",
        }

    async def vectors(self, user_id: str) -> list[Pattern]:
        """Vectors of a user's facts and notes as Neo4j has them, in both byte orders.

        Raises:
            BenchError: There are none.
        """
        async with self._graph() as graph:
            found = await graph.execute_query(_VECTORS, user_id=user_id)
        patterns = [
            pattern
            for record in found.records
            for pattern in vector_patterns(
                "graph vector", np.array(record["embedding"], np.float32), forms=("<f4", ">f4", "<f8", ">f8")
            )
        ]
        if not patterns:
            raise BenchError("Neo4j has no vectors of the user")
        return patterns

    @contextlib.asynccontextmanager
    async def _graph(self) -> AsyncIterator[AsyncDriver]:
        # Imported here: without Neo4j its driver is not loaded.
        from neo4j import AsyncGraphDatabase

        engine = self.used.engines["neo4j"]
        login = ("neo4j", engine.password) if engine.password else None
        async with AsyncGraphDatabase.driver(engine.url, auth=login) as driver:
            yield driver

    def stop_graph(self) -> None:
        """Ends Neo4j, which writes what it has in memory to its stores."""
        self.used.engines["neo4j"].stop()

    async def rewrite_redis(self) -> None:
        """Writes the append-only file anew, and returns when the earlier one is gone.

        Raises:
            BenchError: Redis could not.
        """
        async with _client(self.used) as client:
            await client.bgrewriteaof()
            while (found := await client.info("persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110 - Redis knows
                await asyncio.sleep(_POLL_SECONDS)
            if found["aof_last_bgrewrite_status"] != "ok":
                raise BenchError("Redis could not write its append-only file anew")

    async def copy(self, data_dir: Path) -> None:
        """Copies the installation, whose services are stopped, to the fresh servers, as `mneme copy` does.

        Raises:
            BenchError: Both sides differ afterwards.
        """
        source, target = self._place(self.used, data_dir), self._place(self.fresh, self.folder / "fresh-data")
        compared = await run_copy(source, target, CopyOptions(), _Silent())
        if differing := [one.kind for one in compared if not one.is_equal]:
            raise BenchError(f"the copy differs: {differing}")

    @staticmethod
    def _place(group: EngineGroup, data_dir: Path) -> Place:
        given = {name.removeprefix("MNEME_").lower(): value for name, value in group.service_variables().items()}
        settings = PlaceSettings.model_validate({**given, "data_dir": data_dir})
        return Place(data_dir.name, settings, SettingsSource.read(None, {}))


class _Silent:
    """Watches a copy and says nothing."""

    def begun(self, step: str, kind: str, *, done: int, total: int) -> None:
        """See `Watcher.begun`."""

    def advanced(self, records: int) -> None:
        """See `Watcher.advanced`."""


@contextlib.contextmanager
def running_servers(folder: Path) -> Iterator[Servers]:
    """Redis, PostgreSQL and Neo4j, and a second PostgreSQL and Neo4j to copy to; removed at the end.

    Raises:
        BenchError: One does not come up.
    """
    with (
        running_engines(("redis", "postgres", "neo4j"), folder / "used", short_lived=True) as used,
        running_engines(("postgres", "neo4j"), folder / "fresh", short_lived=True) as fresh,
    ):
        yield Servers(folder, used, fresh)


@contextlib.asynccontextmanager
async def _client(group: EngineGroup) -> AsyncIterator[redis.asyncio.Redis]:
    client = redis.asyncio.Redis.from_url(group.engines["redis"].url)
    try:
        yield client
    finally:
        await client.aclose()
