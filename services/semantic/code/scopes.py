"""Definitions of a file while it is read, and which of them stand around a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from services.semantic.code.model import Reference, ReferenceKind, SymbolKind

_REFERENCES_MAX: Final = 100_000

Found = tuple[int, str, str, ReferenceKind, int]
"""A reference while its file is read: first byte, name, qualifier, kind, line."""


@dataclass(slots=True)
class Scope:
    """A definition while its file is read."""

    start: int
    end: int
    name: str
    kind: SymbolKind | None  # None: a scope that is no definition of its own, such as an impl block
    node: Node
    container: str = ""
    index: int = -1
    parent: int = -1
    name_start: int = -1


def sources_of(starts: Sequence[int], scopes: Sequence[Scope]) -> Iterator[int]:
    """The innermost symbol around each of some places, -1 at the top. Both are sorted by where they begin."""
    stack: list[Scope] = []
    at = 0
    for start in starts:
        while at < len(scopes) and scopes[at].start <= start:
            stack.append(scopes[at])
            at += 1
        while stack and stack[-1].end <= start:
            stack.pop()
        source = -1
        for scope in reversed(stack):
            if scope.end > start and scope.kind is not None and scope.index >= 0:
                source = scope.index
                break
        yield source


def with_sources(found: list[Found], scopes: Sequence[Scope]) -> list[Reference]:
    """References with the innermost definitions around them, each reference of one line once."""
    found.sort()
    placed: dict[tuple[str, str, ReferenceKind, int, int], None] = {}
    sources = sources_of([one[0] for one in found], scopes)
    for (_, name, qualifier, kind, line), source in zip(found, sources, strict=False):
        placed[name, qualifier, kind, line, source] = None
        if len(placed) >= _REFERENCES_MAX:
            break
    return [Reference(*one) for one in placed]
