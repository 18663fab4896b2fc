"""Errors of the Neo4j driver as Mneme's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from neo4j import exceptions as neo4j_errors

from services.common.errors import Conflict, DeadlineExceeded, FailedPrecondition, StoreUnavailable

STORE_NAME: Final = "neo4j"

_RETRY_AFTER_SECONDS: Final = 1.0
"""Retry delay that callers get when the store is unavailable."""

_TIMED_OUT: Final = frozenset(
    {
        "Neo.ClientError.Transaction.TransactionTimedOut",
        "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
        "Neo.TransientError.Transaction.LockAcquisitionTimeout",
    }
)
_CONTENDED: Final = frozenset(
    {
        "Neo.TransientError.Transaction.DeadlockDetected",
        "Neo.TransientError.Transaction.Outdated",
        "Neo.TransientError.Transaction.LockClientStopped",
        # A node that another transaction has deleted since it was found.
        "Neo.ClientError.Statement.EntityNotFound",
        # Two that make an index or a constraint at once both find, at IF NOT EXISTS, that it is not there.
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.ClientError.Schema.IndexAlreadyExists",
        "Neo.ClientError.Schema.ConstraintAlreadyExists",
    }
)
_SCHEMA_OUTDATED: Final = frozenset({"Neo.ClientError.Schema.IndexNotFound"})


_SAFE_TEXTS: Final = ("Neo.TransientError.", "Neo.ClientError.Security.", "Neo.ClientError.Statement.SyntaxError")
"""Codes whose messages are about the server, who calls it, or the text of a query, which holds no values."""


def hide_values() -> None:
    """Makes the errors of the driver print no values, in the whole process; may be repeated.

    They quote nodes and properties ("already exists with ... and property `text` = '...'"), and are printed in logs and
    in spans.
    """
    neo4j_errors.Neo4jError.__str__ = text_without_values  # type: ignore[method-assign]
    neo4j_errors.GqlError.__str__ = status_without_values  # type: ignore[method-assign]


def text_without_values(error: neo4j_errors.Neo4jError) -> str:
    """Code and status, and the message where it cannot quote values."""
    if not getattr(error, "_from_server", False):  # raised by the driver itself, about its use
        return Exception.__str__(error)
    if error.code.startswith(_SAFE_TEXTS):
        return f"{error.code} ({error.gql_status}): {error.message}"
    return f"{error.code} ({error.gql_status}; its text can quote values and is left out)"


def status_without_values(error: neo4j_errors.GqlError) -> str:
    """The status of a cause that the server names."""
    return f"{error.gql_status} (its text can quote values and is left out)"


hide_values()


@contextlib.contextmanager
def translate_errors(*, retry_after_seconds: float = _RETRY_AFTER_SECONDS) -> Iterator[None]:
    """Turns the driver's errors into Mneme's; put it around every use of a session.

    ======================================================  =====================
    deadlock, and a constraint that another call violates    `Conflict`
    an index or constraint that another call has just made   `Conflict`
    a transaction that took too long, `TimeoutError`         `DeadlineExceeded`
    cannot connect, connection lost, no leader, starting up  `StoreUnavailable`
    the credentials are refused                              `StoreUnavailable`
    an index is missing: migrations did not run              `FailedPrecondition`
    ======================================================  =====================

    Anything else is a fault of ours (a syntax error, a wrong type) and passes through. The driver's error is kept as
    the cause, for the log; its text quotes no stored values (`hide_values`).

    Args:
        retry_after_seconds: Put into `StoreUnavailable`.
    """
    try:
        yield
    except neo4j_errors.ConstraintError as error:
        raise Conflict("the operation conflicts with a concurrent one; try again") from error
    except neo4j_errors.Neo4jError as error:
        translated = _translated(error, retry_after_seconds)
        if translated is None:
            raise
        raise translated from error
    except TimeoutError as error:
        raise DeadlineExceeded("the graph database did not respond in time") from error
    except (
        neo4j_errors.ServiceUnavailable,
        neo4j_errors.SessionExpired,
        neo4j_errors.ConnectionPoolError,
        OSError,
    ) as error:
        raise StoreUnavailable(STORE_NAME, retry_after_seconds) from error


def _translated(error: neo4j_errors.Neo4jError, retry_after_seconds: float) -> Exception | None:
    code = error.code or ""
    if code in _TIMED_OUT:
        return DeadlineExceeded("the graph database did not respond in time")
    if code in _CONTENDED:
        return Conflict("the operation conflicts with a concurrent one; try again")
    if code in _SCHEMA_OUTDATED:
        return FailedPrecondition("the indexes of the graph database are missing; run the migrations")
    if isinstance(error, neo4j_errors.TransientError | neo4j_errors.AuthError) or error.is_retryable():
        return StoreUnavailable(STORE_NAME, retry_after_seconds)
    return None
