"""What every command gets: how to reach the service, where data are, and where to print."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import typer
import uvloop
from opentelemetry.trace import Tracer
from rich.console import Console

from mneme_client import Client, MnemeClientError, Tls
from services.cli.hints import hint
from services.cli.local_stack import StackOptions, StackStartError, open_stack
from services.cli.traces import trace_calls

Result = TypeVar("Result")

_FILE_COLUMNS = 10_000
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
"""What asks a command to stop."""


def output() -> Console:
    """The console of standard output. A file or another program gets a row on one line, however long it is."""
    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=_FILE_COLUMNS)


@dataclass(frozen=True)
class CliState:
    """Made once by `main`, from options and the environment."""

    target: str
    api_key: str | None
    tls: Tls | None
    timeout_seconds: float
    data_dir: Path  # of a stack that runs in this process
    serves_with_keys: bool  # such a stack demands API keys
    out: Console = field(default_factory=output)
    err: Console = field(default_factory=lambda: Console(stderr=True))

    def client(self, tracer: Tracer | None = None) -> Client:
        """A client of the service at the target."""
        return Client(
            self.target,
            self.api_key,
            tls=self.tls or False,
            default_timeout_seconds=self.timeout_seconds,
            tracer=tracer,
        )

    def local_client(self, target: str, tracer: Tracer | None = None) -> Client:
        """A client of a service in this process, which accepts API keys only if it has a key file."""
        api_key = self.api_key if self.serves_with_keys else None
        return Client(target, api_key, default_timeout_seconds=self.timeout_seconds, tracer=tracer)

    def run(self, main: Coroutine[Any, Any, Result]) -> Result:
        """Runs a command's work. Failures of the service, and of files, become a message and exit code 1."""
        try:
            return uvloop.run(_until_stopped(main))
        except _StoppedError as error:
            raise typer.Exit(128 + error.signal) from None
        except MnemeClientError as error:
            self.fail(f"{error}", hint(error, self.target))
        except (StackStartError, TimeoutError) as error:
            self.fail(str(error))
        except OSError as error:  # a file that cannot be read or written: which one, and why
            if error.filename is None:
                raise
            self.fail(f"{error.filename}: {error.strerror}")

    def fail(self, message: str, hint: str = "") -> NoReturn:
        """Prints why a command cannot go on, and ends it with exit code 1."""
        self.err.print(message, style="red", markup=False, highlight=False)
        if hint:
            self.err.print(hint, markup=False, highlight=False)
        raise typer.Exit(1)

    @asynccontextmanager
    async def connect(self, *, embedded: bool = False, trace: bool = False) -> AsyncIterator[Client]:
        """A client of the service at the target, or of one that runs in this process meanwhile.

        Args:
            embedded: Start all services in this process, on the data folder, and stop them afterwards.
            trace: Print the spans of the calls as a tree at the end. Those of the services are among them
                only when they run in this process.
        """
        with trace_calls(self.out, enabled=trace) as tracer:
            if not embedded:
                async with self.client(tracer) as client:
                    yield client
                return
            # Port 0: a free one, since only this process calls it.
            async with (
                open_stack(StackOptions(data_dir=self.data_dir, host="127.0.0.1", port=0, is_private=True)) as address,
                self.local_client(address, tracer) as client,
            ):
                yield client


class _StoppedError(Exception):
    """A signal stopped a command."""

    def __init__(self, number: int) -> None:
        """Names the signal."""
        super().__init__(signal.strsignal(number))
        self.signal = number


async def _until_stopped(main: Coroutine[Any, Any, Result]) -> Result:
    """Makes SIGINT, which is Ctrl-C, and SIGTERM cancel a command, so that services it started are stopped in order.

    A second signal ends the process at once, as a kill does.
    """
    task = asyncio.ensure_future(main)
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        end_at_once_on_signals()
        task.cancel()

    if threading.current_thread() is threading.main_thread():
        for number in STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as a shell has it for what runs in its background
                asyncio.get_running_loop().add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if received:
            raise _StoppedError(received[0]) from None
        raise


def end_at_once_on_signals() -> None:
    """Gives the signals that stop a command their default action, for those who cannot wait for an orderly end.

    Python's own handler of SIGINT would raise an exception wherever the program is, amid its clean-up too.
    """
    for number in STOP_SIGNALS:
        if asyncio.get_running_loop().remove_signal_handler(number):
            signal.signal(number, signal.SIG_DFL)


def state_of(context: typer.Context, *, data_dir: Path | None = None) -> CliState:
    """The state that `main` made, with the data folder that the command was given."""
    state = context.obj
    assert isinstance(state, CliState)
    return replace(state, data_dir=data_dir.expanduser().absolute()) if data_dir else state
