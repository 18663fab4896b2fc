"""Which records of the tier in a graph hold content that is encrypted."""

from __future__ import annotations

from typing import Final

from services.common.encryption.neo4j_content import SealedKind
from services.semantic.code.stores.neo4j import LOCK_CODE
from services.semantic.facts.stores.neo4j_cypher import LOCK_OWNER as LOCK_FACTS
from services.semantic.procedures.stores.neo4j import LOCK as LOCK_PROCEDURES
from services.semantic.profile.stores.neo4j import LOCK_PROFILES
from services.semantic.stores import postgres_sealing as tables
from services.semantic.stores.neo4j_copy import KINDS
from services.semantic.stores.postgres import SCHEMA
from services.semantic.supersession.stores.neo4j_queries import LOCK as LOCK_SUPERSESSIONS

_LOCKS: Final = {
    tables.FACTS.name: LOCK_FACTS,
    tables.STATEMENTS.name: LOCK_FACTS,
    tables.ASSERTIONS.name: LOCK_SUPERSESSIONS,
    tables.SUPERSESSIONS.name: LOCK_SUPERSESSIONS,
    tables.PROCEDURES.name: LOCK_PROCEDURES,
    tables.JUDGED_RECALLS.name: LOCK_PROCEDURES,
    tables.PROFILES.name: LOCK_PROFILES,
    tables.OBSERVED.name: LOCK_PROFILES,
    tables.CODE_FILES.name: LOCK_CODE,
}
_CODE_FILES_AT_ONCE: Final = 8
"""One can be as large as some thousand of other records."""
_BY_NAME: Final = {described.kind.name: described for described in KINDS}

SEALED_KINDS: Final = tuple(
    SealedKind(
        kind=_BY_NAME[f"{SCHEMA}.{table.name}"],
        table=table,
        lock=_LOCKS[table.name],
        records_at_once=_CODE_FILES_AT_ONCE if table is tables.CODE_FILES else 200,
    )
    for table in tables.SEALED_TABLES
)
