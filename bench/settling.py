"""Waiting until a store is at rest."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from mneme_client import Client

STALL_SECONDS: Final = 300.0
"""How many deliveries a second are made, a busy machine decides: waiting ends when none was made for so long."""


async def settled(client: Client, *, poll_seconds: float = 0.2, stall_seconds: float = STALL_SECONDS) -> None:
    """Waits until every tier has what was written.

    Args:
        client: Of the gateway.
        poll_seconds: Between two looks.
        stall_seconds: Without any delivery, until it is given up.

    Raises:
        TimeoutError: Nothing was delivered for `stall_seconds`.
    """
    last, since = -1, time.monotonic()
    while pending := sum(tier.pending_count for tier in await client.get_backlog()):
        if pending != last:
            last, since = pending, time.monotonic()
        elif time.monotonic() - since > stall_seconds:
            raise TimeoutError(f"{pending} deliveries wait, and none was made for {stall_seconds:.0f} s")
        await asyncio.sleep(poll_seconds)
