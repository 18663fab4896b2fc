"""Calls of a source tree as the code graph resolves them, compared with jedi or with TypeScript's compiler.

    python -m bench.code_calls --tree FOLDER [--sites 500]                         # Python; needs jedi
    python -m bench.code_calls --tree FOLDER --typescript node_modules/typescript # needs Node and that npm package

The other one counts as right where it finds a function or class inside the tree. Where it finds none, ours may be
right or wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from services.semantic.code.graph import CodeGraph
from services.semantic.code.model import Reference, ReferenceKind
from services.semantic.code.parser import parse_file

_DECORATORS_MAX = 6
"""Lines from a definition's first decorator, which is our first line, to its name, which is jedi's."""

Call: TypeAlias = tuple[str, Reference]
"""A call site: the file's path, and the reference in it."""
Places: TypeAlias = set[tuple[str, int]] | None
"""Paths and lines, from 1, of what is called; None where the name is not found in the line."""


def _jedi_places(root: Path, calls: Sequence[Call]) -> list[Places]:
    """Where jedi finds what is called."""
    import jedi  # type: ignore[import-not-found]

    project = jedi.Project(str(root))
    return [_jedi_place(root, project, path, call) for path, call in calls]


def _jedi_place(root: Path, project: object, path: str, call: Reference) -> Places:
    import jedi

    text = (root / path).read_text()
    found = re.search(rf"(?<!\w){re.escape(call.name)}\b", text.split("\n")[call.line - 1])
    if found is None:
        return None
    script = jedi.Script(text, path=str(root / path), project=project)
    places = set()
    for one in script.goto(call.line, found.start(), follow_imports=True):
        if one.module_path is not None and one.type in {"function", "class"}:
            module = Path(one.module_path)
            if module.is_relative_to(root):
                places.add((module.relative_to(root).as_posix(), one.line))
    return places


def _typescript_places(package: Path) -> Callable[[Path, Sequence[Call]], list[Places]]:
    """Where the compiler of a folder of npm's `typescript` finds what is called."""

    def places(root: Path, calls: Sequence[Call]) -> list[Places]:
        sites = [{"path": path, "line": call.line, "name": call.name} for path, call in calls]
        command = ["node", str(Path(__file__).with_name("code_calls.mjs")), str(package.resolve()), str(root)]
        found = subprocess.run(command, input=json.dumps(sites), capture_output=True, check=True, text=True)
        return [None if one is None else {(path, line) for path, line in one} for one in json.loads(found.stdout)]

    return places


def main() -> None:
    """Compare a random sample of call sites, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--sites", type=int, default=500)
    parser.add_argument("--typescript", type=Path, metavar="PACKAGE", help="folder of npm's `typescript`")
    parser.add_argument("--show", action="store_true", help="print what differs")
    arguments = parser.parse_args()
    root = arguments.tree.resolve()
    suffixes = {".py"} if arguments.typescript is None else {".ts", ".tsx"}
    locate = _jedi_places if arguments.typescript is None else _typescript_places(arguments.typescript)
    graph = CodeGraph()
    for file in sorted(root.rglob("*")):
        if file.suffix in suffixes and "node_modules" not in file.parts:
            graph.put(parse_file(file.relative_to(root).as_posix(), file.read_bytes()))
    calls = [(p, one) for p, f in graph.files.items() for one in f.references if one.kind is ReferenceKind.CALLS]
    random.Random(1).shuffle(calls)
    sample = calls[: arguments.sites]
    counts: Counter[str] = Counter()
    for (path, call), places in zip(sample, locate(root, sample), strict=True):
        if places is None:
            continue
        ours = [(target.ref.path, graph.symbol(target.ref).start_line) for target in graph.resolve(path, call)]
        is_same = any(p == q and b <= line <= b + _DECORATORS_MAX for p, b in ours for q, line in places)
        if places:
            verdict = "same" if is_same else "different" if ours else "missed"
        else:
            verdict = "ours alone" if ours else "neither"
        counts[verdict] += 1
        if arguments.show and verdict not in {"same", "neither"}:
            print(verdict, f"{path}:{call.line}", call.name, "theirs", sorted(places), "ours", ours)
    same, different, missed = counts["same"], counts["different"], counts["missed"]
    print(dict(counts))
    print(f"precision where the other knows: {same / max(same + different, 1):.3f}")
    print(f"precision, ours alone counted as wrong: {same / max(same + different + counts['ours alone'], 1):.3f}")
    print(f"recall: {same / max(same + different + missed, 1):.3f}")


if __name__ == "__main__":
    main()
