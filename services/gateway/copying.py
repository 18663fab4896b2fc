"""The gateway's part of a copy from one installation to another: its journal."""

from __future__ import annotations

from collections.abc import Sequence

from services.common.copying.model import RecordStore
from services.common.copying.postgres import PostgresRecords
from services.common.postgres.types import Connection
from services.gateway.journal.stores.postgres import SCHEMA


async def open_gateway_records(connection: Connection) -> Sequence[RecordStore]:
    """The journal, with the deliveries that are under way and the sequences, from which writing continues.

    Args:
        connection: One that row-level security does not bind.

    Raises:
        CopyError: There is no schema.
    """
    return [await PostgresRecords.open(connection, schema=SCHEMA)]
