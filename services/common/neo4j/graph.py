"""A Neo4j database as the stores use it: managed transactions, deadlines, spans and translated errors."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeAlias, TypeVar

import neo4j
from neo4j import exceptions as neo4j_errors

from services.common.errors import FailedPrecondition
from services.common.neo4j.failure import translate_errors
from services.common.settings_types import Amount, Count, Seconds
from services.common.telemetry import span

_T = TypeVar("_T")

Record: TypeAlias = Mapping[str, Any]
"""A row of a response, by the names in its RETURN."""

VERSION_MIN: Final = (2026, 2)
"""The first whose vector indexes filter inside the index."""

USER_AGENT: Final = "mneme"
"""What a server lists the services' connections as."""

_SCHEMES: Final = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neo4jServer:
    """Where a Neo4j is and how to log in."""

    url: str
    """bolt:// or neo4j:// (which routes in a cluster), with +s for TLS."""
    user: str = "neo4j"
    password: str = ""
    """Empty: the server asks for none."""
    database: str = "neo4j"
    """Its database. A large tenant can have a deployment of its own on another."""
    authority: str = ""
    """File of the authority of its certificate, PEM; used with bolt:// or neo4j://. Empty: the public ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neo4jSettings:
    """Bounds of the connections to Neo4j."""

    connections_max: Count = 32
    """Of this process and service; calls beyond it wait for one."""
    acquire_timeout_seconds: Seconds = 5.0
    """Patience with a pool that has no free connection, connecting included."""
    connect_timeout_seconds: Seconds = 3.0
    """Patience with one new connection."""
    connection_lifetime_seconds: Seconds = 3_600.0
    """Older connections are replaced, so that load follows a cluster that grows."""
    idle_check_seconds: Amount = 30.0
    """A connection that was idle for longer is tested before it is used."""
    query_timeout_seconds: Seconds = 30.0
    """Limit of one transaction, on the server and here."""
    retry_seconds_max: Amount = 3.0
    """For how long a transaction that met a transient failure is tried again."""
    reads_from_followers: bool = False
    """In a cluster: reads go to followers too, which may lag behind what was just written."""


class GraphTransaction:
    """An open transaction."""

    def __init__(self, transaction: neo4j.AsyncManagedTransaction) -> None:
        """Wraps the driver's."""
        self._transaction = transaction

    async def run(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> list[Record]:
        """Runs one query with its parameters, and reads its whole response."""
        with span("neo4j.query", {"db.system.name": "neo4j", "db.query.text": query}):
            result = await self._transaction.run(query, dict(parameters or {}))
            return [record async for record in result]


class Graph:
    """A database of a Neo4j server, through one pool of connections. Queries are constants: values are parameters."""

    def __init__(
        self, driver: neo4j.AsyncDriver, *, database: str = "neo4j", settings: Neo4jSettings | None = None
    ) -> None:
        """Uses a driver that its owner closes."""
        self._driver = driver
        self._settings = settings or Neo4jSettings()
        chosen = self._settings
        self._session_options: dict[str, Any] = {
            "database": database,
            # A replica of ours sees its own writes, whichever member of a cluster answers.
            "bookmark_manager": neo4j.AsyncGraphDatabase.bookmark_manager(),
        }
        self._read_mode = neo4j.READ_ACCESS if chosen.reads_from_followers else neo4j.WRITE_ACCESS

    async def read(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> list[Record]:
        """The whole response to one query that writes nothing, in one round trip.

        A lost connection is tried once more on another: after a restart of the server all pooled ones are dead.

        Raises:
            MnemeError: See `translate_errors`.
        """
        timeout = self._settings.query_timeout_seconds
        attempts_left = 2
        with translate_errors(), span("neo4j.query", {"db.system.name": "neo4j", "db.query.text": query}):
            async with asyncio.timeout(timeout):
                while True:
                    attempts_left -= 1
                    try:
                        return await self._read_once(query, dict(parameters or {}), timeout)
                    except (neo4j_errors.Neo4jError, neo4j_errors.DriverError) as error:
                        if not (attempts_left and error.is_retryable()):
                            raise
                        await asyncio.sleep(random.uniform(0.01, 0.05))  # noqa: S311 - a pause and no secret

    async def write(self, work: Callable[[GraphTransaction], Awaitable[_T]]) -> _T:
        """Runs work in one transaction, all or nothing, and again from its beginning after a transient failure.

        Work must therefore change nothing but the graph.

        Raises:
            MnemeError: See `translate_errors`; and whatever `work` raises.
        """

        @neo4j.unit_of_work(timeout=self._settings.query_timeout_seconds)
        async def unit(transaction: neo4j.AsyncManagedTransaction) -> _T:
            return await work(GraphTransaction(transaction))

        with translate_errors():
            async with asyncio.timeout(self._settings.query_timeout_seconds), self._session() as neo4j_session:
                return await neo4j_session.execute_write(unit)

    async def change_schema(self, statement: LiteralString, parameters: Mapping[str, Any] | None = None) -> None:
        """Runs one statement that makes or drops an index or a constraint, without a time limit.

        Raises:
            MnemeError: See `translate_errors`.
        """
        with translate_errors():
            async with self._session() as neo4j_session:
                await (await neo4j_session.run(statement, dict(parameters or {}))).consume()

    async def explain(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """How the server would run a query: the driver's tree of operators. Nothing is run.

        Raises:
            MnemeError: See `translate_errors`.
        """
        with translate_errors():
            async with self._session() as neo4j_session:
                result = await neo4j_session.run("EXPLAIN " + query, dict(parameters or {}))
                plan: Mapping[str, Any] = (await result.consume()).plan or {}
                return plan

    async def server_version(self) -> str:
        """What the server says of itself, such as "2026.08.1"."""
        rows = await self.read(
            "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions"
        )
        return str(rows[0]["versions"][0])

    async def _read_once(self, query: LiteralString, parameters: dict[str, Any], timeout: float) -> list[Record]:
        async with self._session(self._read_mode) as neo4j_session:
            result = await neo4j_session.run(neo4j.Query(query, timeout=timeout), parameters)
            return [record async for record in result]

    def _session(self, access_mode: str = neo4j.WRITE_ACCESS) -> neo4j.AsyncSession:
        return self._driver.session(default_access_mode=access_mode, **self._session_options)


@contextlib.asynccontextmanager
async def open_graph(
    server: Neo4jServer, settings: Neo4jSettings | None = None, *, user_agent: str = USER_AGENT
) -> AsyncIterator[Graph]:
    """A pool of connections to a server that was asked for its version.

    Args:
        server: Where it is.
        settings: Bounds of the connections, defaults where None.
        user_agent: What the server lists the connections as.

    Raises:
        ValueError: The URL is not one of Neo4j's.
        StoreUnavailable: The server cannot be reached, or refuses the credentials.
        FailedPrecondition: It is older than `VERSION_MIN`.
    """
    if server.url.partition(":")[0] not in _SCHEMES:
        raise ValueError(f"the URL of Neo4j must have one of the schemes {', '.join(_SCHEMES)}")
    chosen = settings or Neo4jSettings()
    options: dict[str, Any] = {}
    if server.authority:
        options["encrypted"] = True
        options["trusted_certificates"] = neo4j.TrustCustomCAs(server.authority)
    driver = neo4j.AsyncGraphDatabase.driver(
        server.url,
        auth=(server.user, server.password) if server.password else None,
        user_agent=user_agent,
        max_connection_pool_size=chosen.connections_max,
        connection_acquisition_timeout=chosen.acquire_timeout_seconds,
        connection_timeout=chosen.connect_timeout_seconds,
        max_connection_lifetime=chosen.connection_lifetime_seconds,
        liveness_check_timeout=chosen.idle_check_seconds,
        max_transaction_retry_time=chosen.retry_seconds_max,
        initial_retry_delay=0.05,
        telemetry_disabled=True,
        # Hints of the planner, such as for a label that no node has yet, are for the tests that read plans.
        notifications_min_severity="OFF",
        **options,
    )
    async with driver:
        graph = Graph(driver, database=server.database, settings=chosen)
        require_version(await graph.server_version())
        yield graph


def require_version(version: str) -> None:
    """Checks what a server says of itself.

    Raises:
        FailedPrecondition: It is too old.
    """
    numbers = tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:2] if part.isdigit())
    if numbers < VERSION_MIN:
        wanted = ".".join(f"{part:02d}" for part in VERSION_MIN)
        raise FailedPrecondition(
            f"Neo4j {version} is too old: {wanted} or newer is needed, whose vector indexes filter"
        )


def operators(plan: Mapping[str, Any]) -> Sequence[str]:
    """Names of a plan's operators, such as "NodeUniqueIndexSeek", from the root down."""
    name = str(plan.get("operatorType", "")).partition("@")[0]
    return [name, *(found for child in plan.get("children", ()) for found in operators(child))]
