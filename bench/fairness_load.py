"""The other tenant of `bench.fairness`, in a process of its own, as another client would be.

    python -m bench.fairness_load flood|import ADDRESS KEY [--writers N] [--turns N]

In the neighbour's process it would keep the neighbour from reading its answers. It writes until its standard input
ends, and prints what it has counted as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass

import grpc

from bench.common import BenchError, open_channel, run
from bench.gateway import Gateway, one_turn
from bench.texts import TextSource
from mneme.gateway.v1 import memory_pb2


@dataclass(slots=True)
class Written:
    """What the other tenant did."""

    flooded: int = 0
    """Turns that were acknowledged."""
    held_back: int = 0
    """Writes that were refused because of its backlog."""


@contextlib.asynccontextmanager
async def other_tenant(load: str, address: str, key: str, *, writers: int, turns: int) -> AsyncIterator[Written]:
    """Lets the other tenant write for the length of the block; what it did is known after it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.fairness_load", load, address, key, f"--writers={writers}", f"--turns={turns}"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    written = Written()
    try:
        yield written
        printed, _ = await process.communicate(b"")
        if not printed:
            raise BenchError("the other tenant's process failed")
        counted = Written(**json.loads(printed))
        written.flooded, written.held_back = counted.flooded, counted.held_back
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _flood(gateway: Gateway, written: Written, writers: int) -> None:
    """Writes as fast as it can, until cancelled."""
    numbers, texts = itertools.count(), TextSource(1)

    async def write() -> None:
        for number in numbers:
            user = f"flood-{number % 8}"
            request = one_turn(f"{written.flooded}-{number}", user, f"{user}-{number // 50}", texts.turn().text)
            try:
                await gateway.remember(request)
                written.flooded += 1
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                    raise
                written.held_back += 1
                await asyncio.sleep(1.0)

    await asyncio.gather(*(write() for _ in range(writers)))


async def _import(gateway: Gateway, written: Written, turns: int) -> None:
    """Streams turns, one an item."""
    texts = TextSource(3)

    async def items() -> AsyncIterator[memory_pb2.RememberStreamRequest]:
        for number in range(turns):
            item = one_turn(f"import-{number}", "import", f"import-{number // 100}", texts.turn().text)
            yield memory_pb2.RememberStreamRequest(item=item)

    async for response in gateway.memory.RememberStream(items(), metadata=gateway.metadata):
        if response.HasField("response"):
            written.flooded += 1
        else:
            written.held_back += 1


async def _write(options: argparse.Namespace) -> int:
    written = Written()
    async with open_channel(options.address, api_key=options.key) as channel:
        gateway = Gateway(channel)
        is_flood = options.load == "flood"
        load = _flood(gateway, written, options.writers) if is_flood else _import(gateway, written, options.turns)
        writing = asyncio.create_task(load)
        await asyncio.to_thread(sys.stdin.read)
        writing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writing
    print(json.dumps(asdict(written)), flush=True)
    return 0


def main() -> int:
    """Parse the arguments and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("load", choices=("flood", "import"))
    parser.add_argument("address")
    parser.add_argument("key")
    parser.add_argument("--writers", type=int, default=40)
    parser.add_argument("--turns", type=int, default=50_000)
    return run(_write(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
