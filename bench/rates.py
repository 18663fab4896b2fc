"""What a tenant at ten times its rate limit costs another one: the recalls of its neighbour, alone and beside it.

    python -m bench.rates --out FILE [--rate 10] [--rounds 5] [--seconds 6]

A stack with embedded engines serves two tenants by their API keys, of which one may make `--rate` reads a second and
asks for ten times as many. Phases with it and without it take turns, so that what else the machine does meets both.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import grpc

from bench.common import open_channel, print_table, ratio, report_head, run, times_of, write_json
from bench.fairness import served_stack
from bench.gateway import Gateway, one_turn
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2

RATIO_MAX: Final = 1.3
EXCESS: Final = 10
_NEIGHBOUR_PER_SECOND: Final = 10
_TURNS: Final = 200
_WARM_UP: Final = 20


@dataclass(slots=True)
class Phase:
    """What two tenants saw in the phases of one kind."""

    neighbour: list[float] = field(default_factory=list)
    """Seconds of the neighbour's recalls."""
    failed: int = 0
    """Recalls of the neighbour that failed."""
    loud: Counter[str] = field(default_factory=Counter)
    """Responses to the other tenant, by status."""


async def _recall(gateway: Gateway, user: str) -> None:
    await gateway.recall(recall_pb2.RecallRequest(user_id=user, query="What did we say about the trip?", limit=5))


async def _paced(per_second: float, seconds: float, call: object) -> None:
    """Begins calls at an even pace, whatever becomes of the earlier ones; returns when all are done."""
    assert callable(call)
    begin = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in itertools.count():
            due = begin + number / per_second
            if due >= begin + seconds:
                return
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(call())


async def _neighbour(gateway: Gateway, phase: Phase) -> None:
    begin = time.perf_counter()
    try:
        await _recall(gateway, "neighbour")
    except grpc.aio.AioRpcError:
        phase.failed += 1
        return
    phase.neighbour.append(time.perf_counter() - begin)


async def _loud(gateway: Gateway, phase: Phase) -> None:
    try:
        await _recall(gateway, "loud")
        phase.loud["OK"] += 1
    except grpc.aio.AioRpcError as error:
        phase.loud[error.code().name] += 1


async def _run(options: argparse.Namespace) -> int:
    from services.common.auth import Role, create_api_key

    phases = {"alone": Phase(), "beside": Phase()}
    with tempfile.TemporaryDirectory(prefix="mneme-bench-", ignore_cleanup_errors=True) as folder:
        keys = Path(folder) / "keys.json"
        now = datetime.now(UTC)
        secrets = {
            tenant: create_api_key(keys, tenant_id=tenant, principal_id=tenant, role=Role.WRITER, now=now)[0]
            for tenant in ("loud", "neighbour")
        }
        limit = {"MNEME_RATES__TENANT_READS_PER_SECOND__LOUD": str(options.rate)}
        async with (
            served_stack(Path(folder) / "data", keys, limit) as address,
            open_channel(address, api_key=secrets["loud"]) as loud_channel,
            open_channel(address, api_key=secrets["neighbour"]) as neighbour_channel,
        ):
            loud, neighbour = Gateway(loud_channel), Gateway(neighbour_channel)
            texts = TextSource(1)
            for number in range(_TURNS):
                for gateway, user in ((loud, "loud"), (neighbour, "neighbour")):
                    await gateway.remember(one_turn(f"{number}", user, f"{user}-{number // 20}", texts.turn().text))
            for _ in range(_WARM_UP):
                await _recall(neighbour, "neighbour")
            for _ in range(options.rounds):
                for name, phase in phases.items():
                    async with asyncio.TaskGroup() as group:
                        group.create_task(
                            _paced(_NEIGHBOUR_PER_SECOND, options.seconds, lambda: _neighbour(neighbour, phase))  # noqa: B023
                        )
                        if name == "beside":
                            group.create_task(
                                _paced(EXCESS * options.rate, options.seconds, lambda: _loud(loud, phase))  # noqa: B023
                            )
    return _report(options, phases)


def _report(options: argparse.Namespace, phases: dict[str, Phase]) -> int:
    times = {name: times_of(phase.neighbour) for name, phase in phases.items()}
    found = ratio(times["beside"].p95, times["alone"].p95) or 0.0
    report = report_head(
        "rates",
        driver="embedded",
        settings={"rate": options.rate, "excess": EXCESS, "rounds": options.rounds, "seconds": options.seconds},
    )
    report["phases"] = {
        name: {"neighbour": asdict(times[name]), "failed": phase.failed, "loud": dict(phase.loud)}
        for name, phase in phases.items()
    }
    is_met = found <= RATIO_MAX and not any(phase.failed for phase in phases.values())
    report |= {"p95_ratio": found, "is_met": is_met}
    write_json(options.out, report)
    print_table(
        f"rates: a tenant at {EXCESS} times its limit of {options.rate:g} reads a second",
        ("phase", "neighbour p50 ms", "p95 ms", "ratio", "loud tenant"),
        [
            (name, times[name].p50, times[name].p95, found if name == "beside" else 1.0, str(dict(phase.loud)))
            for name, phase in phases.items()
        ],
    )
    return 0 if is_met else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where the bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=10.0, help="reads a second of the loud tenant")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="of one phase")
    return run(_run(parser.parse_args(arguments)))


if __name__ == "__main__":
    raise SystemExit(main())
