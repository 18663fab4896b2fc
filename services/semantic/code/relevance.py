"""Which files and symbols a question is about: BM25, names, paths, and personalised PageRank over the graph."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from services.semantic.code.config import CodeRankingSettings
from services.semantic.code.graph import CodeGraph
from services.semantic.code.model import ParsedFile, SymbolKind, SymbolRef
from services.semantic.code.postings import Postings
from services.semantic.code.question import Question
from services.semantic.code.terms import count_terms, terms_of_word

Floats = NDArray[np.float64]

_TEST: Final = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|fixtures?|testdata|mocks?)(/|$)"
    r"|(^|/)(test_[^/]*|[^/]*([_.-](test|spec|tests)|Tests?|Spec)\.\w+|conftest\.py)$"
)
_ASIDE: Final = re.compile(
    r"(^|/)(docs?|examples?|samples?|benchmarks?|bench|demos?|tutorials?|scripts|tools|\.github|vendor|third_party|legacy|"
    r"deprecated|compat)(/|$)|\.d\.ts$"
)
_PASSING_ON: Final = re.compile(
    r"(^|/)(__init__\.pyi?|index\.[cm]?[jt]sx?|mod\.rs|lib\.rs|setup\.py|conf\.py|package-info\.java)$"
)
_SYMBOLS_SHOWN: Final = 5
_ALIAS: Final = "type "
"""How the signature of an alias of a type begins: what it names is defined elsewhere."""
_TERMS_SHOWN: Final = 8
_STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What the score of a file is made of; see CodeScore in code.proto."""

    body: float
    names: float
    definitions: float
    paths: float
    graph: float
    factor: float


@dataclass(frozen=True, slots=True)
class Match:
    """A file that a question is about."""

    path: str
    score: float
    parts: ScoreParts
    start_line: int
    end_line: int
    symbols: Sequence[SymbolRef]
    terms: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Arrays:
    """What is known of all files by number; that of chunks is by chunk."""

    chunk_files: NDArray[np.int64]
    alive: NDArray[np.bool_]
    factor: Floats
    is_test: NDArray[np.bool_]


@dataclass(slots=True)
class _Document:
    """A file in the index."""

    number: int
    first_chunk: int
    names: Mapping[str, float]
    factor: float
    is_test: bool


