"""Which files are found for issues and questions, on the layout of data/code; docs/code.md says what the figures mean.

    python -m bench.code --data FOLDER --out FILE [--ranked FILE]

Each line of the ranked file is `{"id": ..., "ranked": [paths, best first]}`, so that anyone can score the run again.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import os
import resource
import subprocess
import tarfile
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean, median
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from services.semantic.code.config import CodeLimits, CodeRankingSettings
from services.semantic.code.exclusion import content_refusal, path_refusal
from services.semantic.code.model import ParsedFile
from services.semantic.code.parser import parse_file
from services.semantic.code.question import question_of
from services.semantic.code.repository import RepositoryIndex

Case = Mapping[str, Any]
_LIMIT: Final = 50
_CUTS: Final = (1, 3, 5)


class Trees:
    """The trees of bare repositories in tar files, parsed. A file that several commits share is parsed once."""

    def __init__(self, data: Path, pool: ProcessPoolExecutor, folder: Path) -> None:
        """Unpack what is asked for from `data` into `folder`, and parse it in `pool`."""
        self._data, self._pool, self._folder = data, pool, folder
        self._parsed: dict[tuple[str, str], ParsedFile] = {}

    def files(self, repository: str, commit: str) -> list[ParsedFile]:
        """The files of a commit that would be indexed."""
        name = repository.replace("/", "+")
        bare = self._folder / f"{name}.git"
        if not bare.exists():
            subprocess.run(["tar", "xf", str(self._data / f"{name}.tar"), "-C", str(self._folder)], check=True)
        archive = subprocess.run(["git", "-C", str(bare), "archive", commit], capture_output=True, check=True).stdout
        keys: list[tuple[str, str]] = []
        todo: list[tuple[str, bytes]] = []
        with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
            for path, content in _sources(tree):
                key = (path, hashlib.sha256(content).hexdigest())
                keys.append(key)
                if key not in self._parsed:
                    todo.append((path, content))
        for file in self._pool.map(parse_file, *zip(*todo, strict=True), chunksize=8) if todo else ():
            self._parsed[file.path, file.digest] = file
        return [self._parsed[key] for key in keys]


def _sources(tree: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    for member in tree:
        if not member.isfile() or path_refusal(member.name):
            continue
        stream = tree.extractfile(member)
        content = stream.read() if stream is not None else b""
        if not content_refusal(content, bytes_max=CodeLimits().file_bytes_max):
            yield member.name, content


def ndcg(ranked: Sequence[str], gold: set[str], *, cut: int = 10) -> float:
    """Normalised discounted cumulative gain of files that are relevant or not (Jaervelin and Kekaelaeinen 2002)."""
    gain = sum(1 / math.log2(place + 2) for place, path in enumerate(ranked[:cut]) if path in gold)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(cut, len(gold))))
    return gain / ideal if ideal else 0.0


def cases_of(data: Path, name: str) -> list[Case]:
    """The cases of a file of the data; none where it is not there."""
    file = data / name
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()] if file.exists() else []


def main() -> None:
    """Run both parts, print a table, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ranked", type=Path)
    arguments = parser.parse_args()
    issues, questions = cases_of(arguments.data, "issues.jsonl"), cases_of(arguments.data, "search.jsonl")
    asked: dict[tuple[str, str, str], list[Case]] = defaultdict(list)
    for case in issues:
        asked[case["repo"], case["base_commit"], ""].append(case)
    for case in questions:
        asked[case["repo"], case["commit"], case.get("root") or ""].append(case)
    ranked: dict[str, list[str]] = {}
    seconds: list[float] = []
    lines = 0
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        trees = Trees(arguments.data, pool, Path(folder))
        for (repository, commit, root), cases in sorted(asked.items()):
            index = RepositoryIndex(CodeRankingSettings(), epoch=0)
            inside = "" if root in ("", ".") else root.rstrip("/") + "/"
            files = [file for file in trees.files(repository, commit) if file.path.startswith(inside)]
            lines += sum(file.line_count for file in files)
            for file in files:
                index.put(file)
            console.print(f"{repository} {commit[:8]}: {len(files)} files, {len(cases)} cases", highlight=False)
            for case in cases:
                question = question_of(case.get("statement") or case["query"])
                index.search(question, limit=_LIMIT, folder="", related=())  # the graph around it is looked up once
                begin = time.process_time()
                found = index.search(question, limit=_LIMIT, folder="", related=())
                seconds.append(time.process_time() - begin)
                ranked[case["id"]] = [match.path for match in found]
    report = _report(issues, questions, ranked)
    report |= {
        "cases": len(ranked),
        "lines": lines,
        "search_cpu_ms_p50": round(1000 * median(seconds), 2) if seconds else 0.0,
        "load": os.getloadavg()[0],
        "memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    arguments.out.write_text(json.dumps(report, indent=2) + "\n")
    if arguments.ranked:
        rows = (json.dumps({"id": name, "ranked": paths}) for name, paths in ranked.items())
        arguments.ranked.write_text("\n".join(rows) + "\n")
    table = Table("measure", "result", box=None)
    for name, value in report.items():
        table.add_row(name, f"{value:.3f}" if isinstance(value, float) else str(value))
    Console().print(table)


def _report(issues: Sequence[Case], questions: Sequence[Case], ranked: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for cut in _CUTS if issues else ():
        hits = [bool(set(case["gold_files"]) & set(ranked[case["id"]][:cut])) for case in issues]
        report[f"issue_file_accuracy@{cut}"] = mean(hits)
    by_language: dict[str, list[float]] = defaultdict(list)
    for case in questions:
        by_language[case["language"]].append(ndcg(ranked[case["id"]], set(case["gold_files"])))
    if questions:
        report["question_ndcg@10"] = mean(score for scores in by_language.values() for score in scores)
    return report | {f"question_ndcg@10_{name}": mean(scores) for name, scores in sorted(by_language.items())}


if __name__ == "__main__":
    main()
