"""What holds: cases of updates, corrections and removals, through the gateway with its default settings.

    python -m bench.knowledge [--data FILE] [--pairs FOLDER] --out FILE [--target host:port]

README.md beside this folder says what each figure means.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from rich.progress import Progress

from bench.common import BenchError, open_channel, open_target, print_table, report_head, run, write_json
from bench.gateway import Gateway
from bench.ingest import ingest
from bench.knowledge.cases import Case, load_cases, score
from bench.knowledge.operations import OperationFailedError, carry_out
from bench.knowledge.pairs import PairResult, ask_pair, load_pairs, shares
from bench.knowledge.probing import CaseRunner
from bench.locomo import load_conversations
from services.common.datadir import DataDirError


@dataclass(slots=True)
class Outcome:
    """What a run found."""

    driver: str = ""
    failures: dict[str, list[str]] = field(default_factory=dict)
    """Questions of the probes that do not hold, by case."""
    pairs: list[PairResult] = field(default_factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the benchmark; 2 when it cannot run."""
    options = _options(arguments)
    try:
        if options.data is None and options.pairs is None:
            raise BenchError("give a file of cases, a folder with pairs, or both")
        cases = load_cases(options.data) if options.data is not None else []
        outcome = run(_measure(options, cases))
    except (BenchError, DataDirError) as error:
        print(f"bench.knowledge: {error}", file=sys.stderr)
        return 2
    except grpc.aio.AioRpcError as error:
        print(f"bench.knowledge: the gateway returned {error.code().name}: {error.details()}", file=sys.stderr)
        return 2
    by_kind, mean = score((case.category, not outcome.failures[case.case_id]) for case in cases)
    without = {case.category for case in cases} - _kinds_with_operations(cases)
    plain_mean = sum(by_kind[kind] for kind in without) / len(without) if without else 0.0
    report = report_head(
        "knowledge", driver=outcome.driver, settings={"data": (options.data or options.pairs).resolve().name}
    ) | {
        "cases": len(cases),
        "by_kind": by_kind,
        "mean": mean,
        "mean_without_operations": plain_mean,
        "pairs": shares(outcome.pairs) if outcome.pairs else None,
        "pair_results": outcome.pairs,
        "failures": {name: found for name, found in outcome.failures.items() if found},
    }
    write_json(options.out, report)
    if cases:
        rows: list[list[object]] = [[kind, share] for kind, share in by_kind.items()]
        print_table("Knowledge", ["kind", "share"], [*rows, ["mean", mean], ["mean without operations", plain_mean]])
    if outcome.pairs:
        print_table("Pairs", ["", "share"], [[name, share] for name, share in shares(outcome.pairs).items()])
    return 0


def _kinds_with_operations(cases: Sequence[Case]) -> set[str]:
    """The kinds in which every case has an operation."""
    return {case.category for case in cases} - {case.category for case in cases if case.operation is None}


async def _measure(options: argparse.Namespace, cases: Sequence[Case]) -> Outcome:
    outcome = Outcome()
    run_id = uuid.uuid4().hex[:8]
    async with AsyncExitStack() as stack:
        progress = stack.enter_context(Progress(transient=True))
        target = await stack.enter_async_context(open_target(options.target))
        outcome.driver = target.driver
        channel = await stack.enter_async_context(open_channel(target.gateway, api_key=options.api_key))
        gateway = Gateway(channel)
        await _run_cases(gateway, cases, run_id, outcome, progress)
        if options.pairs is not None:
            await _run_pairs(gateway, options.pairs, run_id, outcome, progress)
    return outcome


async def _run_cases(
    gateway: Gateway, cases: Sequence[Case], run_id: str, outcome: Outcome, progress: Progress
) -> None:
    runner = CaseRunner(gateway, run_id)
    task = progress.add_task("cases", total=2 * len(cases))
    for case in cases:
        await runner.remember(case, after=False)
        progress.advance(task)
    await gateway.wait_delivered()
    for case in cases:
        outcome.failures[case.case_id] = []
        if case.operation is None:
            continue
        try:
            await carry_out(gateway, runner, case)
        except OperationFailedError as error:
            outcome.failures[case.case_id] = [str(error)]
        if case.operation.get("replay"):
            await runner.remember(case, after=False)
        await runner.remember(case, after=True)
    await gateway.wait_delivered()
    for case in cases:
        outcome.failures[case.case_id] += await runner.failed_probes(case)
        progress.advance(task)


async def _run_pairs(gateway: Gateway, folder: Path, run_id: str, outcome: Outcome, progress: Progress) -> None:
    pairs = load_pairs(folder)
    wanted = {pair.conversation for pair in pairs}
    conversations = [found for found in load_conversations(folder) if found.name in wanted]
    task = progress.add_task("pairs", total=len(conversations) + len(pairs))
    ingested = {}
    for conversation in conversations:
        user_id = f"{run_id}-{conversation.name}"
        ingested[conversation.name] = await ingest(gateway, conversation, user_id=user_id)
        progress.advance(task)
    await gateway.wait_delivered()
    for pair in pairs:
        if pair.conversation in ingested:
            outcome.pairs.append(await ask_pair(gateway, ingested[pair.conversation], pair))
        progress.advance(task)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge", description="What holds after updates.")
    parser.add_argument("--data", type=Path, help="file of cases, one JSON object a line")
    parser.add_argument("--out", type=Path, required=True, help="report, JSON")
    parser.add_argument("--pairs", type=Path, help="folder of conversations with pairs.jsonl")
    parser.add_argument("--target", help="address of a running gateway; without it a stack is started")
    parser.add_argument("--api-key", help="credential for a target that wants one")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
