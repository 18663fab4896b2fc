"""The Neo4j that a service is configured to use."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import AsyncIterator
from typing import Final

from services.common.hosting import HostSettings
from services.common.neo4j.graph import Graph, Neo4jServer, Neo4jSettings, open_graph
from services.common.settings_file import SettingsSource

FIELDS_OF_HOST: Final = frozenset({"connections_max"})
"""Settings of the connections that come from `HostSettings`."""


def neo4j_server(settings: HostSettings) -> Neo4jServer:
    """Where it is.

    Raises:
        OSError: The file of the password cannot be read.
    """
    password = settings.neo4j_password.get_secret_value()
    if not password and settings.neo4j_password_file is not None:
        password = settings.neo4j_password_file.read_text("utf-8").strip()
    return Neo4jServer(
        url=settings.neo4j_url,
        user=settings.neo4j_user,
        password=password,
        database=settings.neo4j_database,
        authority=str(settings.neo4j_tls_authority or ""),
    )


@contextlib.asynccontextmanager
async def hosted_graph(settings: HostSettings, source: SettingsSource | None = None) -> AsyncIterator[Graph]:
    """Its connections.

    Args:
        settings: Where it is.
        source: Bounds of the connections, from the table `neo4j`; defaults where None.

    Raises:
        SettingsError: The table cannot be used.
        ValueError: The URL is not one of Neo4j's.
        OSError: The file of the password cannot be read.
        MnemeError: `StoreUnavailable` or `FailedPrecondition`, see `open_graph`.
    """
    given = source.load(Neo4jSettings, "neo4j", without=FIELDS_OF_HOST) if source else Neo4jSettings()
    pool = dataclasses.replace(given, connections_max=settings.neo4j_connections_max)
    async with open_graph(neo4j_server(settings), pool) as graph:
        yield graph
