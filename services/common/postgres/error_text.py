"""What PostgreSQL's errors print: no values of rows and statements, which are what users said.

Errors are printed where they are logged and, by OpenTelemetry's instrumentation of the driver, already where the driver
raises them: nothing on the way can leave their values out, so their text itself has none. The fields of an error
(`detail`, `constraint_name`) stay as they are.
"""

from __future__ import annotations

from typing import Final

import asyncpg

_QUOTES_VALUES: Final = ("22", "42601")
"""SQLSTATEs whose messages quote a value: data exceptions, and syntax errors, among them those of a text search."""


def hide_values() -> None:
    """Makes the errors of asyncpg print no values, in the whole process; may be repeated."""
    asyncpg.PostgresError.__str__ = text_without_values  # type: ignore[assignment, method-assign]


def text_without_values(error: asyncpg.PostgresError) -> str:
    """SQLSTATE and message, without detail and hint: these show rows. Without the message where it quotes a value."""
    state = str(error.sqlstate)
    if state.startswith(_QUOTES_VALUES):
        return f"SQLSTATE {state} (its text can quote values and is left out)"
    message = error.args[0] if error.args else ""
    return f"{message} (SQLSTATE {state})"


def forget_conversion(error: BaseException) -> None:
    """Drops the cause of a value that asyncpg cannot send: Python's error, whose text quotes the value."""
    if isinstance(error, asyncpg.DataError):
        error.__cause__ = None
        error.__suppress_context__ = True
