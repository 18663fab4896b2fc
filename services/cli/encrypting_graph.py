"""What `mneme encryption` does to the tiers that are in Neo4j."""

from __future__ import annotations

from typing import Final

from services.agentic.stores.neo4j_content import SEALED_KINDS as AGENTIC_KINDS
from services.agentic.stores.neo4j_sealing import DATA_KEYS as AGENTIC_KEYS
from services.agentic.stores.postgres import SCHEMA as AGENTIC
from services.common.encryption.neo4j import Neo4jDataKeys, rewrap_graph
from services.common.encryption.neo4j_content import encrypt_existing_graph
from services.common.encryption.ring import DataKeyRing
from services.common.hosting import HostSettings
from services.common.neo4j.graph import open_graph
from services.common.neo4j.hosted import neo4j_server
from services.semantic.stores.neo4j_content import SEALED_KINDS as SEMANTIC_KINDS
from services.semantic.stores.neo4j_sealing import DATA_KEYS as SEMANTIC_KEYS
from services.semantic.stores.postgres import SCHEMA as SEMANTIC

_TIERS: Final = {SEMANTIC: (SEMANTIC_KEYS, SEMANTIC_KINDS), AGENTIC: (AGENTIC_KEYS, AGENTIC_KINDS)}


async def rewrap_all(settings: HostSettings, ring: DataKeyRing) -> dict[str, int]:
    """Wraps the data keys of the tiers anew; how many, by tier. See `rewrap_graph`."""
    async with open_graph(neo4j_server(settings)) as graph:
        return {tier: await rewrap_graph(graph, ring, keys) for tier, (keys, _) in _TIERS.items()}


async def encrypt_all(settings: HostSettings, ring: DataKeyRing) -> dict[str, int]:
    """Encrypts what is plain of the tiers; how many records, by kind. See `encrypt_existing_graph`."""
    counts: dict[str, int] = {}
    async with open_graph(neo4j_server(settings)) as graph:
        for queries, kinds in _TIERS.values():
            counts.update(await encrypt_existing_graph(graph, Neo4jDataKeys(ring, queries), kinds))
    return counts
