"""Entries of the audit log in PostgreSQL: which commits wait for the disk."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Pool
from services.gateway.audit.store import Access
from services.gateway.audit.stores.postgres import PostgresAudit
from services.gateway.journal.stores.postgres import MIGRATIONS, SCHEMA
from tests.support.clock import FakeClock
from tests.support.postgres import fresh_postgres

# The setting with which each entry was committed, in the order of the entries.
_NOTE_SETTING = """
    CREATE TABLE public.settings (n bigint GENERATED ALWAYS AS IDENTITY, value text NOT NULL);
    GRANT INSERT, SELECT ON public.settings TO mneme_app;
    CREATE FUNCTION public.note_setting() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO public.settings (value) VALUES (current_setting('synchronous_commit'));
        RETURN NEW;
    END $$;
    CREATE TRIGGER note_setting AFTER INSERT ON gateway.audit_entries FOR EACH ROW
    EXECUTE FUNCTION public.note_setting();
"""


@pytest.fixture
async def pool(postgres_server: EmbeddedPostgres) -> AsyncIterator[Pool]:
    async with fresh_postgres(postgres_server, migrations=[(SCHEMA, Path(MIGRATIONS))]) as urls:
        owner = await asyncpg.connect(urls.owner)
        await owner.execute(_NOTE_SETTING)
        await owner.close()
        opened = await create_pool(urls.app)
        yield opened
        await opened.close()


async def test_spec_6_10_a_durable_entry_is_on_disk_when_it_is_acknowledged(pool: Pool) -> None:
    store = PostgresAudit(pool)
    access = Access(
        "acme", "agent", "FactService.DeleteFact", "r1", "ada", (), FakeClock().now(), {"conversation": "c"}
    )
    await store.add([access], durable=True)
    await store.add([access, access], durable=False)
    async with tenant_transaction(pool, "acme") as connection:
        found = await connection.fetch("SELECT value FROM public.settings ORDER BY n")
        bodies = [json.loads(row["body"]) for row in await connection.fetch("SELECT body FROM gateway.audit_entries")]
    assert [row["value"] for row in found] == ["on", "off", "off"]
    assert [body["target"] for body in bodies] == [{"conversation": "c"}] * 3