class RelevanceIndex:
    """Ranks the files of a graph. Not safe for several threads at once."""

    def __init__(self, graph: CodeGraph, settings: CodeRankingSettings) -> None:
        """Empty. Each file is put here after it was put into `graph`."""
        self._graph = graph
        self._settings = settings
        self._documents: dict[str, _Document] = {}
        self._clear()

    def _clear(self) -> None:
        self._documents.clear()
        self._bodies = Postings(k1=self._settings.body_k1, b=self._settings.body_b)
        self._names = Postings(k1=self._settings.names_k1, b=self._settings.names_b)
        self._paths: list[str | None] = []
        self._chunk_files: list[int] = []
        self._arrays: _Arrays | None = None
        self._by_name: dict[str, set[str]] = defaultdict(set)
        self._by_stem: dict[str, set[str]] = defaultdict(set)

    def put(self, file: ParsedFile) -> None:
        """Add or replace a file. Where it was replaced, `drop` it with its earlier state first."""
        number = len(self._paths)
        self._paths.append(file.path)
        names = self._name_terms(file)
        self._names.add(number, names)
        is_test = bool(_TEST.search(file.path))
        self._documents[file.path] = _Document(
            number, len(self._chunk_files), names, self._factor(file, is_test=is_test), is_test
        )
        for chunk in file.chunks:
            self._bodies.add(len(self._chunk_files), chunk.terms)
            self._chunk_files.append(number)
        self._arrays = None
        name = posixpath.basename(file.path)
        self._by_name[name].add(file.path)
        self._by_stem[posixpath.splitext(name)[0]].add(file.path)

    def drop(self, file: ParsedFile) -> None:
        """Remove a file, if it is there, by the state in which it was put."""
        document = self._documents.pop(file.path, None)
        if document is None:
            return
        self._paths[document.number] = None
        self._names.remove(document.number, document.names)
        for at, chunk in enumerate(file.chunks):
            self._bodies.remove(document.first_chunk + at, chunk.terms)
        self._arrays = None
        name = posixpath.basename(file.path)
        self._by_name[name].discard(file.path)
        self._by_stem[posixpath.splitext(name)[0]].discard(file.path)
        if len(self._paths) > 2 * len(self._documents) + self._settings.removed_files_max:
            files = [self._graph.file(path) for path in self._documents if path != file.path]
            self._clear()
            for one in files:
                if one is not None:
                    self.put(one)

    def search(self, question: Question, *, limit: int, folder: str = "", related: Collection[str] = ()) -> list[Match]:
        """The files that a question is about, the best first; ties by path."""
        size = len(self._paths)
        if not self._documents:
            return []
        arrays = self._cached_arrays()
        alive = arrays.alive
        if folder:
            alive = alive & np.array([path is not None and _is_inside(path, folder) for path in self._paths])
        chunks = self._bodies.scores(question.terms, len(self._chunk_files))
        body = np.zeros(size)
        np.maximum.at(body, arrays.chunk_files, chunks.astype(np.float64))
        body = _scaled(np.where(alive, body, 0.0))
        names = _scaled(np.where(alive, self._names.scores(question.terms, size).astype(np.float64), 0.0))
        definitions, paths = self._named(question, size), self._mentioned(question, size)
        factor = np.where(arrays.is_test, 1.0, arrays.factor) if question.is_about_tests else arrays.factor
        chosen = self._settings
        base = chosen.body_weight * body + chosen.names_weight * names
        lexical = base * (1.0 + chosen.definitions_weight * np.minimum(definitions, chosen.definitions_max))
        lexical = (lexical + chosen.paths_weight * paths) * factor * alive
        near = self._spread(lexical, related) * factor * alive
        score = lexical + chosen.graph_weight * _scaled(near) * max(float(lexical.max()), 1e-9)
        least = np.partition(score, -limit)[-limit] if limit < size else 0.0
        found = [int(number) for number in np.flatnonzero((score > 0.0) & (score >= least))]
        found.sort(key=lambda number: (-round(float(score[number]), 6), self._paths[number] or ""))
        parts = np.stack([body, names, definitions, paths, _scaled(near), factor])
        return [
            self._match(n, float(score[n]), ScoreParts(*(float(x) for x in parts[:, n])), question, chunks)
            for n in found[:limit]
        ]

    def central(self) -> list[tuple[str, float]]:
        """All files by PageRank, the most referred to first; ties by path. Tests and examples count less."""
        seed = np.array([0.0 if path is None else self._documents[path].factor for path in self._paths])
        near = self._spread(seed, (), count=len(self._paths))
        ranked = [(path, float(near[n]) * self._documents[path].factor) for n, path in enumerate(self._paths) if path]
        return sorted(ranked, key=lambda item: (-round(item[1], 9), item[0]))

    def _name_terms(self, file: ParsedFile) -> Mapping[str, float]:
        chosen = self._settings
        found: dict[str, float] = defaultdict(float)
        *folders, name = file.path.split("/")
        for term in count_terms(posixpath.splitext(name)[0]):
            found[term] += chosen.stem_weight
        for folder in folders:
            for term in count_terms(folder):
                found[term] += 1.0
        for symbol in file.symbols:
            is_minor = symbol.kind is SymbolKind.VARIABLE or symbol.signature.startswith(_ALIAS)
            weight = chosen.variable_weight if is_minor else 1.0
            for term in terms_of_word(symbol.name):
                found[term] += weight
        for term, count in count_terms(file.summary).items():
            found[term] += count
        return found

    def _factor(self, file: ParsedFile, *, is_test: bool) -> float:
        chosen = self._settings
        factor = chosen.test_factor if is_test else chosen.aside_factor if _ASIDE.search(file.path) else 1.0
        return factor * (chosen.passing_on_factor if _PASSING_ON.search(file.path) else 1.0)

    def _cached_arrays(self) -> _Arrays:
        if self._arrays is None:
            documents = [None if path is None else self._documents[path] for path in self._paths]
            self._arrays = _Arrays(
                chunk_files=np.array(self._chunk_files, dtype=np.int64),
                alive=np.array([one is not None for one in documents]),
                factor=np.array([0.0 if one is None else one.factor for one in documents]),
                is_test=np.array([one is not None and one.is_test for one in documents]),
            )
        return self._arrays

    def _named(self, question: Question, size: int) -> Floats:
        """How much each file defines what the question names; a name that many files define says little."""
        found = np.zeros(size)
        for name, weight in question.names.items():
            defining = {ref.path for ref in self._graph.definitions(name)}
            for path in defining:
                found[self._documents[path].number] += weight / len(defining)
        return found

    def _mentioned(self, question: Question, size: int) -> Floats:
        """How surely the question names each file."""
        found = np.zeros(size)
        for named in question.paths:
            for path in self._by_name.get(posixpath.basename(named), ()):
                if path == named or path.endswith("/" + named) or named.endswith("/" + path):
                    number = self._documents[path].number
                    certainty = 1.0 if "/" in named or path == named else self._settings.bare_path_certainty
                    found[number] = max(found[number], certainty)
        for module in question.modules:
            parts = module.split("/")
            for end in range(len(parts), 1, -1):
                tail = "/".join(parts[:end])
                stems = [(path, posixpath.splitext(path)[0]) for path in self._by_stem.get(parts[end - 1], ())]
                hits = [path for path, stem in stems if stem == tail or stem.endswith("/" + tail)]
                for path in hits:
                    number = self._documents[path].number
                    found[number] = max(found[number], self._settings.module_certainty)
                if hits:
                    break
        return found

    def _spread(self, seed: Floats, related: Collection[str], count: int | None = None) -> Floats:
        """Personalised PageRank from the best files, over what they refer to and what refers to them among these."""
        size = len(seed)
        chosen = self._settings
        order = np.argsort(-seed, kind="stable")[: count or chosen.graph_seeds_max]
        best = [int(n) for n in order if seed[n] > 0.0]
        start = np.zeros(size)
        start[best] = seed[best] ** 2
        favoured = [self._documents[path].number for path in related if path in self._documents]
        start /= max(start.sum(), 1e-9)
        if favoured:
            start[favoured] += 1.0 / len(favoured)
            start /= start.sum()
        sources, targets, weights = [], [], []
        for number in {*best, *favoured}:
            path = self._paths[number]
            for other, weight in self._graph.neighbours(path).items() if path else ():
                sources.append(number)
                targets.append(self._documents[other].number)
                weights.append(weight)
        if not sources:
            return start
        source, target = np.array(sources), np.array(targets)
        weight = np.log1p(np.array(weights))
        outward = np.maximum(np.bincount(source, weight, size), 1e-9)
        inward = np.maximum(np.bincount(target, weight, size), 1e-9)
        rank = start
        for _ in range(_STEPS):
            forward = np.bincount(target, (rank / outward)[source] * weight, size)
            backward = np.bincount(source, (rank / inward)[target] * weight, size)
            moved = (1.0 - chosen.graph_backward_share) * forward + chosen.graph_backward_share * backward
            rank = (1.0 - chosen.graph_damping) * start + chosen.graph_damping * moved
        return rank

    def _match(
        self, number: int, score: float, parts: ScoreParts, question: Question, chunks: NDArray[np.float32]
    ) -> Match:
        path = self._paths[number]
        file = self._graph.file(path or "")
        assert path is not None
        assert file is not None
        first = self._documents[path].first_chunk
        own = chunks[first : first + len(file.chunks)]
        best = int(own.argmax()) if len(own) else -1
        weights = {term: self._bodies.idf(term) * weight for term, weight in question.terms.items()}
        terms = [term for term in weights if best >= 0 and term in file.chunks[best].terms]
        terms.sort(key=lambda term: (-weights[term], term))
        start, end = (file.chunks[best].start_line, file.chunks[best].end_line) if best >= 0 else (1, file.line_count)
        shown = [question.written.get(term, term) for term in terms[:_TERMS_SHOWN]]
        return Match(path, score, parts, start, end, self._symbols(file, question, weights), shown)

    def _symbols(self, file: ParsedFile, question: Question, weights: Mapping[str, float]) -> Sequence[SymbolRef]:
        """The definitions of a file that fit best: named ones, and those whose names share the rarest terms."""
        ranked: list[tuple[float, int]] = []
        for at, symbol in enumerate(file.symbols):
            shared = Counter(terms_of_word(symbol.name))
            score = sum(weights.get(term, 0.0) for term in shared) / (1.0 + 0.5 * len(shared))
            score += 4.0 * question.names.get(symbol.name, 0.0)
            if score > 0.0:
                ranked.append((-score * (0.5 if symbol.kind is SymbolKind.VARIABLE else 1.0), at))
        return [SymbolRef(file.path, at) for _, at in sorted(ranked)[:_SYMBOLS_SHOWN]]


def _is_inside(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder.rstrip("/") + "/")


def _scaled(values: Floats) -> Floats:
    """Divided by the largest, so that that is 1."""
    scaled: Floats = values / max(float(values.max(initial=0.0)), 1e-9)
    return scaled
