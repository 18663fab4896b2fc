from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import IO

import pytest

from services.cli.commands.up import stop_signals
from services.cli.state import STOP_SIGNALS


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_asks_to_stop_and_a_second_one_ends_the_process(number: signal.Signals) -> None:
    before = {one: signal.getsignal(one) for one in STOP_SIGNALS}
    stop = stop_signals()
    try:
        os.kill(os.getpid(), number)
        async with asyncio.timeout(60):
            await stop.wait()
        assert {signal.getsignal(one) for one in STOP_SIGNALS} == {signal.SIG_DFL}
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


WAITING = """
import asyncio, pathlib, sys, typer
from services.cli.state import CliState

async def wait():
    try:
        print("waiting", flush=True)
        await asyncio.Event().wait()
    finally:
        print("cleaning up", flush=True)
        await asyncio.sleep(float(sys.argv[1]))
        print("cleaned up", flush=True)

try:
    CliState("x", None, None, 1.0, pathlib.Path("."), False).run(wait())
except typer.Exit as end:
    sys.exit(end.exit_code)
"""


def take_signals() -> None:
    """The tests themselves may have been told to ignore them, as in the background of a shell."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def waiting(clean_up_seconds: float, *through: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """A waiting command, which takes that long to clean up, and its further output; started through another one."""
    command = [*through, sys.executable, "-c", WAITING, str(clean_up_seconds)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=take_signals,  # noqa: PLW1509 - in a child that only starts the command
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        yield process, process.stdout


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_lets_a_command_clean_up(number: signal.Signals) -> None:
    with waiting(0.0) as (process, printed):
        process.send_signal(number)
        assert printed.read() == "cleaning up\ncleaned up\n"
    assert process.returncode == 128 + number


def test_a_command_in_the_background_of_a_shell_ignores_what_it_was_told_to_ignore() -> None:
    with waiting(0.0, "sh", "-c", "trap '' INT; exec \"$@\"", "sh") as (process, printed):
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert printed.read() == "cleaning up\ncleaned up\n"
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_second_signal_ends_a_command_at_once(number: signal.Signals) -> None:
    with waiting(600.0) as (process, printed):
        process.send_signal(number)
        assert printed.readline() == "cleaning up\n"
        process.send_signal(number)
        assert printed.read() == ""
    assert process.returncode == -number
