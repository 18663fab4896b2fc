"""What HTTP adds to a Recall: the same calls by gRPC and by HTTP, one after the other.

    python -m bench.http_overhead --out FILE [--memories 2000] [--recalls 300]

One stack on embedded engines, one client, a connection each: gRPC, Connect with JSON, Connect with protobuf. The three
calls of a question take turns in changing order, so that what else the machine does meets all of them.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import aiohttp

from bench.common import BenchError, open_channel, open_target, print_table, report_head, run, times_of, write_json
from bench.gateway import Gateway
from bench.load_store import MAIN_USER, conversations_of, remember_conversations
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2
from services.common.hosting import HostSettings

ADDED_MILLISECONDS_MAX: Final = 2.0
_WARM_UP: Final = 20
_LIMIT: Final = 10

Recall = Callable[[recall_pb2.RecallRequest], Awaitable[int]]
"""Makes the call and says how many memories came."""


def _by_http(session: aiohttp.ClientSession, address: str) -> Mapping[str, Recall]:
    url = f"http://{address}/mneme.gateway.v1.MemoryService/Recall"

    async def post(body: str | bytes, media_type: str) -> bytes:
        headers = {"content-type": media_type, "accept-encoding": "identity"}  # gRPC does not compress here either
        async with session.post(url, data=body, headers=headers) as response:
            answer = await response.read()
            if response.status != 200:
                raise BenchError(f"HTTP {response.status}: {answer[:200]!r}")
            return answer

    async def as_json(request: recall_pb2.RecallRequest) -> int:
        body = {"userId": request.user_id, "query": request.query, "limit": request.limit}
        return len(json.loads(await post(json.dumps(body), "application/json"))["memories"])

    async def as_protobuf(request: recall_pb2.RecallRequest) -> int:
        answer = await post(request.SerializeToString(), "application/proto")
        return len(recall_pb2.RecallResponse.FromString(answer).memories)

    return {"HTTP, JSON": as_json, "HTTP, protobuf": as_protobuf}


async def _measure(memories: int, recalls: int, seed: int) -> dict[str, list[float]]:
    settings = HostSettings(http_listen="127.0.0.1:0")
    async with (
        open_target(None, host_settings=settings) as target,
        open_channel(target.gateway) as channel,
        aiohttp.ClientSession() as session,
    ):
        assert target.http is not None
        gateway = Gateway(channel)

        async def by_grpc(request: recall_pb2.RecallRequest) -> int:
            return len((await gateway.recall(request)).memories)

        await remember_conversations(gateway, conversations_of(memories, seed=seed))
        await gateway.wait_delivered()
        ways: dict[str, Recall] = {"gRPC": by_grpc, **_by_http(session, target.http)}
        found: dict[str, list[float]] = {name: [] for name in ways}
        texts, orders = TextSource(seed), random.Random(seed)
        for number in range(_WARM_UP + recalls):
            request = recall_pb2.RecallRequest(user_id=MAIN_USER, query=texts.question(), limit=_LIMIT)
            for name in orders.sample(list(ways), len(ways)):
                started = time.perf_counter()
                count = await ways[name](request)
                if number >= _WARM_UP:
                    found[name].append(time.perf_counter() - started)
                if count != _LIMIT:
                    raise BenchError(f"{name}: {request.query}: {count} memories")
        return found


def _report(options: argparse.Namespace, found: Mapping[str, Sequence[float]]) -> int:
    times = {name: times_of(seconds) for name, seconds in found.items()}
    added = {name: round(one.p50 - times["gRPC"].p50, 3) for name, one in times.items()}
    report = report_head(
        "http_overhead", driver="embedded", settings={"memories": options.memories, "recalls": options.recalls}
    )
    report["ways"] = {name: {**asdict(one), "added_ms": added[name]} for name, one in times.items()}
    report["is_met"] = max(added.values()) <= ADDED_MILLISECONDS_MAX
    write_json(options.out, report)
    rows = [(name, one.p50, one.p95, added[name]) for name, one in times.items()]
    print_table("a Recall by gRPC and by HTTP", ("way", "p50 ms", "p95 ms", "added at p50, ms"), rows)
    return 0 if report["is_met"] else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where HTTP adds more than 2 ms to a Recall's p50."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--memories", type=int, default=2000)
    parser.add_argument("--recalls", type=int, default=300, help="by each way")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    return _report(options, run(_measure(options.memories, options.recalls, options.seed)))


if __name__ == "__main__":
    raise SystemExit(main())
