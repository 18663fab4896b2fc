"""Says where an event loop stands still: a call that never ends looks like any other reason for a missed deadline."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import sys
from collections.abc import AsyncIterator
from typing import Final, TextIO

STALL_SECONDS: Final = 20.0
"""Much longer than building a segment of the vector engine takes on a busy machine."""
_SIGNS_OF_LIFE: Final = 10
"""In that time."""


@contextlib.asynccontextmanager
async def stalls_shown(*, seconds: float = STALL_SECONDS, file: TextIO | None = None) -> AsyncIterator[None]:
    """While this is entered, stacks of all threads are written whenever the event loop stands still for so long.

    Also while an engine holds the interpreter, which stops every thread of Python. A process that was itself stopped
    shows, once it goes on, something harmless. Stacks are read without the interpreter's lock, so that a thread which
    runs meanwhile can crash the process: for programs that would be given up anyway.

    Args:
        seconds: How long, and how often again.
        file: With a descriptor; standard error where None.
    """

    async def live() -> None:
        while True:
            faulthandler.dump_traceback_later(seconds, repeat=True, file=file or sys.stderr)
            await asyncio.sleep(seconds / _SIGNS_OF_LIFE)

    living = asyncio.create_task(live())
    try:
        yield
    finally:
        living.cancel()
        faulthandler.cancel_dump_traceback_later()
