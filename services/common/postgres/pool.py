"""Connection pools with Mneme's codecs, limits and error translation."""

import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import asyncpg
import numpy as np
import numpy.typing as npt

from services.common.errors import Conflict, DeadlineExceeded, FailedPrecondition, MnemeError, StoreUnavailable
from services.common.postgres.error_text import forget_conversion, hide_values
from services.common.postgres.measured import MeasuredPool
from services.common.postgres.types import Connection, Pool
from services.common.settings_types import Count, CountOrNone, Seconds

hide_values()

_STORE_NAME: Final = "postgres"

_JSON: Final = json.JSONDecoder()

_VECTOR_HEADER_BYTES: Final = 4
"""Dimension and a reserved field, before the big-endian float32 values."""

_RETRY_AFTER_SECONDS: Final = 1.0
"""Retry delay that callers get when the store is unavailable."""

_CONFLICTS: Final = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
    asyncpg.UniqueViolationError,
    asyncpg.ExclusionViolationError,
    asyncpg.ForeignKeyViolationError,
)
"""Failures that another attempt may not meet."""

_BUSY: Final = (
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresConnectionError,
    asyncpg.InternalClientError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)
"""Failures that are the server's state and not the statement's fault."""

_SCHEMA_OUTDATED: Final = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
    asyncpg.InvalidSchemaNameError,
)
"""Failures that mean that migrations did not run."""


@dataclass(frozen=True, kw_only=True)
class PoolSettings:
    """Sizes and limits of one pool."""

    size_min: CountOrNone = 1
    """Connections opened at the start and never closed, >= 0."""
    size_max: Count = 10
    """Most connections, >= 1; the server's limit is shared by all services and replicas."""
    connect_timeout_seconds: Seconds = 5.0
    """Patience with one new connection."""
    command_timeout_seconds: Seconds = 30.0
    """Client-side limit of one statement; the connection sends a cancel when it is reached."""
    statement_timeout_seconds: Seconds = 30.0
    """Server-side limit of one statement, for clients that died. Not sent through PgBouncer."""
    idle_transaction_timeout_seconds: Seconds = 300.0
    """Server-side limit of a transaction that waits for a client that hangs; longer than a claim of deliveries is held.
    Not sent through PgBouncer."""
    idle_lifetime_seconds: Seconds = 60.0
    """Idle time after which a connection above `size_min` is closed."""
    statement_cache_size: CountOrNone = 256
    """Prepared statements cached per connection. Must be 0 behind PgBouncer in transaction mode."""
    behind_pgbouncer: bool = False
    """True: no prepared statements are cached and no session settings are sent, whatever else is set here."""
    application_name: str = "mneme"
    """Shown in pg_stat_activity and in the server's log."""
    vectors: bool = True
    """Register the pgvector codec; False for databases without the extension."""


async def create_pool(dsn: str, settings: PoolSettings | None = None) -> Pool:
    """Open a pool whose connections speak JSON and binary vectors.

    jsonb and json values are Python objects both ways. `vector` columns take and give one-dimensional
    float32 arrays in pgvector's binary format: passed as text they would be parsed anew for every row.

    A connection goes back to the pool without the round trip of asyncpg's reset query. Session state must
    therefore not be changed through a pool: use `SET LOCAL`, transaction-level advisory locks, and a
    connection of one's own for LISTEN. A transaction left open is still rolled back.

    Args:
        dsn: Connection URL. Its query may ask for TLS as libpq knows it: sslmode (disable to verify-full),
            sslrootcert, sslcert, sslkey, sslcrl.
        settings: Sizes and limits, defaults where None.

    Raises:
        StoreUnavailable: The server cannot be reached.
    """
    chosen = settings or PoolSettings()
    server_settings = {"application_name": chosen.application_name}
    if not chosen.behind_pgbouncer:
        # PgBouncer refuses start-up parameters that it does not track.
        server_settings["statement_timeout"] = str(round(chosen.statement_timeout_seconds * 1000))
        server_settings["idle_in_transaction_session_timeout"] = str(
            round(chosen.idle_transaction_timeout_seconds * 1000)
        )
        server_settings["jit"] = "off"
        # Tables have parts by tenant. Left to itself the server takes a plan over one part for much better than one
        # that picks its part when it starts, and so plans every execution anew.
        server_settings["plan_cache_mode"] = "force_generic_plan"

    async def initialise(connection: Connection) -> None:
        await register_codecs(connection, vectors=chosen.vectors)

    try:
        with translate_errors():
            return await MeasuredPool(
                dsn,
                application_name=chosen.application_name,
                min_size=chosen.size_min,
                max_size=chosen.size_max,
                timeout=chosen.connect_timeout_seconds,
                command_timeout=chosen.command_timeout_seconds,
                max_inactive_connection_lifetime=chosen.idle_lifetime_seconds,
                statement_cache_size=0 if chosen.behind_pgbouncer else chosen.statement_cache_size,
                server_settings=server_settings,
                init=initialise,
                reset=_keep_session,
            )
    except DeadlineExceeded as error:
        # While connecting, silence means that nobody is there.
        raise StoreUnavailable(_STORE_NAME, _RETRY_AFTER_SECONDS) from error


