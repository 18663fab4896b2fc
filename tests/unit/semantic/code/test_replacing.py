"""An index that files were added to, replaced in and removed from is the index of the files that are left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.semantic.code.config import CodeRankingSettings
from services.semantic.code.model import RelationKind
from services.semantic.code.parser import parse_file
from services.semantic.code.question import question_of
from services.semantic.code.repository import RepositoryIndex
from tests.support.examples import share_of

_PATHS = ("shop/tax.py", "shop/cart.py", "shop/util.py", "app.py", "lib/A.cs", "lib/B.cs")
_NAMES = ("levy", "total", "walk", "Cart")


@st.composite
def sources(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file that defines, imports and calls a few names."""
    path = draw(st.sampled_from(_PATHS))
    names = st.lists(st.sampled_from(_NAMES), max_size=2, unique=True)
    if path.endswith(".cs"):
        space = draw(st.sampled_from(["Shop", "Other"]))
        used = f"using {draw(st.sampled_from(['Shop', 'Other']))};\n"
        methods = "".join(f"  void {name}() {{ {draw(st.sampled_from(_NAMES))}(); }}\n" for name in draw(names))
        return path, f"{used}namespace {space} {{\nclass C{path[4]} {{\n{methods}}}\n}}\n".encode()
    imported = "".join(f"from shop.{draw(st.sampled_from(['tax', 'cart']))} import {name}\n" for name in draw(names))
    defined = "".join(f"def {name}():\n    return {draw(st.sampled_from(_NAMES))}()\n\n" for name in draw(names))
    return path, f"{imported}\n{defined}value = {draw(st.sampled_from(_NAMES))}()\n".encode()


def _index(files: Mapping[str, bytes]) -> RepositoryIndex:
    index = RepositoryIndex(CodeRankingSettings(), epoch=0)
    for path, content in sorted(files.items()):
        index.put(parse_file(path, content))
    return index


def _answers(index: RepositoryIndex, score: Callable[[float], Any] = float) -> list[Any]:
    """What an index answers to questions about everything in it, with each score in the form of `score`."""
    found: list[Any] = [(index.graph.files.keys(), index.size_bytes)]
    for path in sorted(index.graph.files):
        found.append(sorted(index.graph.neighbours(path).items()))
        found.extend(
            index.relations(path, None, is_incoming=is_incoming, kinds=set(RelationKind), limit=100)
            for is_incoming in (True, False)
        )
    for name in _NAMES:
        found.append(index.find(name, kind=None, limit=10))
        matches = index.search(question_of(f"Where is {name} used?"), limit=10, folder="", related=())
        found.append([(one.path, score(one.score), one.symbols) for one in matches])
    return found


_CHANGES = st.lists(sources() | st.sampled_from(_PATHS), min_size=1, max_size=12)


@given(_CHANGES)
@settings(max_examples=share_of(60), deadline=None)
def test_spec_3_11_a_changed_index_answers_like_a_new_one(changes: list[Any]) -> None:
    files: dict[str, bytes] = {}
    index = _index({})
    for change in changes:
        if isinstance(change, str):
            files.pop(change, None)
            index.drop(change)
        else:
            path, content = change
            files[path] = content
            index.put(parse_file(path, content))
        # Sums of the same parts in another order differ in their last digits.
        assert _answers(index) == _answers(_index(files), lambda expected: pytest.approx(expected, abs=1e-6))
