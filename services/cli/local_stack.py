"""Starts all services for a command: the one place where commands meet `services.cli.stack`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StackOptions:
    """What a user can choose about a stack."""

    data_dir: Path
    host: str
    port: int  # of the gateway; 0 takes a free one
    processes: bool = False  # one process for each service instead of one for all


@asynccontextmanager
async def open_stack(options: StackOptions) -> AsyncIterator[str]:
    """Starts the services, yields the gateway's address, and drains them at the end.

    Raises:
        DataDirError: The data folder is in use or cannot be read.
        OSError: The port is taken.
    """
    # Imported here: it brings in every engine, which no other command needs.
    from services.cli.stack import StackSettings, run_stack

    settings = StackSettings(
        data_dir=options.data_dir, host=options.host, port=options.port, processes=options.processes
    )
    async with run_stack(settings) as stack:
        yield stack.gateway_target
