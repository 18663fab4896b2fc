"""What of notes is encrypted in a graph, where encryption is on: what is in PostgreSQL, bound to the same names."""

from __future__ import annotations

from typing import Final

from services.agentic.stores import postgres_sealing
from services.common.encryption.neo4j import DataKeyQueries

NOTES: Final = postgres_sealing.NOTES.with_json_as_text()
VERSIONS: Final = postgres_sealing.VERSIONS.with_json_as_text()
PROCESSED: Final = postgres_sealing.PROCESSED
DATA_KEYS: Final = DataKeyQueries.of("NoteDataKey")
