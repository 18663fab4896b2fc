"""Time of Recall and Remember by store size, as ratios to floors measured in the same run.

    python -m bench.latency --sizes 1000,10000 --out FILE

Each size has a process and a store of its own. README.md beside this file says what each figure means.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.common import REPOSITORY, BenchError, print_table, report_head, write_json
from bench.latency_load import Loading
from bench.latency_run import RunOptions, measure_size
from bench.production import EngineChoice, add_engine_options, engine_choice

_SIZE_MIN: Final = 100


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    sizes: tuple[int, ...]
    out: Path
    recalls: int
    remembers: int
    seed: int
    loading: Loading
    store: Path | None
    choices: tuple[EngineChoice, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; 2 when it cannot run."""
    try:
        options = _options(arguments)
        results = _measure(options)
    except BenchError as error:
        print(f"bench.latency: {error}", file=sys.stderr)
        return 2
    settings = {
        "sizes": options.sizes,
        "recalls": options.recalls,
        "remembers": options.remembers,
        "seed": options.seed,
        "loading": options.loading.value,
    }
    driver = "; ".join(dict.fromkeys(result["driver"] for result in results))
    report = report_head("latency", driver=driver, settings=settings) | {"sizes": results}
    if len(options.sizes) > 1 and len(options.choices) == 1:
        report["growth_of_recall_p50"] = _growth(results)
    if len(options.choices) > 1:
        report["recall_p50_to_embedded"] = _to_first(results, len(options.choices))
    write_json(options.out, report)
    _print(results)
    return 0


