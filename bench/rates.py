"""What a tenant at ten times its rate limit costs another one: the recalls of its neighbour, alone and beside it.

    python -m bench.rates --out FILE [--rate 10] [--rounds 5] [--seconds 6] [--seed 1]

A stack with embedded engines serves two tenants by their API keys, of which one may make `--rate` reads a second. It is
silent, keeps to its limit, or asks for ten times as many. The limit admits about as many of its calls in the last case
as in the one before, so that the ratio of these two is the cost of the refused calls alone. The phases take turns in an
order drawn for each round, so that what else the machine does meets all of them. Calls arrive at random, as those of
independent callers do; the neighbour's arrive at the same moments in all phases of a round.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import grpc

from bench.common import BenchError, Times, open_channel, print_table, ratio, report_head, run, times_of, write_json
from bench.fairness import served_stack
from bench.gateway import Gateway, one_turn
from bench.texts import TextSource
from mneme.gateway.v1 import recall_pb2

RATIO_MAX: Final = 1.3
EXCESS: Final = 10
PHASES: Final = {"alone": 0.0, "within": 1.0, "beyond": float(EXCESS)}
"""What the loud tenant asks for, as a multiple of its limit."""
_NEIGHBOUR_PER_SECOND: Final = 10.0
_LEAD_SECONDS: Final = 1.0
"""Begin of each phase that is not counted: the loud tenant uses up the burst that it may have after a pause."""
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


def arrivals(source: random.Random, per_second: float, seconds: float) -> list[float]:
    """Moments of independent calls (a Poisson process), in seconds from the begin; none where `per_second` is 0."""
    moments: list[float] = []
    moment = source.expovariate(per_second) if per_second else seconds
    while moment < seconds:
        moments.append(moment)
        moment += source.expovariate(per_second)
    return moments


async def _at(moments: Sequence[float], call: Callable[[float], Coroutine[Any, Any, None]]) -> None:
    """Begins a call at each moment, whatever becomes of the earlier ones."""
    begin = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for moment in moments:
            await asyncio.sleep(max(0.0, begin + moment - time.perf_counter()))
            group.create_task(call(moment))


def _counts(moment: float) -> bool:
    return moment >= _LEAD_SECONDS


async def _recall(gateway: Gateway, user: str) -> None:
    await gateway.recall(recall_pb2.RecallRequest(user_id=user, query="What did we say about the trip?", limit=5))


@dataclass(frozen=True, slots=True)
class _Tenants:
    """The two callers."""

    loud: Gateway
    neighbour: Gateway

    async def fill(self) -> None:
        """Writes the turns of both, waits until every tier has them, and warms up.

        Raises:
            BenchError: A tier gave one up.
        """
        texts = TextSource(1)
        for number in range(_TURNS):
            for gateway, user in ((self.loud, "loud"), (self.neighbour, "neighbour")):
                await gateway.remember(one_turn(f"{number}", user, f"{user}-{number // 20}", texts.turn().text))
        for gateway in (self.loud, self.neighbour):
            if (await gateway.wait_delivered()).dead:
                raise BenchError("a tier gave up turns")
        for _ in range(_WARM_UP):
            await _recall(self.neighbour, "neighbour")

    async def run_phase(self, phase: Phase, ours: Sequence[float], theirs: Sequence[float]) -> None:
        """Makes the neighbour's calls at the moments `ours`, and the loud tenant's at `theirs`."""

        async def quiet(moment: float) -> None:
            begin = time.perf_counter()
            try:
                await _recall(self.neighbour, "neighbour")
            except grpc.aio.AioRpcError:
                phase.failed += _counts(moment)
                return
            if _counts(moment):
                phase.neighbour.append(time.perf_counter() - begin)

        async def loud(moment: float) -> None:
            status = "OK"
            try:
                await _recall(self.loud, "loud")
            except grpc.aio.AioRpcError as error:
                status = error.code().name
            if _counts(moment):
                phase.loud[status] += 1

        async with asyncio.TaskGroup() as group:
            group.create_task(_at(ours, quiet))
            group.create_task(_at(theirs, loud))


async def _run(options: argparse.Namespace) -> int:
    from services.common.auth import Role, create_api_key

    phases = {name: Phase() for name in PHASES}
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
            tenants = _Tenants(Gateway(loud_channel), Gateway(neighbour_channel))
            await tenants.fill()
            source, seconds = random.Random(options.seed), _LEAD_SECONDS + options.seconds
            for _ in range(options.rounds):
                ours = arrivals(source, _NEIGHBOUR_PER_SECOND, seconds)
                for name in source.sample(list(PHASES), len(PHASES)):
                    theirs = arrivals(source, PHASES[name] * options.rate, seconds)
                    await tenants.run_phase(phases[name], ours, theirs)
    report, is_met = findings(phases)
    settings = {name: getattr(options, name) for name in ("rate", "rounds", "seconds", "seed")} | {"excess": EXCESS}
    write_json(options.out, report_head("rates", driver="embedded", settings=settings) | report)
    _print(options.rate, phases, report)
    return 0 if is_met else 1


def findings(phases: Mapping[str, Phase]) -> tuple[dict[str, object], bool]:
    """The report on the phases by name, and whether the bar is met: the p95 beside the excess, against alone."""
    times: dict[str, Times] = {name: times_of(phase.neighbour) for name, phase in phases.items()}
    ratios = {name: ratio(found.p95, times["alone"].p95) for name, found in times.items()}
    excess = ratio(times["beyond"].p95, times["within"].p95)
    beyond = ratios["beyond"]
    is_met = beyond is not None and beyond <= RATIO_MAX and not any(phase.failed for phase in phases.values())
    report: dict[str, object] = {
        "phases": {
            name: {
                "neighbour": asdict(times[name]),
                "p95_ratio": ratios[name],
                "failed": phase.failed,
                "loud": dict(phase.loud),
            }
            for name, phase in phases.items()
        },
        "p95_ratio": beyond,
        "p95_ratio_of_excess": excess,
        "is_met": is_met,
    }
    return report, is_met


def _print(rate: float, phases: Mapping[str, Phase], report: Mapping[str, object]) -> None:
    rows = []
    for name, phase in phases.items():
        found = times_of(phase.neighbour)
        against = ratio(found.p95, times_of(phases["alone"].neighbour).p95)
        rows.append((name, found.p50, found.p95, against, phase.failed, str(dict(phase.loud))))
    print_table(
        f"rates: beside a tenant that may make {rate:g} reads a second, and that is silent, keeps to it, or asks for "
        f"{EXCESS} times as many",
        ("phase", "neighbour p50 ms", "p95 ms", "p95 / alone", "failed", "loud tenant"),
        rows,
    )
    print(f"p95 of the last phase / p95 of the one before, the cost of the excess: {report['p95_ratio_of_excess']}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments and measure. Exit code 1 where the bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rate", type=float, default=10.0, help="reads a second of the loud tenant")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="of one phase, the first one not counted aside")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of calls and the order of phases")
    return run(_run(parser.parse_args(arguments)))


if __name__ == "__main__":
    raise SystemExit(main())
