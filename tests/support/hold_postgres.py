"""A process that holds a data folder and its PostgreSQL: `python -m tests.support.hold_postgres <folder>`.

Prints one line `ready <postmaster pid> <superuser URL>` and ends normally when its input closes. With
`--no-stop` it then ends without stopping the server.
"""

import asyncio
import sys
from pathlib import Path

from services.common.datadir import DataDir
from services.common.postgres.server import EmbeddedPostgres


async def _hold(folder: Path, *, stop: bool) -> None:
    with DataDir(folder) as data_dir:
        server = EmbeddedPostgres(data_dir)
        await server.start()
        sys.stdout.write(f"ready {server.pid} {server.superuser_dsn}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        if stop:
            await server.stop()


if __name__ == "__main__":
    asyncio.run(_hold(Path(sys.argv[1]), stop="--no-stop" not in sys.argv))
