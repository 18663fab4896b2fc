"""What the PostgreSQL stores of the tier share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MIGRATIONS_FOLDER: Final = Path(__file__).parent / "migrations"
SCHEMA: Final = "semantic"

LOCK_USER: Final = (
    "SELECT pg_advisory_xact_lock(hashtextextended('mneme.semantic.' || $3 || chr(31) || $1 || chr(31) || $2, 0))"
)
"""Takes tenant, user and subject; the lock ends with the transaction."""
