"""Serves with an embedded index until it is killed: `python -m tests.integration.episodic.hold_index URL FOLDER`."""

import asyncio
import sys
from pathlib import Path

from services.common.clock import SystemClock
from services.common.postgres.pool import create_pool
from services.episodic.app import EpisodicResources, open_episodic
from tests.integration.episodic.hold_episodic import SECRET
from tests.support.embedding import HashingEmbedder


async def _hold(url: str, folder: Path) -> None:
    pool = await create_pool(url)
    resources = EpisodicResources(embedder=HashingEmbedder(64), clock=SystemClock(), secret=SECRET)
    async with open_episodic(pool, folder, resources):
        sys.stdout.write("serving\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_hold(sys.argv[1], Path(sys.argv[2])))
