from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from services.cli.commands.up import stop_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_asks_to_stop_and_a_second_one_has_its_usual_effect(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    stop = stop_signals()
    try:
        os.kill(os.getpid(), number)
        async with asyncio.timeout(60):
            await stop.wait()
        assert signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}
    finally:
        signal.signal(number, before)


WAITING = """
import asyncio, pathlib
from services.cli.state import CliState

async def wait():
    try:
        print("waiting", flush=True)
        await asyncio.Event().wait()
    finally:
        print("cleaned up", flush=True)

CliState("x", None, None, 1.0, pathlib.Path("."), False).run(wait())
"""


def test_sigterm_lets_a_command_clean_up() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.terminate()
        assert process.stdout.read() == "cleaned up\n"
    assert process.returncode != 0
