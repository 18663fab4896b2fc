"""What of the tier is encrypted in a graph, where encryption is on: what is in PostgreSQL, bound to the same names.

A copy between both engines therefore leaves it as it is.
"""

from __future__ import annotations

from typing import Final

from services.common.encryption.neo4j import DataKeyQueries
from services.semantic.stores import postgres_sealing as tables

FACTS: Final = tables.FACTS.with_json_as_text()
STATEMENTS: Final = tables.STATEMENTS
ASSERTIONS: Final = tables.ASSERTIONS
SUPERSESSIONS: Final = tables.SUPERSESSIONS
PROCEDURES: Final = tables.PROCEDURES.with_json_as_text()
JUDGED_RECALLS: Final = tables.JUDGED_RECALLS.with_json_as_text()
PROFILES: Final = tables.PROFILES.with_json_as_text()
OBSERVED: Final = tables.OBSERVED.with_json_as_text()
CODE_FILES: Final = tables.CODE_FILES

DATA_KEYS: Final = DataKeyQueries.of("MnemeSemanticDataKey")
