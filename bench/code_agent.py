"""Calls and tokens until an agent of a fixed policy has seen the file that an issue is about, with and without
PrepareContext, on the layout of data/code; docs/code.md says what the figures mean.

    python -m bench.code_agent --data FOLDER --out FILE

No language model takes part. Without memory the policy takes terms of the issue, identifiers before words, in their
order; for each it greps the Python files and reads the two files with most matches that it has not read, tests
last. With memory it calls PrepareContext first, reads the files that this names in their order, and then goes on as
without. How much of the definitions that the fix changed stands in the prepared lines is measured too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench.code import Case, cases_of
from mneme_client import Client
from mneme_client.context_window import PreparedContext
from mneme_client.enums import ContextSourceState
from services.cli.commands.code import index_tree
from services.cli.local_stack import StackOptions, open_stack
from services.cli.source_tree import SourceTree
from services.common.tokens import token_counter

USER: Final = "bench"
CALLS_MAX: Final = 60
"""After so many calls a run ends, and counts as it stands."""
_TERMS_MAX: Final = 20
_READ_OF_GREP: Final = 2
_GREP_LINES_MAX: Final = 50
_GREP_CHARS_MAX: Final = 200
_WHOLE: Final = 2_000
"""Lines of a file that one call reads, where it reads from the beginning."""
_WINDOW: Final = 200
"""Lines that one call reads around a place."""
_PLACE: Final = re.compile(r"^Code, as data: (.+?)(?::(\d+)-(\d+))?\n")
_LINES: Final = re.compile(r"^lines (\d+)-(\d+):$", re.MULTILINE)
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_TEST: Final = re.compile(r"(^|/)tests?(/|_)|(^|/)test_|conftest\.py$")
_STOP: Final = frozenset(
    """
    about after again also because been before being bug case code could does doing done error example expected
    file first following found from have here instead into issue like line make more most need only other output
    please python problem same should since some system than that their them then there these they thing this
    using version very want what when where which while will with without work works would your
    """.split()  # noqa: SIM905 - one list of words
)


@dataclass(slots=True)
class Run:
    """What one run has done."""

    gold: frozenset[str]
    calls: int = 0
    tokens: int = 0
    has_seen: bool = False
    read: set[str] = field(default_factory=set)

    def spend(self, texts: Sequence[str]) -> None:
        """One call with its arguments and its result."""
        self.calls += 1
        self.tokens += sum(map(token_counter().count_tokens, texts))

    @property
    def is_over(self) -> bool:
        """Whether the file has been seen, or the calls are spent."""
        return self.has_seen or self.calls >= CALLS_MAX


class Tree:
    """The Python files of a commit, as tools show them."""

    def __init__(self, root: Path) -> None:
        """Reads all of them."""
        self.lines = {
            path.relative_to(root).as_posix(): path.read_text("utf-8", errors="replace").splitlines()
            for path in sorted(root.rglob("*.py"))
            if path.is_file() and not path.is_symlink()
        }

    def grep(self, run: Run, term: str) -> dict[str, list[int]]:
        """Lines with a whole word, by file. One call, which shows the first matches."""
        pattern = re.compile(rf"(?<!\w){re.escape(term)}(?!\w)")
        found = {
            path: [at for at, line in enumerate(lines, 1) if pattern.search(line)] for path, lines in self.lines.items()
        }
        found = {path: lines for path, lines in found.items() if lines}
        shown = [f"{path}:{at}:{self.lines[path][at - 1][:_GREP_CHARS_MAX]}" for path, of in found.items() for at in of]
        run.spend([f'grep(pattern="{term}", include="*.py")', "\n".join(shown[:_GREP_LINES_MAX])])
        return found

    def read(self, run: Run, path: str, place: int, *, is_windowed: bool) -> None:
        """Lines of a file: one call."""
        begin = max(place - _WINDOW // 2, 1) if is_windowed else 1
        shown = self.lines.get(path, [])[begin - 1 : begin - 1 + (_WINDOW if is_windowed else _WHOLE)]
        run.spend(
            [f'read(path="{path}", offset={begin})', "\n".join(f"{at}\t{line}" for at, line in enumerate(shown, begin))]
        )
        run.read.add(path)
        run.has_seen |= path in run.gold


def terms_of(statement: str) -> list[str]:
    """What the policy searches for: identifiers by their form, then words, each in the order of the text."""
    found = list(dict.fromkeys(_IDENTIFIER.findall(statement)))
    last = [(name, name.rpartition(".")[2]) for name in found]
    named = [tail for name, tail in last if "_" in tail.strip("_") or re.search(r"[a-z][A-Z]", tail) or "." in name]
    words = [name for name in found if name.islower() and len(name) > 3 and name not in _STOP]
    return [term for term in dict.fromkeys((*named, *words)) if len(term) > 2][:_TERMS_MAX]


def search_and_read(run: Run, tree: Tree, statement: str, *, is_windowed: bool) -> None:
    """The policy without memory, until the file has been seen or nothing is left."""
    for term in terms_of(statement):
        if run.is_over:
            return
        found = tree.grep(run, term)
        ranked = sorted(found, key=lambda path: (bool(_TEST.search(path)), -len(found[path]), path))
        for path in [path for path in ranked if path not in run.read][:_READ_OF_GREP]:
            if not run.is_over:
                tree.read(run, path, found[path][0], is_windowed=is_windowed)


def places_of(made: PreparedContext) -> Iterator[tuple[str, int]]:
    """The files that a prepared context names, with the first line of their best part."""
    for message in made.messages:
        if (found := _PLACE.match(message.content)) is not None:
            yield found[1], int(found[2] or 1)


def shown_lines(made: PreparedContext) -> dict[str, set[int]]:
    """The lines of each file that a prepared context shows."""
    return {
        found[1]: {at for part in _LINES.finditer(message.content) for at in range(int(part[1]), int(part[2]) + 1)}
        for message in made.messages
        if (found := _PLACE.match(message.content)) is not None
    }


async def definitions_shown(client: Client, repository: str, case: Case, made: PreparedContext) -> list[float]:
    """Which share of its lines is shown, for each definition that the fix of an issue changed."""
    shown = shown_lines(made)
    found: list[float] = []
    for entity in case["gold_entities"]:
        path, _, name = entity.rpartition(":")
        spans = [
            set(range(one.start_line, one.end_line + 1))
            async for one in client.list_symbols(USER, repository, path)
            if one.qualified_name == name
        ]
        if spans:
            found.append(max(len(span & shown.get(path, set())) / len(span) for span in spans))
    return found


def policies(case: Case, tree: Tree, made: PreparedContext) -> dict[str, Run]:
    """All policies on one issue."""
    statement, gold = case["statement"], frozenset(case["gold_files"])
    runs: dict[str, Run] = {}
    for name, is_windowed in (("grep, read 2,000 lines", False), ("grep, read 200 lines", True)):
        run = runs[name] = Run(gold)
        search_and_read(run, tree, statement, is_windowed=is_windowed)
    places = list(places_of(made))
    prompt = [message.content for message in made.messages[:-1]]  # the issue itself is in every run
    for name, opens in (
        ("PrepareContext, its lines count as seen", False),
        ("PrepareContext, then read 200 lines", True),
    ):
        run = runs[name] = Run(gold)
        run.spend([f'prepare_context(repository="{case["repo"]}")', *prompt])
        if not opens:
            run.has_seen = any(path in gold for path, _ in places)
        for path, line in places:
            if not run.is_over:
                tree.read(run, path, line, is_windowed=True)
        search_and_read(run, tree, statement, is_windowed=True)
    return runs


async def _run(
    data: Path, folder: Path, cases: Sequence[Case], console: Console
) -> tuple[list[dict[str, Run]], list[float]]:
    options = StackOptions(data_dir=folder / "data", host="127.0.0.1", port=0, is_private=True)
    found: list[dict[str, Run]] = []
    shares: list[float] = []
    async with open_stack(options) as address, Client(address, default_timeout_seconds=120.0) as client:
        for case in sorted(cases, key=lambda case: (case["repo"], case["base_commit"])):
            root = await asyncio.to_thread(_checked_out, data, folder, case)
            repository = case["repo"].replace("/", "-")
            await index_tree(client, USER, repository, SourceTree(root))  # what the commits share is indexed once
            await client.search_code(USER, repository, case["statement"], limit=1)  # calls are counted, not their time
            made = await client.prepare_context(USER, case["id"], case["statement"], repository_id=repository)
            runs = await asyncio.to_thread(lambda: policies(case, Tree(root), made))  # noqa: B023 - awaited here
            if made.code_state is not ContextSourceState.FOUND:
                raise RuntimeError(f"{case['id']}: no code was found: {made.code_state.name}")
            found.append(runs)
            shares += await definitions_shown(client, repository, case, made)
            counts = ", ".join(f"{run.calls} calls {run.tokens} tokens" for run in runs.values())
            console.print(f"{case['id']}: {counts}", highlight=False)
    return found, shares


def _checked_out(data: Path, folder: Path, case: Case) -> Path:
    identity: str = case["id"]
    name = case["repo"].replace("/", "+")
    bare, root = folder / f"{name}.git", folder / "trees" / identity
    if not bare.exists():
        subprocess.run(["tar", "xf", str(data / f"{name}.tar"), "-C", str(folder)], check=True)
    root.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(bare), "archive", case["base_commit"]], capture_output=True, check=True)
    subprocess.run(["tar", "x", "-C", str(root)], input=archive.stdout, check=True)
    return root


def report_of(found: Sequence[Mapping[str, Run]], shares: Sequence[float]) -> dict[str, Any]:
    """Calls and tokens of each policy, and how many times fewer they are than those of the first two."""
    report: dict[str, Any] = {"issues": len(found)}
    report["changed_definitions"] = {
        "count": len(shares),
        "shown": mean(share > 0.0 for share in shares),
        "shown_whole": mean(share == 1.0 for share in shares),
        "lines_shown": mean(shares),
    }
    for name in found[0]:
        runs = [runs[name] for runs in found]
        report[name] = {
            "seen": mean(run.has_seen for run in runs),
            "calls_mean": mean(run.calls for run in runs),
            "calls_p50": median(run.calls for run in runs),
            "tokens_mean": mean(run.tokens for run in runs),
            "tokens_p50": median(run.tokens for run in runs),
            "calls_histogram": dict(sorted(Counter(run.calls for run in runs).items())),
        }
    without, with_memory = list(found[0])[:2], list(found[0])[2:]
    report["times_fewer"] = {
        f"{name} / {other}": {
            measure: report[other][measure] / report[name][measure]
            for measure in ("calls_mean", "calls_p50", "tokens_mean", "tokens_p50")
        }
        for name in with_memory
        for other in without
    }
    return report


def main() -> None:
    """Measure, print a table, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder:
        cases = cases_of(arguments.data, "issues.jsonl")
        found, shares = asyncio.run(_run(arguments.data, Path(folder), cases, console))
    report = report_of(found, shares) | {"load": os.getloadavg()[0]}
    arguments.out.write_text(json.dumps(report, indent=2) + "\n")
    table = Table("policy", "seen", "calls mean", "p50", "tokens mean", "p50", box=None)
    for name in found[0]:
        one = report[name]
        table.add_row(
            name,
            f"{one['seen']:.2f}",
            f"{one['calls_mean']:.1f}",
            f"{one['calls_p50']:.0f}",
            f"{one['tokens_mean']:,.0f}",
            f"{one['tokens_p50']:,.0f}",
        )
    Console().print(table)
    print(json.dumps({name: report[name] for name in ("times_fewer", "changed_definitions")}, indent=2))


if __name__ == "__main__":
    main()
