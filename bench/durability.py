"""Nothing acknowledged is lost, doubled or left half when processes are killed, and nothing erased comes back.

Writers, erasures, an import and maintenance run while the services and PostgreSQL are killed at random moments; at the
end every store and the audit log are checked.

    python -m bench.durability --out FILE [--rounds 12] [--in-flight 1000] [--seed 1]

README.md beside this file says what each figure means.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from bench.common import BenchError, print_table, report_head, run, write_json
from bench.durability_harness import run_rounds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 1 for a violation, 2 when it cannot run."""
    options = _options(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="mneme-bench-") as folder:
            report = run(
                run_rounds(
                    rounds=options.rounds,
                    in_flight=options.in_flight,
                    seed=options.seed,
                    data_dir=Path(folder) / "data",
                    calls_per_round=options.calls,
                    told=lambda words: print(words, file=sys.stderr, flush=True),
                )
            )
    except BenchError as error:
        print(f"bench.durability: {error}", file=sys.stderr)
        return 2
    settings = {
        "rounds": options.rounds,
        "in_flight": options.in_flight,
        "calls_per_round": options.calls,
        "seed": options.seed,
    }
    head = report_head("durability", driver="embedded", settings=settings)
    write_json(options.out, head | {"result": asdict(report), "is_clean": report.is_clean})
    restarts = sorted(report.restart_seconds)
    rows: list[list[object]] = [
        ["kills", report.kills],
        ["calls", report.calls],
        ["calls repeated", report.repeated],
        ["turns acknowledged", report.acknowledged],
        ["turns without an answer", report.unacknowledged],
        ["turns in the log", report.stored],
        ["lost", report.lost],
        ["duplicated", report.duplicated],
        ["half there", report.half],
        ["erasures (turns that they name)", f"{report.erasures} ({report.erased})"],
        ["erased and there again", report.returned],
        ["imports", report.imports],
        ["maintenance jobs", report.jobs],
        ["audit entries (problems)", f"{report.audit_entries} ({report.audit})"],
        ["restart, median s", restarts[len(restarts) // 2] if restarts else None],
        ["converged, s", report.converge_seconds],
    ]
    print_table("Durability under kill -9", ["", ""], rows)
    for problem in report.problems:
        print(problem)
    return 0 if report.is_clean else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.durability", description="Durability under kill -9.")
    parser.add_argument("--out", type=Path, required=True, help="report, JSON")
    parser.add_argument("--rounds", type=int, default=12, help="kills (default 12)")
    parser.add_argument("--in-flight", type=int, default=1_000, help="callers at the same time (default 1000)")
    parser.add_argument("--calls", type=int, default=2_000, help="most new calls in a round (default 2000)")
    parser.add_argument("--seed", type=int, default=1, help="of texts and the moments of kills (default 1)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
