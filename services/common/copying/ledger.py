"""Progress of a copy, stored in its target: the two cannot be lost apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from services.common.copying.model import CopyError, Key
from services.common.postgres.types import Connection

_LOCK: Final = "SELECT pg_try_advisory_lock(hashtextextended('mneme.copy', 0))"
_TABLES: Final = """
    CREATE SCHEMA IF NOT EXISTS mneme_copy;
    CREATE TABLE IF NOT EXISTS mneme_copy.copies (
        source text PRIMARY KEY,
        -- Records of each kind in the source when the copy was begun.
        counts jsonb NOT NULL,
        begin_time timestamptz NOT NULL DEFAULT now(),
        finish_time timestamptz
    );
    CREATE TABLE IF NOT EXISTS mneme_copy.progress (
        source text NOT NULL REFERENCES mneme_copy.copies ON DELETE CASCADE,
        kind text NOT NULL,
        -- Everything up to it has arrived.
        last_key jsonb,
        records bigint NOT NULL,
        is_complete boolean NOT NULL,
        PRIMARY KEY (source, kind)
    );
"""
_KNOWN: Final = "SELECT source, counts, finish_time FROM mneme_copy.copies ORDER BY begin_time DESC LIMIT 1"
_PROGRESS: Final = "SELECT kind, last_key, records, is_complete FROM mneme_copy.progress WHERE source = $1"
_SAVE: Final = """
    INSERT INTO mneme_copy.progress (source, kind, last_key, records, is_complete) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (source, kind) DO UPDATE
    SET last_key = excluded.last_key, records = excluded.records, is_complete = excluded.is_complete
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one kind is."""

    last_key: Key | None = None
    """Everything up to it has arrived."""
    records: int = 0
    """So many."""
    is_complete: bool = False
    """There was nothing behind it."""


@dataclass(frozen=True, slots=True)
class KnownCopy:
    """A copy that was begun here."""

    source: str
    """Identifies its source."""
    counts: Mapping[str, int]
    """Records of each kind in the source when it was begun."""
    finish_time: datetime | None
    """When all of it was here and compared."""


class CopyLedger(Protocol):
    """The notes of a copy, in its target."""

    async def known(self) -> KnownCopy | None:
        """The copy that was begun here, if any."""
        ...

    async def begin(self, source: str, counts: Mapping[str, int]) -> None:
        """Notes that this copy is begun."""
        ...

    async def progress(self, source: str) -> Mapping[str, Progress]:
        """How far its kinds are; those that were not begun are missing."""
        ...

    async def save(self, source: str, kind: str, progress: Progress) -> None:
        """Notes how far a kind is, after its records were written."""
        ...

    async def finish(self, source: str) -> None:
        """Notes that all of it is here and was compared."""
        ...


class PostgresCopyLedger:
    """A `CopyLedger` in a schema of its own. One copy at a time: it holds a lock as long as its connection is open."""

    def __init__(self, connection: Connection) -> None:
        """Use `open`."""
        self._connection = connection

    @classmethod
    async def open(cls, connection: Connection) -> PostgresCopyLedger:
        """Makes the schema where it is missing.

        Raises:
            CopyError: Another copy is under way to the same target.
        """
        if not await connection.fetchval(_LOCK):
            raise CopyError("another copy to the same target is under way")
        await connection.execute(_TABLES)
        return cls(connection)

    async def known(self) -> KnownCopy | None:
        """See `CopyLedger.known`."""
        row = await self._connection.fetchrow(_KNOWN)
        return KnownCopy(row["source"], json.loads(row["counts"]), row["finish_time"]) if row else None

    async def begin(self, source: str, counts: Mapping[str, int]) -> None:
        """See `CopyLedger.begin`."""
        await self._connection.execute(
            "INSERT INTO mneme_copy.copies (source, counts) VALUES ($1, $2)", source, json.dumps(dict(counts))
        )

    async def progress(self, source: str) -> Mapping[str, Progress]:
        """See `CopyLedger.progress`."""
        return {
            row["kind"]: Progress(
                tuple(json.loads(row["last_key"])) if row["last_key"] is not None else None,
                row["records"],
                row["is_complete"],
            )
            for row in await self._connection.fetch(_PROGRESS, source)
        }

    async def save(self, source: str, kind: str, progress: Progress) -> None:
        """See `CopyLedger.save`."""
        last_key = json.dumps(progress.last_key) if progress.last_key is not None else None
        await self._connection.execute(_SAVE, source, kind, last_key, progress.records, progress.is_complete)

    async def finish(self, source: str) -> None:
        """See `CopyLedger.finish`."""
        await self._connection.execute("UPDATE mneme_copy.copies SET finish_time = now() WHERE source = $1", source)
