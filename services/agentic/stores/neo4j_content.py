"""Which records of the tier in a graph hold content that is encrypted."""

from __future__ import annotations

from typing import Final

from services.agentic.stores.neo4j_copy import KINDS
from services.agentic.stores.neo4j_cypher import LOCK_USER
from services.agentic.stores.postgres import SCHEMA
from services.agentic.stores.postgres_sealing import SEALED_TABLES
from services.common.encryption.neo4j_content import SealedKind

_BY_NAME: Final = {described.kind.name: described for described in KINDS}

SEALED_KINDS: Final = tuple(
    SealedKind(kind=_BY_NAME[f"{SCHEMA}.{table.name}"], table=table, lock=LOCK_USER) for table in SEALED_TABLES
)
