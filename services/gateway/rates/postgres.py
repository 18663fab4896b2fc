"""What each gateway was asked for, in PostgreSQL, in the schema of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.common.postgres.pool import translate_errors
from services.common.postgres.types import Pool
from services.common.rates import Key, sums

# The server's clock dates all reports: those of the gateways may differ.
_REPORT: Final = """
    INSERT INTO gateway.call_demand (replica_id, tenant_id, kind, calls, report_time)
    SELECT $1, asked.tenant_id, asked.kind, asked.calls, statement_timestamp()
    FROM unnest($2::text[], $3::text[], $4::bigint[]) AS asked (tenant_id, kind, calls)
    ON CONFLICT (tenant_id, kind, replica_id) DO UPDATE
        SET calls = excluded.calls, report_time = excluded.report_time
"""
_OTHERS: Final = """
    SELECT found.tenant_id, found.kind, sum(found.calls)::bigint AS calls
    FROM gateway.call_demand AS found
    JOIN unnest($2::text[], $3::text[]) AS asked (tenant_id, kind)
        ON asked.tenant_id = found.tenant_id AND asked.kind = found.kind
    WHERE found.replica_id <> $1 AND found.report_time > statement_timestamp() - make_interval(secs => $4)
    GROUP BY found.tenant_id, found.kind
"""
_FORGET: Final = "DELETE FROM gateway.call_demand WHERE report_time < statement_timestamp() - interval '1 minute'"


class PostgresDemand:
    """Implements `DemandStore` in an unlogged table: a crash of the server forgets what is outdated in seconds."""

    def __init__(self, pool: Pool) -> None:
        """Uses a pool of the services' role; the schema must be migrated."""
        self._pool = pool

    async def exchange(self, replica_id: str, demand: Mapping[Key, int], *, seconds: float) -> Mapping[Key, int]:
        """See `DemandStore.exchange`."""
        keys = sorted(demand)  # in one order, so that two gateways never wait for each other
        tenants, kinds = [tenant for tenant, _ in keys], [str(kind) for _, kind in keys]
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                await connection.execute(_REPORT, replica_id, tenants, kinds, [demand[key] for key in keys])
                await connection.execute(_FORGET)
                rows = await connection.fetch(_OTHERS, replica_id, tenants, kinds, seconds)
        return sums((row["tenant_id"], row["kind"], row["calls"]) for row in rows)
