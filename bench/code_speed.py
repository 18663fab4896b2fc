"""Index, update and query times of a source tree, through the gateway on embedded engines.

    python -m bench.code_speed --tree FOLDER --out FILE

The folder is copied first: one of its files is edited.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench.resources import work_done
from mneme_client import Client
from mneme_client.code import CodeSymbol
from services.cli.commands.code import index_tree
from services.cli.local_stack import StackOptions, open_stack
from services.cli.source_tree import SourceTree

USER: Final = "bench"
NAME: Final = "tree"
_REPEATS: Final = 5
_SAMPLE: Final = 100
"""Files, evenly through the tree, of each of which one symbol is asked for."""
_EDITED: Final = (0.5, 0.9, 0.99, 1.0)
"""Files that are edited, by their place in the order of sizes."""


class Clock:
    """Wall-clock and processor time of calls."""

    def __init__(self, data: Path) -> None:
        """Counts this process, those it started, and the engine of a data folder."""
        self._data = data

    async def seconds(self, work: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
        """Wall-clock and processor seconds of a call, with what runs beside it."""
        before, begin = work_done(self._data).processor_seconds, time.perf_counter()
        await work()
        return time.perf_counter() - begin, work_done(self._data).processor_seconds - before

    async def milliseconds(self, calls: Iterable[Callable[[], Awaitable[Any]]]) -> dict[str, float]:
        """Quantiles of wall-clock times, and the mean processor time."""
        times: list[float] = []
        before = work_done(self._data).processor_seconds
        for call in calls:
            begin = time.perf_counter()
            await call()
            times.append(time.perf_counter() - begin)
        processor = (work_done(self._data).processor_seconds - before) / max(len(times), 1)
        ordered = sorted(times) or [0.0]
        found = {"p50": median(ordered), "p95": ordered[int(0.95 * (len(ordered) - 1))], "processor": processor}
        return {name: 1000 * value for name, value in found.items()}


async def _first(items: AsyncIterator[Any]) -> None:
    """The first page of a list."""
    async for _ in items:
        break


async def _sample(client: Client, tree: SourceTree) -> list[CodeSymbol]:
    """Symbols from all over the tree: of each chosen file its middle one."""
    paths = sorted(tree.files())
    found: list[CodeSymbol] = []
    for path in paths[:: max(len(paths) // _SAMPLE, 1)]:
        symbols = [one async for one in client.list_symbols(USER, NAME, path)]
        if symbols:
            found.append(symbols[len(symbols) // 2])
    return found


def _queries(client: Client, symbols: Sequence[CodeSymbol]) -> dict[str, list[Callable[[], Awaitable[Any]]]]:
    """Questions to the graph by their names."""
    ask = partial(client.search_symbols, USER, NAME)
    list_relations = partial(client.list_relations, USER, NAME)
    ids = [one.symbol_id for one in symbols]
    names = [one.name for one in symbols]
    pairs = list(itertools.pairwise(ids))

    def relations(node: str, *, incoming: bool) -> Callable[[], Awaitable[None]]:
        return lambda: _first(list_relations(node, incoming=incoming))

    return {
        "find": [partial(ask, name) for name in names],
        "find_part": [partial(ask, name[: len(name) // 2 + 1]) for name in names],
        "find_misspelled": [partial(ask, name[:-2] + name[-1] + name[-2]) for name in names if len(name) > 6],
        "callers": [relations(node, incoming=True) for node in ids],
        "callees": [relations(node, incoming=False) for node in ids],
        "file_dependents": [relations(one.path, incoming=True) for one in symbols],
        "path": [partial(client.get_code_path, USER, NAME, *pair) for pair in pairs],
        "relevant": [
            partial(client.search_code, USER, NAME, f"Where is {name.replace('_', ' ')} handled?") for name in names
        ],
        "relevant_with_lines": [
            partial(client.search_code, USER, NAME, f"What does {name} do?", limit=5, lines_max=60) for name in names
        ],
    }


async def _run(root: Path, data: Path) -> dict[str, Any]:
    options = StackOptions(data_dir=data, host="127.0.0.1", port=0, is_private=True)
    async with open_stack(options) as address, Client(address, default_timeout_seconds=300.0) as client:
        tree, clock = SourceTree(root), Clock(data)
        report: dict[str, Any] = {"load": os.getloadavg()[0]}
        wall, processor = await clock.seconds(lambda: index_tree(client, USER, NAME, tree))
        repository = await anext(client.list_repositories(USER))
        report |= {"index_seconds": wall, "index_processor_seconds": processor}
        report |= {"files": repository.file_count, "lines": repository.line_count}
        question = "Where is the configuration read, and what happens to values that are not valid?"
        first, _ = await clock.seconds(lambda: client.search_code(USER, NAME, question))
        report["first_query_seconds"] = first
        symbols = await _sample(client, tree)
        for name, calls in _queries(client, symbols).items():
            report[f"{name}_ms"] = await clock.milliseconds(calls)
        by_size = sorted(tree.files().values(), key=lambda file: (file.size_bytes, file.path))
        stored = {path: file.digest for path, file in tree.files().items()}
        for share in _EDITED:
            edited = by_size[int(share * (len(by_size) - 1))]
            edits, searches = [], []
            for number in range(_REPEATS):
                with (root / edited.path).open("a") as file:
                    file.write(f"\n# edited {number}\n")
                # As `mneme code index --watch` does: what is stored is known.
                edits.append(await clock.seconds(partial(index_tree, client, USER, NAME, tree, stored=stored)))
                stored = {one: file.digest for one, file in tree.files().items()}
                searches.append((await clock.seconds(lambda: client.search_code(USER, NAME, question)))[0])
            report[f"edit_of_{edited.size_bytes // 1024}_kib_ms"] = {
                "p50": 1000 * median(wall for wall, _ in edits),
                "processor": 1000 * median(processor for _, processor in edits),
                "next_query": 1000 * median(searches),
            }
    return report


def main() -> None:
    """Measure, print a table, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        shutil.copytree(arguments.tree, root, symlinks=True)
        report = asyncio.run(_run(root, Path(folder) / "data"))
    report["memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    arguments.out.write_text(json.dumps(report, indent=2) + "\n")
    table = Table("measure", "result", box=None)
    for name, value in report.items():
        of = value.items() if isinstance(value, dict) else [("", value)]
        table.add_row(name, "  ".join(f"{inner} {number:,.2f}".strip() for inner, number in of))
    Console().print(table)


if __name__ == "__main__":
    main()
