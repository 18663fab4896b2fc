"""Several engines at once: what to install for them, how to start them, and where they are then."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tools.engines.engine import Engine
from tools.engines.neo4j.distribution import Distribution
from tools.engines.neo4j.engine import Neo4jEngine
from tools.engines.pgbouncer import PgbouncerEngine
from tools.engines.postgres import PostgresEngine
from tools.engines.process import EngineError, find_program, run
from tools.engines.redis import RedisEngine

NAMES: Final = ("redis", "postgres", "pgbouncer", "neo4j")
"""All engines, in the order in which they start."""

_CLASSES: Final[Mapping[str, type[Engine]]] = {
    kind.name: kind for kind in (RedisEngine, PostgresEngine, PgbouncerEngine, Neo4jEngine)
}
_PACKAGES_SCRIPT: Final = Path(__file__).resolve().parent / "install_packages.sh"


class EngineGroup:
    """Engines of one folder, each in a folder of its name.

    Attributes:
        engines: By name, in the order in which they start.
    """

    def __init__(
        self,
        folder: Path,
        names: Iterable[str] = (),
        *,
        password: str | None = None,
        durable: bool = True,
        short_lived: bool = False,
    ) -> None:
        """Prepares them; nothing is touched.

        Args:
            folder: Their common folder.
            names: Of `NAMES`; none: all. A pooler brings the server that it stands before.
            password: What clients give to all of them. None: Redis and Neo4j ask for none, PostgreSQL makes one.
            durable: False for data that nobody misses after a crash.
            short_lived: True for engines that run for minutes: Neo4j then warms up faster and ends up slower.
        """
        wanted = with_needed(names)
        self._postgres = PostgresEngine(folder / "postgres", password=password, durable=durable)
        self._redis = RedisEngine(folder / "redis", password=password, durable=durable)
        self._pgbouncer = PgbouncerEngine(folder / "pgbouncer", self._postgres)
        self._neo4j = Neo4jEngine(folder / "neo4j", password=password, short_lived=short_lived)
        every: Sequence[Engine] = (self._redis, self._postgres, self._pgbouncer, self._neo4j)
        self.engines = {engine.name: engine for engine in every if engine.name in wanted}

    def start(self) -> None:
        """Starts all that do not run.

        Raises:
            EngineError: One does not come up.
        """
        for engine in self.engines.values():
            engine.start()

    def start_for_tests(self, name: str) -> Mapping[str, str]:
        """Starts one engine with those that it stands before, and returns the tests' environment of what runs.

        Raises:
            EngineError: It does not come up.
        """
        for engine in self.engines.values():
            if engine.name in with_needed([name]):
                engine.start()
        return self.test_variables()

    def stop(self) -> None:
        """Stops all that run, last first."""
        for engine in reversed(self.engines.values()):
            engine.stop()

    def clean(self) -> None:
        """Stops them and removes their data."""
        for engine in reversed(self.engines.values()):
            engine.clean()

    def service_variables(self) -> dict[str, str]:
        """The environment in which Mneme's services use the engines that run."""
        variables: dict[str, str] = {}
        running = {name for name, engine in self.engines.items() if engine.pid is not None}
        if "redis" in running:
            variables["MNEME_SESSION_STORE_URL"] = self._redis.url
        if "postgres" in running:
            variables["MNEME_POSTGRES_URL"] = self._postgres.url
            variables["MNEME_POSTGRES_OWNER_URL"] = self._postgres.owner_url
            variables["MNEME_POSTGRES_ADMIN_URL"] = self._postgres.url_of(role="postgres")  # for `mneme copy` alone
        if "pgbouncer" in running:
            variables["MNEME_POSTGRES_URL"] = self._pgbouncer.url
            variables["MNEME_POSTGRES_DIRECT_URL"] = self._postgres.url
            variables["MNEME_BEHIND_PGBOUNCER"] = "true"
        if "neo4j" in running:
            variables["MNEME_NEO4J_URL"] = self._neo4j.url
            if self._neo4j.password:
                variables["MNEME_NEO4J_PASSWORD"] = self._neo4j.password
        return variables

    def test_variables(self) -> dict[str, str]:
        """The environment in which the tests use the engines that run."""
        urls = {
            "redis": lambda: self._redis.url,
            "postgres": lambda: self._postgres.superuser_url,
            "pgbouncer": lambda: self._pgbouncer.superuser_url,
            "neo4j": lambda: self._neo4j.url,
        }
        return {f"MNEME_TEST_{name.upper()}_URL": urls[name]() for name, engine in self.engines.items() if engine.pid}


def with_needed(names: Iterable[str]) -> set[str]:
    """The named engines and those they stand before; all when none is named.

    Raises:
        EngineError: There is no engine of a name.
    """
    wanted = set(names) or set(NAMES)
    if unknown := wanted.difference(NAMES):
        raise EngineError(f"no engine is called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    return wanted | ({"postgres"} if "pgbouncer" in wanted else set())


def install(names: Iterable[str]) -> None:
    """Installs what is missing for the named engines, all when none is named.

    Raises:
        EngineError: It cannot be installed.
    """
    wanted = with_needed(names)
    packages = missing_packages(wanted)
    if packages:
        print(f"installing {' '.join(packages)}", flush=True)
        if shutil.which("apt-get") is None:
            raise EngineError(f"there is no apt-get here: install what Debian calls {', '.join(packages)}")
        as_root = [] if os.geteuid() == 0 else ["sudo"]
        run([*as_root, str(_PACKAGES_SCRIPT), *packages], folder=Path("/"))
    if "neo4j" in wanted:
        Distribution().install()


def missing_packages(names: Iterable[str]) -> list[str]:
    """Debian packages that the named engines need and whose programs are not here."""
    return sorted(
        package
        for name in names
        for package, program in _CLASSES[name].packages.items()
        if find_program(program) is None and not (name == "neo4j" and Distribution().is_installed)
    )


def missing(name: str) -> str:
    """Why an engine cannot be started on this machine, empty when it can."""
    if packages := missing_packages(with_needed([name])):
        return f"no {' and no '.join(packages)}"
    if name == "neo4j" and not Distribution().is_installed:
        return "no jars"
    if name == "neo4j" and Distribution().java() is None:
        return "no Java that is new enough"
    return ""
