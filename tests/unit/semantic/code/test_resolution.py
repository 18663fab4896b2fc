"""Names behind many imports are found, and each file is looked at once."""

from __future__ import annotations

from services.semantic.code.config import CodeRankingSettings
from services.semantic.code.model import RelationKind
from services.semantic.code.parser import parse_file
from services.semantic.code.repository import RepositoryIndex

_CALLS = {RelationKind.CALLS}


def _index(files: dict[str, str]) -> RepositoryIndex:
    index = RepositoryIndex(CodeRankingSettings(), epoch=0)
    for path, text in files.items():
        index.put(parse_file(path, text.encode()))
    return index


def test_spec_3_11_files_that_all_import_each_other_are_resolved_at_once() -> None:
    # Every way through twenty files of depth five would be three million.
    names = [f"part{number}" for number in range(20)]
    imports = "".join(f'require_relative "{name}"\n' for name in names)
    files = {f"lib/{name}.rb": imports for name in names}
    files["lib/last.rb"] = "def wanted\nend\n"
    files["lib/part19.rb"] += 'require_relative "last"\n'
    files["lib/app.rb"] = imports + "".join(f"def run{number}\n  wanted()\nend\n" for number in range(50))
    index = _index(files)
    found = index.relations(*index.node("lib/last.rb#wanted"), is_incoming=True, kinds=_CALLS, limit=100)
    assert len(found) == 50
    assert {one.confidence for one in found} == {0.9}


def test_spec_3_11_a_name_reached_by_a_longer_way_first_is_found() -> None:
    # By way of b, g is too far away. By the other way it is near enough.
    ways = {"a": ["b", "d"], "b": ["c"], "c": ["d"], "d": ["e"], "e": ["f"], "f": ["g"], "g": []}
    files = {f"{name}.py": "".join(f"from {other} import *\n" for other in of) for name, of in ways.items()}
    files["g.py"] = "def wanted():\n    pass\n"
    files["a.py"] += "def run():\n    wanted()\n"
    index = _index(files)
    [call] = index.relations(*index.node("g.py#wanted"), is_incoming=True, kinds=_CALLS, limit=9)
    assert (call.from_path, call.confidence) == ("a.py", 0.75)


def test_spec_3_11_no_path_leads_from_one_language_to_another() -> None:
    index = _index(
        {"a.py": "def run():\n    total()\n", "b.go": "package b\nfunc total() {}\n", "c.py": "def total(): ..."}
    )
    start = index.node("a.py#run")
    assert index.path(start, index.node("b.go#total"), hops_max=6, nodes_max=100) == []
    assert len(index.path(start, index.node("c.py#total"), hops_max=6, nodes_max=100)) == 1
