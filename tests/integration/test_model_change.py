"""A start of the semantic and the agentic tier with another embedding model, while they are used."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from services.agentic import app as agentic
from services.agentic.former_vectors import NoteVectors
from services.agentic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresNoteStore
from services.common.ids import Uuid7Ids
from services.common.parsing.port import NoParser
from services.common.postgres.pool import PoolSettings, create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.semantic.app import SemanticResources, open_semantic
from services.semantic.config import EvidenceSettings
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.facts.stores.postgres_vectors import PostgresFactVectors
from tests.contract.fact_drivers import semantic_pool
from tests.contract.former_vectors import ANN, BOB, FORMER, PRESENT, TEXTS, FactRows, NoteRows
from tests.support.clock import FakeClock
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import fresh_postgres

SECRET = b"s" * 32
NEW = "Ann likes black coffee"


async def _until_done(lacks: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while await lacks():
            continue


async def test_spec_8_4_a_start_with_another_model_brings_facts_over_while_the_tier_is_used(
    postgres_server: EmbeddedPostgres,
) -> None:
    async with semantic_pool(postgres_server) as pool, aclosing(PostgresFactStore(pool, EvidenceSettings())) as store:
        rows = FactRows(store, PostgresFactVectors(pool))
        for owner in (ANN, BOB):
            await rows.add(owner, TEXTS, FORMER)
        clock = FakeClock()
        ids, parser = Uuid7Ids(clock), NoParser()
        resources = SemanticResources(embedder=PRESENT, clock=clock, ids=ids, secret=SECRET, parser=parser)
        async with open_semantic(pool, resources):
            await rows.add(ANN, [NEW], PRESENT)
            assert (await rows.found(ANN, NEW, PRESENT))[0] == NEW
            await _until_done(lambda: rows.vectors.lacks(BOB, model=PRESENT.fingerprint))
            await _until_done(lambda: rows.vectors.lacks(ANN, model=PRESENT.fingerprint))
            assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted([*TEXTS, NEW])
            assert sorted(await rows.found(BOB, TEXTS[0], PRESENT)) == sorted(TEXTS)


async def test_spec_8_4_a_start_with_another_model_brings_notes_over_while_the_tier_is_used(
    postgres_server: EmbeddedPostgres,
) -> None:
    async with (
        fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls,
        await create_pool(urls.app, PoolSettings(size_max=6)) as pool,
        aclosing(PostgresNoteStore(pool)) as store,
    ):
        rows, vectors = NoteRows(store), NoteVectors(store)
        for owner in (ANN, BOB):
            await rows.add(owner, TEXTS, FORMER)
        clock = FakeClock()
        resources = agentic.AgenticResources(embedder=PRESENT, clock=clock, ids=Uuid7Ids(clock), secret=SECRET)
        async with agentic.open_agentic(pool, resources):
            await rows.add(ANN, [NEW], PRESENT)
            assert (await rows.found(ANN, NEW, PRESENT))[0] == NEW
            await _until_done(lambda: vectors.lacks(BOB, model=PRESENT.fingerprint))
            await _until_done(lambda: vectors.lacks(ANN, model=PRESENT.fingerprint))
            assert sorted(await rows.found(ANN, TEXTS[0], PRESENT)) == sorted([*TEXTS, NEW])
            assert sorted(await rows.found(BOB, TEXTS[0], PRESENT)) == sorted(TEXTS)
