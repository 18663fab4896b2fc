"""Calls of a source tree as the code graph resolves them, compared with jedi or with TypeScript's compiler.

    python -m bench.code_calls --tree FOLDER [--sites 500]                         # Python; needs jedi
    python -m bench.code_calls --tree FOLDER --typescript node_modules/typescript # needs Node and that npm package

The other one counts as right where it finds a function or class inside the tree. Where it finds none, ours may be
right or wrong. Where TypeScript's compiler finds a parameter or a variable inside of a function, ours is right if it
finds nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Final, TypeAlias

from services.semantic.code.graph import CodeGraph
from services.semantic.code.model import Reference, ReferenceKind
from services.semantic.code.parser import parse_file

_DECORATORS_MAX: Final = 6
"""Lines from a definition's first decorator, which is our first line, to its name, which is jedi's."""

_HOLDER: Final = ("", 0)
"""A parameter or a local variable, which is no definition of the graph."""

Site: TypeAlias = tuple[str, int, str]
"""A call: the file's path, the line from 1, and the name that is called."""
Places: TypeAlias = set[tuple[str, int]]
"""Paths and lines of what is called."""


def _jedi_calls(root: Path, graph: CodeGraph, sites: int) -> Iterator[tuple[Site, Places]]:
    """A sample of the graph's calls, with where jedi finds what is called."""
    import jedi  # type: ignore[import-not-found]

    calls = [(p, one) for p, f in graph.files.items() for one in f.references if one.kind is ReferenceKind.CALLS]
    random.Random(1).shuffle(calls)
    project = jedi.Project(str(root))
    for path, call in calls[:sites]:
        places = _jedi_place(root, project, path, call)
        if places is not None:
            yield (path, call.line, call.name), places


def _jedi_place(root: Path, project: object, path: str, call: Reference) -> Places | None:
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


def _typescript_calls(root: Path, package: Path, known: Container[Site], sites: int) -> Iterator[tuple[Site, Places]]:
    """A sample of all calls, with where the compiler of a folder of npm's `typescript` finds what is called."""
    command = ["node", str(Path(__file__).with_name("code_calls.mjs")), str(package.resolve()), str(root)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    random.Random(1).shuffle(found)
    for one in found[:sites]:
        path, name = one["path"], one["name"]
        named = [(path, one["line"], name), (path, one["start"], name), (path, one["line"], name.removeprefix("#"))]
        site = next((site for site in named if site in known), named[0])
        yield site, {(path, line) for path, line in one["places"]}


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
    graph = CodeGraph()
    for file in sorted(root.rglob("*")):
        if file.suffix in suffixes and "node_modules" not in file.parts:
            graph.put(parse_file(file.relative_to(root).as_posix(), file.read_bytes()))
    at_site: dict[Site, list[Reference]] = defaultdict(list)
    for path, parsed in graph.files.items():
        for one in parsed.references:
            if one.kind is ReferenceKind.CALLS:
                at_site[path, one.line, one.name].append(one)
    if arguments.typescript is None:
        sample = _jedi_calls(root, graph, arguments.sites)
    else:
        sample = _typescript_calls(root, arguments.typescript, at_site, arguments.sites)
    more = _DECORATORS_MAX if arguments.typescript is None else 0
    counts: Counter[str] = Counter()
    for site, places in sample:
        targets = [target for one in at_site[site] for target in graph.resolve(site[0], one)]
        ours = [(target.ref.path, graph.symbol(target.ref).start_line) for target in targets]
        is_same = any(p == q and b <= line <= b + more for p, b in ours for q, line in places)
        if places == {_HOLDER}:
            verdict = "different" if ours else "neither"
        elif places:
            verdict = "same" if is_same else "different" if ours else "missed"
        else:
            verdict = "ours alone" if ours else "neither"
        counts[verdict] += 1
        if arguments.show and verdict not in {"same", "neither"}:
            print(verdict, f"{site[0]}:{site[1]}", site[2], "theirs", sorted(places), "ours", ours)
    same, different, missed = counts["same"], counts["different"], counts["missed"]
    print(dict(counts))
    print(f"precision where the other knows: {same / max(same + different, 1):.3f}")
    print(f"precision, ours alone counted as wrong: {same / max(same + different + counts['ours alone'], 1):.3f}")
    print(f"recall: {same / max(same + different + missed, 1):.3f}")


if __name__ == "__main__":
    main()
