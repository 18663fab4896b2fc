"""`mneme up`: all services."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer

from services.cli import options
from services.cli.local_stack import LogLevel, StackOptions, open_stack
from services.cli.local_stack import http_port as chosen_http_port
from services.cli.state import STOP_SIGNALS, CliState, end_at_once_on_signals, state_of


def up(
    context: typer.Context,
    data_dir: options.DataDir = None,
    host: options.Host = "127.0.0.1",
    port: options.Port = 7700,
    http_port: options.HttpPort = None,
    processes: Annotated[
        bool, typer.Option("--processes", help="One process for each service instead of one for all.")
    ] = False,
    log_level: Annotated[
        LogLevel, typer.Option(envvar="MNEME_LOG_LEVEL", help="Lowest level of log lines on stderr.")
    ] = LogLevel.INFO,
) -> None:
    """Start all five services on embedded engines, and serve until SIGTERM or Ctrl-C."""
    state = state_of(context, data_dir=data_dir)
    stack = StackOptions(
        data_dir=state.data_dir,
        host=host,
        port=port,
        http_port=chosen_http_port(http_port, port=port),
        processes=processes,
        log_level=log_level,
    )
    state.run(_serve(state, stack))


async def _serve(state: CliState, stack: StackOptions) -> None:
    stop = stop_signals()
    started = time.monotonic()
    async with open_stack(stack) as target:
        state.out.print(f"Mneme serves at {target}, started in {time.monotonic() - started:.1f} s", highlight=False)
        if stack.http_port:
            state.out.print(f"HTTP at http://{stack.host}:{stack.http_port}", highlight=False)
        state.out.print(f"data folder {stack.data_dir}", markup=False, highlight=False, soft_wrap=True)
        state.out.print("Ctrl-C stops it.", style="dim")
        await stop.wait()
        state.out.print("stopping: calls under way are finished first")


def stop_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set, so that services drain instead of being cut off.

    A second signal ends the process at once, for those who cannot wait.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def on_signal() -> None:
        stop.set()
        end_at_once_on_signals()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, on_signal)
    return stop
