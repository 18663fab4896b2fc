"""What `mneme model remove-former` takes away from facts and notes, and what an erasure takes with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import asyncpg
import pytest

from services.agentic.stores import postgres as agentic_store
from services.cli.model_vectors import FormerVectorsFound, former_vectors
from services.common.hosting import HostSettings
from services.common.model_change import ModelChangeSettings, ReembedRows
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import EvidenceSettings
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors
from services.semantic.stores import postgres as semantic_store
from tests.contract.former_vectors import ANN, BOB, FORMER, PRESENT, TEXTS, FactRows, NoteRows, run
from tests.support.postgres import DatabaseUrls, fresh_postgres

MIGRATIONS = [
    (semantic_store.SCHEMA, semantic_store.MIGRATIONS_FOLDER),
    (agentic_store.SCHEMA, agentic_store.MIGRATIONS_FOLDER),
]
_LEFT = """
SELECT (SELECT count(*) FROM semantic.facts WHERE user_id = $1 AND embedding_model = $2)
    + (SELECT count(*) FROM semantic.facts WHERE user_id = $1 AND second_model = $2 AND second_embedding IS NOT NULL)
    + (SELECT count(*) FROM agentic.note_vectors WHERE user_id = $1 AND model = $2)
"""


@pytest.fixture
async def urls(postgres_server: EmbeddedPostgres) -> AsyncIterator[DatabaseUrls]:
    async with fresh_postgres(postgres_server, migrations=MIGRATIONS) as found:
        yield found


@pytest.fixture
async def both(urls: DatabaseUrls) -> AsyncIterator[tuple[FactRows, NoteRows]]:
    """Facts and notes of two users, each with vectors of both models."""
    async with (
        await create_pool(urls.app) as pool,
        aclosing(PostgresFactStore(pool, EvidenceSettings())) as facts,
        aclosing(agentic_store.PostgresNoteStore(pool)) as notes,
    ):
        rows = FactRows(facts, PostgresFactVectors(pool)), NoteRows(notes)
        for each in rows:
            for owner in (ANN, BOB):
                await each.add(owner, TEXTS, FORMER)
            beside = TierEmbedder(FORMER)
            await run(ReembedRows("fill", each.vectors, TierEmbedder(PRESENT), ModelChangeSettings(), beside=beside))
        yield rows


async def left(server: EmbeddedPostgres, urls: DatabaseUrls, user: str, model: str) -> int:
    connection = await asyncpg.connect(server.dsn(role="postgres", database=urls.database))
    try:
        return int(await connection.fetchval(_LEFT, user, model))
    finally:
        await connection.close()


async def test_spec_8_4_the_former_vectors_of_facts_and_notes_are_removed(
    postgres_server: EmbeddedPostgres, urls: DatabaseUrls, both: tuple[FactRows, NoteRows], tmp_path: Path
) -> None:
    settings, model = HostSettings(postgres_url=urls.app), PRESENT.fingerprint
    assert await left(postgres_server, urls, "ann", FORMER.fingerprint) == 10

    shown = await former_vectors(settings, tmp_path, model=model, check=True)
    assert shown == [FormerVectorsFound("facts", 2, 0), FormerVectorsFound("notes", 2, 0)]
    assert await left(postgres_server, urls, "ann", FORMER.fingerprint) == 10
    removed = await former_vectors(settings, tmp_path, model=model, check=False)
    assert removed == [FormerVectorsFound("facts", 2, 10), FormerVectorsFound("notes", 2, 10)]

    for user in ("ann", "bob"):
        assert await left(postgres_server, urls, user, FORMER.fingerprint) == 0
        assert await left(postgres_server, urls, user, model) == 10
    for rows in both:
        assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted(TEXTS)
    again = await former_vectors(settings, tmp_path, model=model, check=False)
    assert again == [FormerVectorsFound("facts", 0, 0), FormerVectorsFound("notes", 0, 0)]


async def test_spec_8_4_a_folder_without_a_database_has_no_former_vectors(tmp_path: Path) -> None:
    assert await former_vectors(HostSettings(postgres_url=""), tmp_path, model="any", check=False) == []


async def test_spec_8_4_an_erasure_removes_the_vectors_of_both_models(
    postgres_server: EmbeddedPostgres, urls: DatabaseUrls, both: tuple[FactRows, NoteRows]
) -> None:
    facts, notes = both
    await facts.store.remove_owner(ANN)
    await notes.store.write(ANN, lambda writer: writer.delete_all())
    for embedder in (FORMER, PRESENT):
        assert await left(postgres_server, urls, "ann", embedder.fingerprint) == 0
        assert await left(postgres_server, urls, "bob", embedder.fingerprint) == 10