def _measure(options: Options) -> list[dict[str, Any]]:
    """One process for each size: memory of a smaller run would be counted in a larger one."""
    if len(options.sizes) == len(options.choices) == 1:
        run_options = RunOptions(
            size=options.sizes[0],
            recalls=options.recalls,
            remembers=options.remembers,
            seed=options.seed,
            loading=options.loading,
            store=options.store / str(options.sizes[0]) if options.store else None,
            choice=options.choices[0],
        )
        return [measure_size(run_options)]
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="mneme-bench-") as folder:
        for size, choice in itertools.product(options.sizes, options.choices):
            out = Path(folder) / f"{len(results)}.json"
            command = [sys.executable, "-m", "bench.latency", "--sizes", str(size), "--out", str(out)]
            command += ["--recalls", str(options.recalls), "--remembers", str(options.remembers)]
            command += ["--seed", str(options.seed), "--loading", options.loading.value]
            command += ["--store", str(options.store)] if options.store else []
            command += ["--engines", ",".join(choice.names), *(["--processes"] if choice.processes else [])]
            # Its table is not shown: the one at the end has all runs.
            done = subprocess.run(command, cwd=REPOSITORY, check=False, stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                raise BenchError(f"the run with {size} memories ended with code {done.returncode}")
            results += json.loads(out.read_text("utf-8"))["sizes"]
    return results


def _growth(results: Sequence[dict[str, Any]]) -> dict[str, float]:
    first, last = results[0], results[-1]
    quotient = last["recall"]["client"]["p50"] / first["recall"]["client"]["p50"]
    return {"from": first["size"], "to": last["size"], "factor": round(quotient, 3)}


def _to_first(results: Sequence[dict[str, Any]], choices: int) -> list[dict[str, Any]]:
    """Each run over that of the same size on the first choice of engines."""
    return [
        {
            "size": result["size"],
            "driver": result["driver"],
            "factor": round(result["recall"]["client"]["p50"] / first["recall"]["client"]["p50"], 3),
        }
        for number, result in enumerate(results)
        if (first := results[number - number % choices]) is not result
    ]


def _print(results: Sequence[dict[str, Any]]) -> None:
    columns = ["milliseconds", *[f"{result['size']:,}\n{_short(result['driver'])}" for result in results]]
    rows: list[list[object]] = []

    def row(name: str, *path: str) -> None:
        rows.append([name, *[_at(result, path) for result in results]])

    for name in ("p50", "p95", "p99"):
        row(f"Recall {name}", "recall", "client", name)
    row("  floor p50", "recall", "floor", "total", "p50")
    for part in ("embed", "search", "hops"):
        row(f"    {part} p50", "recall", "floor", part, "p50")
    row("  ratio of p50", "recall", "ratio_p50")
    row("  p99 / p50", "recall", "p99_to_p50")
    row("  processor time", "recall", "processor_milliseconds")
    for stage in {name: None for result in results for name in result["recall"]["stages"]}:
        row(f"  stage {stage}, mean", "recall", "stages", stage, "mean_milliseconds")
    for name in ("p50", "p95"):
        row(f"Remember {name}", "remember", "client", name)
    row("  floor p50", "remember", "floor", "total", "p50")
    row("    commit p50", "remember", "floor", "commit", "p50")
    row("  ratio of p50", "remember", "ratio_p50")
    row("  delivered after, p50", "remember", "delivered_after", "p50")
    row("acknowledged / s, 32 clients", "remember", "acknowledged_per_second")
    row("indexed / s", "remember", "indexed_per_second")
    row("bulk load indexed / s", "load", "indexed_per_second")
    row("first start, s", "start", "first_seconds")
    row("start with data, s", "start", "with_data_seconds")
    row("at rest after, s", "start", "at_rest_after_seconds")
    row("disk KiB / memory", "per_memory", "disk_kibibytes")
    row("RAM KiB / memory", "per_memory", "memory_kibibytes")
    print_table("Latency by memories in the store", columns, rows)


def _short(driver: str) -> str:
    return driver.replace(" + ", "\n").replace(", ", "\n")


def _at(result: dict[str, Any], path: Sequence[str]) -> object:
    value: Any = result
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def _options(arguments: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description="Latency by store size.")
    parser.add_argument("--sizes", default="1000,10000", help="memories in the store, comma-separated")
    parser.add_argument("--out", type=Path, required=True, help="report, JSON")
    parser.add_argument("--recalls", type=int, default=300, help="Recalls measured (default 300)")
    parser.add_argument("--remembers", type=int, default=300, help="Remembers measured (default 300; 0: none)")
    parser.add_argument("--seed", type=int, default=1, help="of the synthetic texts (default 1)")
    parser.add_argument(
        "--loading",
        type=Loading,
        choices=list(Loading),
        default=Loading.REAL,
        help="real: every text is embedded (default). prepared: through all tiers with vectors made from a sample's, "
        "for sizes that would take hours to embed. multiplied: a tenth as prepared, or "
        "the largest store in --store that divides it, and each memory several times",
    )
    parser.add_argument(
        "--store", type=Path, help="folder of stores that are kept, one for each size, and used again by the next run"
    )
    add_engine_options(parser)
    parser.add_argument("--beside-embedded", action="store_true", help="measure the embedded default in the same run")
    parsed = parser.parse_args(arguments)
    try:
        sizes = tuple(int(text.replace("_", "")) for text in parsed.sizes.split(","))
    except ValueError as error:
        raise BenchError(f"--sizes takes numbers separated by commas, not {parsed.sizes!r}") from error
    if min(sizes) < _SIZE_MIN:
        raise BenchError(f"--sizes start at {_SIZE_MIN}")
    choice = engine_choice(parsed.engines, processes=parsed.processes)
    choices = (EngineChoice(), choice) if parsed.beside_embedded else (choice,)
    if parsed.store and choices != (EngineChoice(),):
        raise BenchError("--store keeps embedded stores alone")
    if parsed.loading is Loading.MULTIPLIED and choices != (EngineChoice(),):
        raise BenchError("--loading multiplied makes embedded stores alone")
    return Options(
        sizes, parsed.out, parsed.recalls, parsed.remembers, parsed.seed, parsed.loading, parsed.store, choices
    )


if __name__ == "__main__":
    sys.exit(main())
