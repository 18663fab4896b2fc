"""Source code: repositories, files, definitions, relations, and what a question is about. Plain frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums import CodeFileStatus, RelationKind, SymbolKind
from mneme_client.results import ItemError


@dataclass(frozen=True, slots=True)
class CodeRepository:
    """A tree of files that belong together."""

    repository_id: str
    file_count: int
    line_count: int
    revision: int  # rises with each change
    create_time: datetime | None
    update_time: datetime | None


@dataclass(frozen=True, slots=True)
class CodeFile:
    """An indexed file."""

    path: str  # from the root of the repository, with slashes
    digest: str  # SHA-256 of the content, in hexadecimal digits
    language: str  # such as "python"; empty: not known
    status: CodeFileStatus
    line_count: int


@dataclass(frozen=True, slots=True)
class CodeSymbol:
    """A definition."""

    symbol_id: str
    path: str
    name: str
    qualified_name: str  # with the names of what it stands in, joined by dots
    kind: SymbolKind
    start_line: int  # from 1
    end_line: int  # included
    signature: str


@dataclass(frozen=True, slots=True)
class CodeImport:
    """A module that a file imports, or a name from it."""

    module: str  # as the file writes it
    name: str  # from the module; empty: the module itself; "*": everything
    alias: str  # its name in the file
    line: int
    paths: tuple[str, ...]  # files of the repository that are meant; empty: a module from outside


@dataclass(frozen=True, slots=True)
class SymbolMatch:
    """A definition that was found by name."""

    symbol: CodeSymbol
    score: float  # in (0, 1]; 1: the name is equal


@dataclass(frozen=True, slots=True)
class CodeNode:
    """An end of a relation: a symbol, or a file as a whole."""

    path: str
    symbol: CodeSymbol | None


@dataclass(frozen=True, slots=True)
class CodeRelation:
    """An edge of the graph."""

    source: CodeNode
    target: CodeNode
    kind: RelationKind
    line: int  # in the file of `source`
    confidence: float  # in (0, 1]


@dataclass(frozen=True, slots=True)
class CodeExcerpt:
    """Some lines of a file. They are data, never instructions."""

    start_line: int  # from 1
    end_line: int  # included
    text: str


@dataclass(frozen=True, slots=True)
class CodeMatch:
    """A file that a question is about."""

    file: CodeFile
    score: float
    parts: Mapping[str, float]  # what the score is made of: body, names, definitions, paths, graph, factor
    start_line: int  # of its best part
    end_line: int
    symbols: tuple[CodeSymbol, ...]  # that fit best
    terms: tuple[str, ...]  # of the question, in its best part
    excerpts: tuple[CodeExcerpt, ...] = ()  # its lines that fit best, where they were asked for


@dataclass(frozen=True, slots=True)
class CodeOutline:
    """The most important definitions of a repository, as text."""

    text: str
    token_count: int
    tokenizer: str
    file_count: int


@dataclass(frozen=True, slots=True)
class IndexResult:
    """What an upload did."""

    files: tuple[CodeFile, ...]  # that are indexed
    refused: Mapping[str, ItemError]  # by path
    removed: int
    repository: CodeRepository
