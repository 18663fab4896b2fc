"""Every table with a tenant is closed by row-level security, whichever migration made it."""

from __future__ import annotations

from typing import Final

import asyncpg

from services.common.maintenance.postgres import migrate_maintenance
from services.common.postgres.server import EmbeddedPostgres
from tests.integration.postgres.schemas import FOLDERS
from tests.support.postgres import fresh_postgres

SCHEMAS: Final = (*FOLDERS, "maintenance")
_OPEN: Final = """
    SELECT c.oid::regclass::text FROM pg_class AS c
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = ANY ($1::text[]::regnamespace[])
        AND has_table_privilege('mneme_app', c.oid, 'SELECT')
        AND (NOT c.relrowsecurity OR NOT EXISTS (SELECT FROM pg_policy AS p WHERE p.polrelid = c.oid))
    ORDER BY 1
"""
_COUNT: Final = """
    SELECT count(*) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = ANY ($1::text[]::regnamespace[])
"""


async def test_spec_7_1_every_table_with_a_tenant_has_row_level_security(postgres_server: EmbeddedPostgres) -> None:
    async with fresh_postgres(postgres_server, migrations=list(FOLDERS.items())) as urls:
        await migrate_maintenance(urls.owner)
        connection = await asyncpg.connect(urls.superuser)
        try:
            assert await connection.fetchval(_COUNT, SCHEMAS) > 50
            assert [row[0] for row in await connection.fetch(_OPEN, SCHEMAS)] == []
        finally:
            await connection.close()
