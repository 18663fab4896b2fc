"""A repository in memory: its graph, its ranking, and what is asked of both."""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeVar

from services.common.errors import NotFound
from services.semantic.code.config import CodeRankingSettings
from services.semantic.code.graph import CodeGraph
from services.semantic.code.manifests import is_manifest
from services.semantic.code.model import (
    Import,
    PackedFile,
    ParsedFile,
    Relation,
    RelationKind,
    Symbol,
    SymbolKind,
    SymbolMatch,
    SymbolRef,
)
from services.semantic.code.packing import unpack
from services.semantic.code.question import Question
from services.semantic.code.relevance import Match, RelevanceIndex

T = TypeVar("T")

_BYTES_OF_TERM: Final = 110
_BYTES_OF_REFERENCE: Final = 320
_BYTES_OF_SYMBOL: Final = 700
_SIMILAR_MIN: Final = 0.75
_SIMILAR_LOOKED_AT: Final = 400


class RepositoryIndex:
    """What a process holds of a repository."""

    def __init__(self, settings: CodeRankingSettings, *, epoch: int) -> None:
        """Empty, of an epoch of the repository."""
        self.epoch = epoch
        self.revision = -1
        self.graph = CodeGraph()
        self._relevance = RelevanceIndex(self.graph, settings)
        self.size_bytes = 0
        self._lock = threading.Lock()

    def locked(self, work: Callable[[RepositoryIndex], T]) -> T:
        """The result of `work`, which no other such work runs beside: a cancelled call may leave a thread behind."""
        with self._lock:
            return work(self)

    def put_all(self, files: Iterable[PackedFile]) -> None:
        """Add or replace files as they are stored."""
        for file in files:
            self.put(unpack(file))

    def put(self, file: ParsedFile) -> None:
        """Add a file, or replace it."""
        old = self.graph.file(file.path)
        if old is not None:
            self._relevance.drop(old)
            self.size_bytes -= _size(old)
        self.graph.put(file)
        if not is_manifest(file.path):  # they help to resolve references, and are no code
            self._relevance.put(file)
        self.size_bytes += _size(file)

    def drop(self, path: str) -> None:
        """Remove a file, if it is there."""
        file = self.graph.file(path)
        if file is None:
            return
        self.graph.drop(path)
        self._relevance.drop(file)
        self.size_bytes -= _size(file)

    def keep_only(self, paths: Collection[str]) -> None:
        """Remove all files but these."""
        wanted = set(paths)
        for path in [path for path in self.graph.files if path not in wanted]:
            self.drop(path)

    def node(self, name: str) -> tuple[str, SymbolRef | None]:
        """The file and symbol that an id names; a path names a file as a whole.

        Raises:
            NotFound: There is none.
        """
        if self.graph.file(name) is not None:
            return name, None
        path, _, qualified = name.partition("#")
        file = self.graph.file(path)
        if file is None or not qualified:
            raise NotFound("symbol or file", name)
        wanted, _, line = qualified.rpartition("@") if "@" in qualified else (qualified, "", "")
        first = self.graph.first_of(path, wanted or qualified)
        if first is not None and not line:
            return path, SymbolRef(path, first)
        for at, symbol in enumerate(file.symbols) if first is not None else ():
            if str(symbol.start_line) == line and symbol.qualified_name == wanted:
                return path, SymbolRef(path, at)
        raise NotFound("symbol or file", name)

    def symbol_id(self, ref: SymbolRef) -> str:
        """The id of a symbol; see CodeSymbol in code.proto."""
        file = self.graph.file(ref.path)
        assert file is not None
        symbol = file.symbols[ref.index]
        name = symbol.qualified_name
        suffix = "" if self.graph.first_of(ref.path, name) == ref.index else f"@{symbol.start_line}"
        return f"{ref.path}#{name}{suffix}"

    def symbols_of(self, path: str) -> Sequence[SymbolRef]:
        """What a file defines, by line.

        Raises:
            NotFound: There is no such file.
        """
        file = self.graph.file(path)
        if file is None:
            raise NotFound("file", path)
        order = sorted(range(len(file.symbols)), key=lambda at: (file.symbols[at].start_line, at))
        return [SymbolRef(path, at) for at in order]

    def imports_of(self, path: str) -> Sequence[tuple[Import, Sequence[str]]]:
        """What a file imports, by line, with the files of the repository that are meant.

        Raises:
            NotFound: There is no such file.
        """
        if self.graph.file(path) is None:
            raise NotFound("file", path)
        return self.graph.imports_of(path)

    def find(self, query: str, *, kind: SymbolKind | None, limit: int) -> Sequence[SymbolMatch]:
        """Definitions by name, the best first; ties by how often the name is referred to, then by path."""
        container, _, wanted = query.replace("::", ".").replace("#", ".").rpartition(".")
        wanted = wanted or query
        names = self.graph.names()
        scored = [(_likeness(wanted, name), name) for name in names.containing(wanted)]
        if not scored:  # comparing letter by letter takes long
            similar = names.similar(wanted, limit=limit, ratio_min=_SIMILAR_MIN)
            scored = [(0.5 * ratio, name) for ratio, name in similar]
        count = self.graph.reference_count
        best = heapq.nsmallest(_SIMILAR_LOOKED_AT, scored, key=lambda item: (-item[0], -count(item[1]), item[1]))
        found: list[SymbolMatch] = []
        before = 1.0
        for score, name in best:
            if score < before and sum(one.score > score for one in found) >= limit:
                break  # what follows fits less
            before = score
            for ref in self.graph.definitions(name):
                symbol = self.graph.symbol(ref)
                if kind is not None and symbol.kind is not kind:
                    continue
                fits = not container or symbol.container == container or symbol.container.endswith("." + container)
                found.append(SymbolMatch(ref, score if fits else 0.5 * score))
        return heapq.nsmallest(
            limit,
            found,
            key=lambda one: (-one.score, -count(self.graph.symbol(one.ref).name), one.ref.path, one.ref.index),
        )

    def relations(
        self, path: str, symbol: SymbolRef | None, *, is_incoming: bool, kinds: Collection[RelationKind], limit: int
    ) -> Sequence[Relation]:
        """Relations of a symbol or file, each pair of ends once; the most confident first, then by path and line."""
        walk = self.graph.incoming(path, symbol) if is_incoming else self.graph.outgoing(path, symbol)
        found: dict[tuple[object, ...], Relation] = {}
        for one in walk:
            if one.kind not in kinds:
                continue
            key = (one.from_path, one.from_symbol, one.to_path, one.to_symbol, one.kind)
            known = found.get(key)
            if known is None or (-one.confidence, one.line) < (-known.confidence, known.line):
                found[key] = one
            if len(found) >= limit:
                break
        return sorted(found.values(), key=_order)

    def path(
        self, start: tuple[str, SymbolRef | None], end: tuple[str, SymbolRef | None], *, hops_max: int, nodes_max: int
    ) -> Sequence[Relation]:
        """A shortest path of relations, by breadth first; empty where there is none."""
        if not self.graph.are_related(start[0], end[0]):
            return []
        came: dict[tuple[str, SymbolRef | None], Relation | None] = {start: None}
        queue = deque([(start, 0)])
        while queue and end not in came and len(came) < nodes_max:
            node, hops = queue.popleft()
            if hops >= hops_max:
                continue
            for one in self.graph.outgoing(*node):
                reached = (one.to_path, one.to_symbol)
                # What stands inside of a node is reached by its containment.
                if reached not in came and one.from_symbol == node[1]:
                    came[reached] = one
                    queue.append((reached, hops + 1))
        found: list[Relation] = []
        at = end
        while (step := came.get(at)) is not None:
            found.append(step)
            at = (step.from_path, step.from_symbol)
        return found[::-1]

    def search(self, question: Question, *, limit: int, folder: str, related: Collection[str]) -> Sequence[Match]:
        """The files that a question is about, the best first."""
        return self._relevance.search(question, limit=limit, folder=folder, related=related)

    def ranked_paths(self, question: Question | None) -> Sequence[tuple[str, Sequence[SymbolRef]]]:
        """Files for an outline, the most important first, with the definitions to show first."""
        if question is None:
            return [(path, ()) for path, _ in self._relevance.central()]
        found = self._relevance.search(question, limit=200)
        return [(one.path, one.symbols) for one in found]

    def file(self, path: str) -> ParsedFile:
        """A file that is there."""
        file = self.graph.file(path)
        assert file is not None
        return file

    def symbol(self, ref: SymbolRef) -> Symbol:
        """A symbol that is there."""
        return self.graph.symbol(ref)


def _order(one: Relation) -> tuple[object, ...]:
    index_from = one.from_symbol.index if one.from_symbol is not None else -1
    index_to = one.to_symbol.index if one.to_symbol is not None else -1
    return (-one.confidence, one.from_path, one.line, one.to_path, int(one.kind), index_from, index_to)


def _likeness(wanted: str, name: str) -> float:
    """How well a name fits one that is searched, in [0, 1]; 0: it does not contain it."""
    if name == wanted:
        return 1.0
    low, other = wanted.lower(), name.lower()
    if low == other:
        return 0.95
    bare, bare_other = low.replace("_", ""), other.replace("_", "")
    if bare and bare == bare_other:
        return 0.9
    share = len(low) / max(len(other), 1)
    if other.startswith(low):
        return 0.6 + 0.25 * share
    return 0.4 + 0.2 * share if low in other else 0.0


def _size(file: ParsedFile) -> int:
    terms = sum(len(chunk.terms) for chunk in file.chunks)
    return (
        terms * _BYTES_OF_TERM
        + len(file.references) * _BYTES_OF_REFERENCE
        + len(file.symbols) * _BYTES_OF_SYMBOL
        + 2_000
    )
