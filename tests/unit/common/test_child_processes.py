"""Processes start although gRPC and other native libraries of ours cannot be forked."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

_FORK_HANDLER = """
import asyncio, ctypes, os, uvloop
libc = ctypes.CDLL(None)
# As gRPC's does: it crashes in the child of a fork, before the program of the child begins.
libc.__register_atfork(None, None, ctypes.cast(libc.abort, ctypes.c_void_p), None)
"""
_PARSERS = """
from services.semantic.code.parsers import CodeParsers
async def main():
    parsers = CodeParsers(processes=1, timeout_seconds=60.0)
    [file] = await parsers.parse([("a.py", b"def levy(): pass")])
    print(file.status.name)
    await parsers.aclose()
uvloop.run(main())
"""
_ENGINE = """
from services.episodic.stores.edge_process import EngineFailedError, EngineProcess
async def main():
    process = await EngineProcess.start(inherited=os.open(os.devnull, os.O_RDONLY))
    try:
        await process.call("open")
    except EngineFailedError as error:
        print(error)
    await process.stop()
uvloop.run(main())
"""


def run(program: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return result.stdout + result.stderr[-2_000:]


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "__register_atfork"), reason="this C library has no such function")
@pytest.mark.parametrize(("program", "output"), [(_PARSERS, "PARSED"), (_ENGINE, "TypeError")])
def test_spec_7_2_processes_of_ours_start_beside_fork_handlers_that_crash(program: str, output: str) -> None:
    assert output in run(_FORK_HANDLER + program)


@pytest.mark.parametrize("module", ["services.semantic.__main__", "services.cli.main", "services.common.main"])
def test_spec_7_2_fork_handlers_of_grpc_are_off_before_it_is_imported(module: str) -> None:
    program = f"""
import sys, os
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "grpc":
            print("variable:", os.environ.get("GRPC_ENABLE_FORK_SUPPORT"))
sys.meta_path.insert(0, Finder())
import {module}
"""
    assert run(program).splitlines()[:1] == ["variable: 0"]
