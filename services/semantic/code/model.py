"""What is known of source code: files, what they define, and what they refer to.

A repository has hundreds of thousands of the smallest parts: those are tuples, which are made, compared and hashed
several times as fast as other classes.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class SymbolKind(enum.IntEnum):
    """What a definition is. The numbers are those of code.proto."""

    FUNCTION = 1
    CLASS = 2
    METHOD = 3
    VARIABLE = 4


class ReferenceKind(enum.IntEnum):
    """How a place in the code refers to a name. The numbers are those of code.proto."""

    CALLS = 1
    USES = 2
    INHERITS = 3
    REFERENCES = 4


class FileStatus(enum.IntEnum):
    """How well a file could be read. The numbers are those of code.proto."""

    PARSED = 1
    """All of it."""
    PARTLY_PARSED = 2
    """It holds syntax errors; what stands around them was read."""
    TEXT_ONLY = 3
    """There is no grammar for it, or it is too large or nested for one: its words alone are known."""


class Symbol(NamedTuple):
    """A definition."""

    name: str
    kind: SymbolKind
    container: str
    """Names of what it stands in, outermost first, joined by dots: "Outer.Inner". Empty at the top of a file."""
    start_line: int
    """First line, from 1."""
    end_line: int
    """Last line, included."""
    signature: str
    """Its first line without the body, at most `SIGNATURE_CHARS_MAX` characters."""
    parent: int = -1
    """Index of the symbol around it in the file; -1 at the top."""

    @property
    def qualified_name(self) -> str:
        """The name with its containers."""
        return f"{self.container}.{self.name}" if self.container else self.name


class Import(NamedTuple):
    """A name that a file takes from elsewhere."""

    module: str
    """As it is written: "a.b", "./x", "<stdio.h>". Separators of the language."""
    name: str
    """What is taken from it; empty: the module itself. "*": everything."""
    alias: str
    """The name that it has in the file. "*" where the name is that of a class: its static members."""
    line: int


class Reference(NamedTuple):
    """A place that refers to a name."""

    name: str
    qualifier: str
    """What stands before the name: "self", "module", "a.b". Empty without one, "?" for an expression."""
    kind: ReferenceKind
    line: int
    source: int
    """Index of the innermost symbol around it; -1 at the top of the file."""


class RelationKind(enum.IntEnum):
    """How one part of the code relates to another. The numbers are those of code.proto."""

    CALLS = 1
    USES = 2
    INHERITS = 3
    REFERENCES = 4
    IMPORTS = 5
    CONTAINS = 6


class SymbolRef(NamedTuple):
    """Names a symbol by its file and its index there."""

    path: str
    index: int  # type: ignore[assignment]  # tuples call a method so


class Relation(NamedTuple):
    """An edge of the graph. An end without a symbol is a file as a whole."""

    from_path: str
    from_symbol: SymbolRef | None
    to_path: str
    to_symbol: SymbolRef | None
    kind: RelationKind
    line: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file, as it is searched."""

    start_line: int
    end_line: int
    terms: Mapping[str, int]
    """How often each term stands in it."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What is known of a file beside its text."""

    path: str
    """Relative to the repository's root, with slashes."""
    digest: str
    """SHA-256 of the content, in hexadecimal digits."""
    language: str
    """Such as "python"; empty: no known one."""
    status: FileStatus
    line_count: int
    symbols: Sequence[Symbol] = ()
    imports: Sequence[Import] = ()
    references: Sequence[Reference] = ()
    chunks: Sequence[Chunk] = ()
    package: str = ""
    """The package or namespace that the file declares, where its language has that."""
    types: Mapping[str, str] = field(default_factory=dict)
    """Classes of variables and parameters, where the text says so: "function.variable" to a class's name.

    For TypeScript and JavaScript, what definitions and members are made of: see scripts/reading.py."""
    exports: Mapping[str, str] = field(default_factory=dict)
    """Names that a script exports to those that it has for them, where they differ.

    For files of a build tool, the paths that names stand for: see manifests.py."""
    summary: str = ""
    """First words of what the file says about itself."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file as stores have it."""

    path: str
    digest: str
    language: str
    status: FileStatus
    line_count: int
    content: bytes
    """See packing.py. Empty in lists."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some lines of a file."""

    start_line: int
    """From 1."""
    end_line: int
    """Included."""
    text: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A tree of files that belong together."""

    repository_id: str
    file_count: int
    line_count: int
    revision: int
    create_time: datetime
    update_time: datetime


@dataclass(frozen=True, slots=True)
class RepositoryHead:
    """By which a cache knows whether it has the newest state."""

    epoch: int
    """Another one after a deletion: nothing of an earlier epoch holds any more."""
    revision: int
    """Rises with each change."""
    file_count: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileState:
    """What is known of an indexed file without its content."""

    path: str
    digest: str
    language: str
    status: FileStatus
    line_count: int


@dataclass(frozen=True, slots=True)
class IndexOutcome:
    """What an upload did."""

    files: tuple[FileState, ...]
    refused: tuple[Refusal, ...]
    removed: int
    repository: Repository


@dataclass(frozen=True, slots=True)
class Deletion:
    """What the deletion of a repository did."""

    repository_id: str
    removed_files: int


@dataclass(frozen=True, slots=True)
class SymbolMatch:
    """A definition that a name was found by."""

    ref: SymbolRef
    score: float
    """In (0, 1]; 1: the name is equal."""


def repository_resource(repository_id: str) -> str:
    """What idempotency records name a repository by."""
    return f"repository {repository_id}"