async def register_codecs(connection: Connection, *, vectors: bool = True) -> None:
    """Teach a connection json, jsonb and (with `vectors`) pgvector's `vector`.

    Raises:
        ValueError: `vectors` is asked for and the extension is not installed in schema public.
    """
    for name, decode in (("jsonb", _decode_jsonb), ("json", json.loads)):
        await connection.set_type_codec(name, schema="pg_catalog", encoder=_encode_json, decoder=decode, format="text")
    if vectors:
        await connection.set_type_codec(
            "vector", schema="public", encoder=encode_vector, decoder=decode_vector, format="binary"
        )


def encode_vector(vector: npt.ArrayLike) -> bytes:
    """Pgvector's binary form: dimension and zero as big-endian int16, then big-endian float32 values.

    Args:
        vector: One dimension, 1 to 16,000 finite numbers; float32 arrays are taken without a detour.

    Raises:
        ValueError: Not one-dimensional, or too long.
    """
    values = np.asarray(vector, dtype=">f4")
    if values.ndim != 1 or not 1 <= values.size <= 16_000:
        raise ValueError(f"a vector has one dimension and 1 to 16000 values, not shape {values.shape}")
    return int(values.size).to_bytes(2, "big") + b"\x00\x00" + values.tobytes()


def decode_vectors(data: bytes, *, count: int) -> npt.NDArray[np.float32]:
    """So many vectors in pgvector's binary form, one after the other, of one dimension: float32 `[count, dim]`."""
    raw = np.frombuffer(data, dtype=np.uint8).reshape(count, -1)[:, _VECTOR_HEADER_BYTES:]
    return np.ascontiguousarray(raw).view(">f4").astype(np.float32)


def decode_vector(data: bytes) -> npt.NDArray[np.float32]:
    """Inverse of `encode_vector`, as a float32 array in native byte order."""
    return np.frombuffer(data, dtype=">f4", offset=_VECTOR_HEADER_BYTES).astype(np.float32)


@contextlib.contextmanager
def translate_errors(*, retry_after_seconds: float = _RETRY_AFTER_SECONDS) -> Iterator[None]:
    """Turn the driver's errors into Mneme's; put it around every use of a connection.

    =============================================================  =====================
    serialisation failure, deadlock, lock not available            `Conflict`
    unique, exclusion and foreign-key violation                    `Conflict`
    statement cancelled by its time limit, `TimeoutError`          `DeadlineExceeded`
    cannot connect, connection lost, server full or shutting down  `StoreUnavailable`
    schema or function missing: migrations did not run             `FailedPrecondition`
    =============================================================  =====================

    Anything else is a fault of ours (a syntax error, a wrong type) and passes through. The driver's error is
    kept as the cause, for the log; its text quotes no stored values (see error_text.py). A caller who
    knows what a violated constraint means catches `asyncpg.UniqueViolationError` inside this block.

    Args:
        retry_after_seconds: Put into `StoreUnavailable`.
    """
    try:
        yield
    except Exception as error:
        forget_conversion(error)
        translated = translated_error(error, retry_after_seconds=retry_after_seconds)
        if translated is None:
            raise
        raise translated from error


def readiness_check(pool: Pool) -> Callable[[], Awaitable[object]]:
    """A check that PostgreSQL answers; raises as `translate_errors` does."""

    async def check() -> None:
        with translate_errors():
            await pool.fetchval("SELECT 1")

    return check


def translated_error(error: Exception, *, retry_after_seconds: float = _RETRY_AFTER_SECONDS) -> MnemeError | None:
    """What `translate_errors` raises in place of an error; None for one that it lets pass."""
    if isinstance(error, _CONFLICTS):
        return Conflict("the operation conflicts with a concurrent one; try again")
    if isinstance(error, (asyncpg.QueryCanceledError, TimeoutError)):
        return DeadlineExceeded("the database did not answer in time")
    if isinstance(error, _SCHEMA_OUTDATED):
        return FailedPrecondition("the database schema is not up to date; run the migrations")
    if isinstance(error, asyncpg.InterfaceError) and not _is_connection_loss(error):
        return None
    if isinstance(error, (*_BUSY, asyncpg.InterfaceError, OSError)):
        return StoreUnavailable(_STORE_NAME, retry_after_seconds)
    return None


def _is_connection_loss(error: asyncpg.InterfaceError) -> bool:
    """Asyncpg reports lost connections and misuse of its interface by one class; only the text distinguishes them.

    A lost connection is at once given back to its pool, and the next use of it is then said to come too late.
    """
    text = str(error)
    return any(part in text for part in ("connection is closed", "pool is clos", "released back to the pool"))


async def _keep_session(connection: Connection) -> None:
    """Nothing to reset: see `create_pool`."""


def _decode_jsonb(text: str) -> Any:
    """As the server writes it: without space around, and most often empty. A third of what json.loads takes."""
    if text == "{}":
        return {}
    if text == "[]":
        return []
    return _JSON.raw_decode(text)[0]


def _encode_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
