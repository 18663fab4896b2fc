"""Starts all services for a command: the one place where commands meet `services.cli.stack`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from services.common.errors import StoreUnavailable, cause_of

_HTTP_OFFSET: Final = 80
_PORT_MAX: Final = 65_535
_PORT_HINT: Final = "Choose others: --port is the first of five in a row, --http-port that of HTTP."


class LogLevel(StrEnum):
    """Lowest level of log lines that are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class StackOptions:
    """Options of a stack."""

    data_dir: Path
    host: str
    port: int  # of the gateway; 0 takes a free one
    http_port: int = 0  # of HTTP beside gRPC; 0: none, unless MNEME_HTTP_LISTEN names an address
    processes: bool = False  # one process for each service instead of one for all
    is_private: bool = False  # for this command alone: it stops without draining
    log_level: LogLevel = LogLevel.ERROR  # errors only, since a command prints its own results


def http_port(chosen: int | None, *, port: int) -> int:
    """The port of HTTP beside gRPC: the chosen one, else the gateway's and 80; none beside a free port."""
    return chosen if chosen is not None else port + _HTTP_OFFSET if 0 < port <= _PORT_MAX - _HTTP_OFFSET else 0


class StackStartError(Exception):
    """The services cannot be started. The message is for people."""


@asynccontextmanager
async def open_stack(options: StackOptions) -> AsyncIterator[str]:
    """Starts the services, yields the gateway's address, and drains them at the end.

    Raises:
        StackStartError: The data folder is in use, a port is taken, or an engine or the model is missing.
    """
    # Imported here: it brings in every engine, which no other command needs.
    from services.cli.stack import StackSettings, run_stack
    from services.common.credentials import InsecureListenError
    from services.common.datadir import DataDirError
    from services.common.embedding.errors import ModelUnavailableError
    from services.common.errors import MnemeError
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging
    from services.common.postgres.failure import EmbeddedPostgresError
    from services.common.postgres.migrations import MigrationError
    from services.common.shared_settings import telemetry_settings
    from services.common.telemetry import configure_telemetry

    configure_logging(level=options.log_level)
    try:
        host_settings = HostSettings()
    except ValueError as error:
        raise StackStartError(str(error)) from error
    if options.http_port and not host_settings.http_listen:
        host_settings = host_settings.model_copy(update={"http_listen": f"{options.host}:{options.http_port}"})
    settings = StackSettings(
        data_dir=options.data_dir,
        host=options.host,
        port=options.port,
        processes=options.processes,
        host_settings=host_settings,
        is_private=options.is_private,
    )
    async with AsyncExitStack() as exit_stack:
        try:
            if not options.processes:  # else each service has its own
                exporting = telemetry_settings("mneme", host_settings)
                if options.is_private:  # the endpoint is for the services that last
                    exporting = replace(exporting, metrics_listen="")
                telemetry = configure_telemetry(exporting)
                exit_stack.push_async_callback(asyncio.to_thread, telemetry.shutdown)
            stack = await exit_stack.enter_async_context(run_stack(settings))
        except (
            DataDirError,
            EmbeddedPostgresError,
            InsecureListenError,
            MigrationError,
            MnemeError,
            ModelUnavailableError,
            OSError,
            ValueError,
        ) as error:
            raise StackStartError(_in_words(error)) from error
        yield stack.gateway_target


def _in_words(error: Exception) -> str:
    """Why the services cannot be started: the file or the cause by name, and of a port which options choose another."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, StoreUnavailable):
        return ": ".join(filter(None, (str(error), cause_of(error))))
    text = str(error)
    return f"{text}\n{_PORT_HINT}" if text.startswith("cannot listen on ") else text
