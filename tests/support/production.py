"""The whole of Mneme on production engines: Redis, PostgreSQL and Neo4j, one process for each service.

Fixtures, in the session's event loop like those of `tests.support.stack`:
    `production_engines` (session): the engines, durable, of these tests alone: they may be killed and started again.
    `production_stack` (session): the stack on them, in development mode.

In the place of a Qdrant server, which cannot be installed from packages, stands `tests.support.qdrant_server`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import pytest_asyncio

from tests.support.engines import absent, engines_home
from tests.support.stack import unlinked_by_use
from tools.engines.group import missing
from tools.engines.process import free_port

if TYPE_CHECKING:  # it brings in every engine, which no other test needs
    from bench.common import Target
    from bench.outage import Engine
    from tools.engines.group import EngineGroup

_SERVERS: Final = ("redis", "postgres", "neo4j")
ENGINES: Final = (*_SERVERS, "qdrant")


@dataclass(frozen=True)
class ProductionEngines:
    """Engines in a folder."""

    group: EngineGroup
    by_name: Mapping[str, Engine]  # to be killed and started again
    qdrant_url: str


@pytest.fixture(scope="session")
def production_engines(request: pytest.FixtureRequest) -> Iterator[ProductionEngines]:
    """Engines that keep what they acknowledge."""
    from bench.production import RestartedEngine, running_engines
    from tests.support import qdrant_server

    for name in _SERVERS:
        if reason := missing(name):
            absent(request, name, reason)
    with (
        engines_home() as folder,
        running_engines(_SERVERS, folder, short_lived=True) as group,
        qdrant_server.running(folder / "qdrant", free_port()) as qdrant,
    ):
        servers = {name: RestartedEngine(folder, engine) for name, engine in group.engines.items()}
        yield ProductionEngines(group, {**servers, "qdrant": qdrant}, qdrant.url)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def production_stack(
    production_engines: ProductionEngines, tmp_path_factory: pytest.TempPathFactory, model_folder: Path
) -> AsyncIterator[Target]:
    """All services, one process each."""
    from bench.common import Target
    from bench.production import host_settings
    from services.cli.stack import StackSettings, run_stack

    engines = {"embedding_model_dir": model_folder, "qdrant_url": production_engines.qdrant_url}
    chosen = host_settings(production_engines.group).model_copy(update=engines)
    settings = StackSettings(
        data_dir=tmp_path_factory.mktemp("production") / "data",
        port=0,
        processes=True,
        host_settings=chosen,
        grace_seconds=1.0,
    )
    async with contextlib.AsyncExitStack() as started:
        with unlinked_by_use():
            running = await started.enter_async_context(run_stack(settings))
        yield Target(
            gateway=running.gateway_target,
            driver="production",
            data_dir=None,
            start_seconds=None,
            tiers=asdict(running.tier_targets),
        )
