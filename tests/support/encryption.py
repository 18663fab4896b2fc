"""Data keys for tests: encryption off, or on with a key file of the test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from services.common.encryption.carried import CarriedKeys
from services.common.encryption.key_file import FileKeyManagement, add_key
from services.common.encryption.neo4j import DataKeyQueries, GraphDataKeys, graph_data_keys
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys, data_keys
from services.common.encryption.ring import DataKeyRing

ENCRYPTION = ("plain", pytest.param("encrypted", marks=pytest.mark.ci("repeats encrypted what runs plain")))
"""Parameters of fixtures that run a contract both ways."""

GRAPH_ENCRYPTION = ("plain", pytest.param("encrypted", marks=pytest.mark.proof("make test-proofs")))
"""The same for Neo4j, which takes minutes for what PostgreSQL shows in seconds."""


def key_ring(folder: Path) -> DataKeyRing:
    """A ring of its own on the folder's key file, which is made where needed."""
    file = folder / "encryption-keys"
    if not file.exists():
        add_key(file)
    return DataKeyRing(FileKeyManagement(file))


def carried_keys(folder: Path) -> CarriedKeys:
    """Keys that values carry, on the folder's key file; each call has a cache of its own."""
    file = folder / "encryption-keys"
    if not file.exists():
        add_key(file)
    return CarriedKeys(FileKeyManagement(file))


def chosen_keys(mode: str, folder: Path, schema: str) -> DataKeys:
    """The data keys of a schema in a mode of `ENCRYPTION`; each call has a cache of its own, as replicas do."""
    return data_keys(key_ring(folder), schema) if mode == "encrypted" else NO_DATA_KEYS


def chosen_graph_keys(mode: str, folder: Path, queries: DataKeyQueries) -> GraphDataKeys:
    """The same of a label in a graph."""
    return graph_data_keys(key_ring(folder) if mode == "encrypted" else None, queries)


async def occurrences(superuser_url: str, text: str, *, schemas: list[str]) -> dict[str, int]:
    """In how many rows of each table a text stands, in any column, as the superuser sees them; without zeros."""
    connection = await asyncpg.connect(superuser_url)
    try:
        tables = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = ANY($1)", schemas
        )
        found: dict[str, int] = {}
        for row in tables:
            count: Any = await connection.fetchval(
                f"SELECT count(*) FROM {row[0]} AS t WHERE position($1 in t::text) > 0"  # noqa: S608 - from the catalog
                f" OR position(encode(convert_to($1, 'UTF8'), 'hex') in t::text) > 0",
                text,
            )
            if count:
                found[row[0]] = count
        return found
    finally:
        await connection.close()
