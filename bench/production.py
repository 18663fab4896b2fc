"""Production engines for one run: started from nothing in a folder of their own, removed afterwards."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.common import REPOSITORY, BenchError
from services.common.hosting import HostSettings
from tools.engines.engine import Engine, kept_password
from tools.engines.group import NAMES, EngineGroup, install, with_needed
from tools.engines.postgres import PostgresEngine
from tools.engines.process import EngineError

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Which engines a stack runs on, and how."""

    names: tuple[str, ...] = ()
    """Servers that take the place of what is embedded; empty for none."""
    processes: bool = False
    """One process for each service instead of one for all."""


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--engines` and `--processes`."""
    parser.add_argument(
        "--engines",
        default="",
        help=f"servers to start and use instead of what is embedded: {', '.join(NAMES)}, or {ALL}",
    )
    parser.add_argument("--processes", action="store_true", help="one process for each service")


def engine_choice(names: str, *, processes: bool) -> EngineChoice:
    """What the options say.

    Raises:
        BenchError: There is no such engine.
    """
    wanted = names.replace(",", " ").split()
    if not wanted:
        return EngineChoice(processes=processes)
    # A pooler only where it is asked for: it costs a hop and brings nothing to one stack.
    chosen = [name for name in NAMES if name != "pgbouncer"] if wanted == [ALL] else wanted
    try:
        needed = with_needed(chosen)
    except EngineError as error:
        raise BenchError(str(error)) from error
    return EngineChoice(tuple(name for name in NAMES if name in needed), processes)


@contextlib.contextmanager
def running_engines(names: Sequence[str], folder: Path, *, short_lived: bool = False) -> Iterator[EngineGroup]:
    """Engines that keep what they acknowledge, for the length of the block; what is missing is installed first.

    Args:
        names: Of the engines; at least one.
        folder: Where their data are.
        short_lived: As `EngineGroup` says; never for a measurement of time.

    Raises:
        BenchError: One cannot be installed, or does not come up.
    """
    if not names:
        raise ValueError("no engine is named")
    group = EngineGroup(folder, names, password=kept_password(folder), short_lived=short_lived)
    try:
        install(names)
        group.start()
        yield group
    except EngineError as error:
        raise BenchError(str(error)) from error
    finally:
        group.clean()


class RestartedEngine:
    """An engine of a group that is killed and started again while gRPC runs in this process."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        """Of the group in `folder`."""
        self._folder = folder
        self._engine = engine

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._engine.kill()

    def start(self) -> None:
        """Starts it, by a program of its own: gRPC's threads do not survive the fork that changes the user.

        Raises:
            BenchError: It does not come up.
        """
        command = [sys.executable, "-m", "tools.engines", "start", self._engine.name]
        environment = {**os.environ, "MNEME_ENGINES_DIR": str(self._folder)}
        done = subprocess.run(
            command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode != 0:
            raise BenchError(f"{self._engine.name} does not start again: {done.stderr}")


def superuser_url(group: EngineGroup) -> str:
    """The services' database as the one who may do everything; empty where its server is not among the engines."""
    postgres = group.engines.get("postgres")
    return postgres.url_of(role="postgres") if isinstance(postgres, PostgresEngine) else ""


def host_settings(group: EngineGroup | None) -> HostSettings:
    """The settings of services on these engines; what the environment says of engines is not used."""
    engines = {
        "postgres_url": "",
        "postgres_owner_url": "",
        "postgres_direct_url": "",
        "behind_pgbouncer": "false",
        "session_store_url": "",
        "neo4j_url": "",
        "neo4j_password": "",
    }
    if group is not None:
        engines |= {name.removeprefix("MNEME_").lower(): value for name, value in group.service_variables().items()}
    return HostSettings(**engines)  # type: ignore[arg-type]  # read as from the environment
