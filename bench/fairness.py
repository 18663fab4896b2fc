"""What one tenant's flood costs another: its acknowledgements, and the time until its turns can be recalled.

    python -m bench.fairness --out FILE

A stack with embedded engines serves two tenants by their API keys. The neighbour writes a turn each second and recalls
it with its token: alone, beside a flood of 40 writers, and beside an import through a stream.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import grpc

from bench.common import (
    BenchError,
    Times,
    open_channel,
    open_target,
    print_table,
    ratio,
    report_head,
    run,
    times_of,
    write_json,
)
from bench.fairness_load import Written, other_tenant
from bench.gateway import Gateway, one_turn
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2

ACKNOWLEDGEMENT_RATIO_MAX: Final = 3.0
FRESHNESS_P95_SECONDS_MAX: Final = 3.0
_PAUSE_SECONDS: Final = 1.0
_RECALL_SECONDS: Final = 60.0
_WARM_UP: Final = 3
"""Turns of the neighbour that are not counted."""


@dataclass(slots=True)
class Phase:
    """What the neighbour saw, and what the other tenant did meanwhile."""

    acknowledgement: list[float] = field(default_factory=list)
    freshness: list[float] = field(default_factory=list)
    """From the begin of the write until a recall with its token is consistent, in seconds."""
    not_fresh: int = 0
    """Turns that could not be recalled within a minute."""
    refused: int = 0
    """Writes of the neighbour that failed."""
    flooded: int = 0
    """Turns of the other tenant that were acknowledged."""
    held_back: int = 0
    """Writes of the other tenant that were refused because of its backlog."""


async def _serve(folder: Path, keys: Path) -> None:
    """Serve two tenants until standard input ends."""
    from services.common.hosting import HostSettings

    settings = HostSettings(api_keys_file=keys)
    async with open_target(None, data_dir=folder, host_settings=settings) as target:
        print(target.gateway, flush=True)
        await asyncio.to_thread(sys.stdin.read)


@contextlib.asynccontextmanager
async def served_stack(folder: Path, keys: Path, variables: Mapping[str, str] | None = None) -> AsyncIterator[str]:
    """A stack for callers with keys, as a process of its own; yields its address."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.fairness", "--serve", str(folder), "--keys", str(keys),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env={**os.environ, **(variables or {})},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        address = (await process.stdout.readline()).decode().strip()
        if not address:
            raise BenchError("the stack does not start")
        yield address
    finally:
        process.kill()
        await process.wait()


async def _neighbour(gateway: Gateway, phase: Phase, *, name: str, turns: int) -> None:
    """Writes a turn a second and recalls it."""
    texts = TextSource(2)
    for number in range(turns + _WARM_UP):
        begin = time.perf_counter()
        request = one_turn(f"{name}-{number}", "neighbour", f"{name}-{number}", texts.turn().text)
        try:
            response = await gateway.remember(request)
        except grpc.aio.AioRpcError:
            phase.refused += 1
            continue
        acknowledged = time.perf_counter() - begin
        fresh = await _is_fresh(gateway, response.consistency_token, begin)
        if number >= _WARM_UP:
            phase.acknowledgement.append(acknowledged)
            if fresh is None:
                phase.not_fresh += 1
            phase.freshness.append(_RECALL_SECONDS if fresh is None else fresh)
        await asyncio.sleep(max(0.0, _PAUSE_SECONDS - (time.perf_counter() - begin)))


async def _is_fresh(gateway: Gateway, token: str, begin: float) -> float | None:
    """Seconds until a recall of the episodic tier sees the write; None after a minute."""
    request = recall_pb2.RecallRequest(
        user_id="neighbour", query="what was said", limit=1, consistency_token=token, tiers=["TIER_EPISODIC"]
    )
    while time.perf_counter() - begin < _RECALL_SECONDS:
        with contextlib.suppress(grpc.aio.AioRpcError):
            if (await gateway.recall(request)).consistent:
                return time.perf_counter() - begin
    return None


async def _beside(
    neighbour: Gateway, turns: int, name: str, load: contextlib.AbstractAsyncContextManager[Written]
) -> Phase:
    phase = Phase()
    async with load as written:
        await _neighbour(neighbour, phase, name=name, turns=turns)
    phase.flooded, phase.held_back = written.flooded, written.held_back
    return phase


async def _run(options: argparse.Namespace) -> int:
    from services.common.auth import Role, create_api_key

    # The stack is killed, and its database may still write for a moment.
    with tempfile.TemporaryDirectory(prefix="mneme-bench-", ignore_cleanup_errors=True) as folder:
        keys = Path(folder) / "keys.json"
        now = datetime.now(UTC)
        flood_key, neighbour_key = (
            create_api_key(keys, tenant_id=tenant, principal_id=tenant, role=Role.WRITER, now=now)[0]
            for tenant in ("flood", "neighbour")
        )
        async with (
            served_stack(Path(folder) / "data", keys) as address,
            open_channel(address, api_key=neighbour_key) as channel,
        ):
            other = functools.partial(
                other_tenant, address=address, key=flood_key, writers=options.writers, turns=options.import_turns
            )
            loads: dict[str, contextlib.AbstractAsyncContextManager[Written]] = {
                "alone": contextlib.nullcontext(Written()),
                "flood": other("flood"),
                "import": other("import"),
            }
            phases = {name: await _beside(Gateway(channel), options.turns, name, load) for name, load in loads.items()}
    return _report(options, phases)


def _report(options: argparse.Namespace, phases: dict[str, Phase]) -> int:
    times = {name: (times_of(p.acknowledgement), times_of(p.freshness)) for name, p in phases.items()}
    alone: Times = times["alone"][0]
    ratios = {name: ratio(found[0].p50, alone.p50) for name, found in times.items()}
    settings = {"turns": options.turns, "writers": options.writers, "import_turns": options.import_turns}
    report = report_head("fairness", driver="embedded", settings=settings)
    report["phases"] = {
        name: {
            "acknowledgement": asdict(found[0]),
            "acknowledgement_p50_ratio": ratios[name],
            "freshness": asdict(found[1]),
            **{key: getattr(phases[name], key) for key in ("not_fresh", "refused", "flooded", "held_back")},
        }
        for name, found in times.items()
    }
    is_met = all(
        (ratios[name] or 0.0) <= ACKNOWLEDGEMENT_RATIO_MAX
        and found[1].p95 <= FRESHNESS_P95_SECONDS_MAX * 1000
        and not phases[name].refused
        for name, found in times.items()
    )
    report["is_met"] = is_met
    write_json(options.out, report)
    print_table(
        "fairness",
        ("phase", "ack p50 ms", "ratio", "fresh p50 ms", "fresh p95 ms", "flooded", "held back"),
        [
            (name, found[0].p50, ratios[name], found[1].p50, found[1].p95, phases[name].flooded, phases[name].held_back)
            for name, found in times.items()
        ],
    )
    return 0 if is_met else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--turns", type=int, default=60, help="of the neighbour in each phase")
    parser.add_argument("--writers", type=int, default=40)
    parser.add_argument("--import-turns", type=int, default=50_000)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--keys", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.serve is not None:
        run(_serve(options.serve, options.keys))
        return 0
    if options.out is None:
        parser.error("--out is required")
    return run(_run(options))


if __name__ == "__main__":
    sys.exit(main())
