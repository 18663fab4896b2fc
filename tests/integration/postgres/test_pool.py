"""Pools: codecs, limits, and the translation of the driver's errors."""

import json
import logging
import traceback
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.errors import (
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    StoreUnavailable,
)
from services.common.postgres.pool import (
    PoolSettings,
    create_pool,
    decode_vector,
    encode_vector,
    translate_errors,
)
from services.common.postgres.types import Pool
from tests.support.postgres import DatabaseUrls


@pytest.fixture
async def pool(fresh_database: DatabaseUrls) -> AsyncIterator[Pool]:
    async with await create_pool(fresh_database.app) as opened:
        yield opened


async def test_vectors_go_in_and_come_out_as_float32(pool: Pool) -> None:
    sent = np.random.default_rng(7).standard_normal(384).astype(np.float32)
    received = await pool.fetchval("SELECT $1::vector", sent)
    assert received.dtype == np.float32
    assert received.flags.writeable
    np.testing.assert_array_equal(received, sent)


async def test_vector_form_is_the_servers_binary_one(pool: Pool) -> None:
    sent = [1.5, -2.0, 0.1]
    assert encode_vector(sent) == await pool.fetchval("SELECT vector_send('[1.5,-2,0.1]'::vector)")


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_vector_codec_round_trip(values: list[float]) -> None:
    assert decode_vector(encode_vector(values)).tolist() == values


@pytest.mark.parametrize("shape", [(0,), (2, 2), (16_001,), ()])
def test_only_vectors_are_encoded(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="one dimension"):
        encode_vector(np.zeros(shape))


@pytest.mark.parametrize("type_name", ["json", "jsonb"])
async def test_json_goes_in_and_comes_out_as_objects(pool: Pool, type_name: str) -> None:
    value = {"text": "naïve ✓", "list": [1, 2.5, None, True], "nested": {"a": []}}
    assert await pool.fetchval(f"SELECT $1::{type_name}", value) == value


async def test_json_values_that_are_no_json_are_refused(pool: Pool) -> None:
    with pytest.raises(asyncpg.DataError):
        await pool.fetchval("SELECT $1::jsonb", float("nan"))


async def test_limits_reach_the_server(fresh_database: DatabaseUrls) -> None:
    settings = PoolSettings(
        application_name="mneme-episodic", statement_timeout_seconds=1.5, idle_transaction_timeout_seconds=2.5
    )
    async with await create_pool(fresh_database.app, settings) as pool:
        assert await pool.fetchval("SHOW application_name") == "mneme-episodic"
        assert await pool.fetchval("SHOW statement_timeout") == "1500ms"
        assert await pool.fetchval("SHOW idle_in_transaction_session_timeout") == "2500ms"
        assert await pool.fetchval("SHOW plan_cache_mode") == "force_generic_plan"


async def test_behind_pgbouncer_no_statement_is_kept(fresh_database: DatabaseUrls) -> None:
    async with await create_pool(fresh_database.app, PoolSettings(behind_pgbouncer=True, size_max=1)) as pool:
        await pool.fetchval("SELECT 1 + $1::int", 1)
        assert await pool.fetchval("SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql") <= 1
        assert await pool.fetchval("SHOW statement_timeout") == "0"


async def test_slow_statement_is_cut_off_by_the_server(fresh_database: DatabaseUrls) -> None:
    settings = PoolSettings(statement_timeout_seconds=0.05)
    async with await create_pool(fresh_database.app, settings) as pool:
        with pytest.raises(DeadlineExceeded), translate_errors():
            await pool.execute("SELECT pg_sleep(5)")


async def test_slow_statement_is_cut_off_by_the_client(fresh_database: DatabaseUrls) -> None:
    settings = PoolSettings(command_timeout_seconds=0.05)
    async with await create_pool(fresh_database.app, settings) as pool:
        with pytest.raises(DeadlineExceeded), translate_errors():
            await pool.execute("SELECT pg_sleep(5)")


async def test_nobody_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await create_pool(f"postgresql://mneme_app@/mneme?host={tmp_path}&port=5432")
    assert "mneme_app" not in str(caught.value)


async def test_lost_connection_is_unavailable(fresh_database: DatabaseUrls, pool: Pool) -> None:
    async with pool.acquire() as connection:
        pid = await connection.fetchval("SELECT pg_backend_pid()")
        administration = await asyncpg.connect(fresh_database.superuser)
        await administration.execute("SELECT pg_terminate_backend($1, 5000)", pid)
        await administration.close()
        for _ in range(2):
            with pytest.raises(StoreUnavailable), translate_errors():
                await connection.fetchval("SELECT 1")


async def test_closed_pool_is_unavailable(fresh_database: DatabaseUrls) -> None:
    pool = await create_pool(fresh_database.app)
    await pool.close()
    with pytest.raises(StoreUnavailable), translate_errors():
        await pool.fetchval("SELECT 1")


async def test_missing_table_means_missing_migrations(pool: Pool) -> None:
    with pytest.raises(FailedPrecondition), translate_errors():
        await pool.fetchval("SELECT 1 FROM episodic.nothing")


@pytest.mark.parametrize("error", [asyncpg.SerializationError, asyncpg.DeadlockDetectedError])
def test_lost_races_are_conflicts(error: type[Exception]) -> None:
    with pytest.raises(Conflict) as caught, translate_errors():
        raise error("with a stored value in its text")
    assert "stored value" not in str(caught.value)


async def test_our_own_mistakes_are_not_disguised(pool: Pool) -> None:
    with pytest.raises(asyncpg.PostgresSyntaxError), translate_errors():
        await pool.execute("SELEC 1")
    with pytest.raises(json.JSONDecodeError), translate_errors():
        json.loads("{")


SAID = " ".join(["I", "live", "in", "Ghent"])  # in pieces: a traceback quotes the source
_FAULTS = {
    "a missing value": "INSERT INTO said (number, content, owner) VALUES (1, $1, NULL)",
    "a check": "INSERT INTO said (number, content, owner) VALUES (-1, $1, 'u')",
    "a repeated key": "INSERT INTO said (number, content, owner) VALUES (2, $1, 'u'), (3, $1, 'u')",
    "a number": "SELECT $1::text::int",
    "a time": "SELECT $1::text::timestamptz",
    "a text search": "SELECT to_tsquery('simple', $1 || ' & & !')",
    "an id that the driver cannot send": "SELECT $1::uuid",
}


@pytest.mark.parametrize("fault", _FAULTS)
async def test_spec_8_1_an_error_of_the_server_prints_nothing_of_what_was_said(
    pool: Pool, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(
            "CREATE TEMPORARY TABLE said (number int CHECK (number > 0), content text UNIQUE, owner text NOT NULL)"
            " ON COMMIT DROP"
        )
        with pytest.raises(Exception, match=r".") as caught, translate_errors():
            async with connection.transaction():
                await connection.execute(_FAULTS[fault], SAID)
    logging.getLogger("mneme").error("failed", exc_info=caught.value)
    printed = caplog.text + "".join(traceback.format_exception(caught.value))
    assert SAID not in printed
    assert "SQLSTATE" in printed, "an error says what it is"
