"""Definitions of a file while it is read, and which of them stand around a place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from services.semantic.code.model import Reference, ReferenceKind, SymbolKind

_REFERENCES_MAX: Final = 100_000
_NEVER: Final = sys.maxsize

Found = tuple[int, str, str, ReferenceKind]
"""A reference while its file is read: first byte, name, qualifier, kind."""


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


def sources_of(starts: Iterable[int], scopes: Sequence[Scope]) -> Iterator[int]:
    """The innermost symbol around each of some places, -1 at the top. Both are sorted by where they begin."""
    stack: list[Scope] = []
    at, source = 0, -1
    until = scopes[0].start if scopes else _NEVER  # up to here the answer is the same
    for start in starts:
        if start >= until:
            while at < len(scopes) and scopes[at].start <= start:
                stack.append(scopes[at])
                at += 1
            while stack and stack[-1].end <= start:
                stack.pop()
            around = (scope for scope in reversed(stack) if scope.end > start)
            source = next((scope.index for scope in around if scope.kind is not None and scope.index >= 0), -1)
            until = min((scope.end for scope in stack if scope.end > start), default=_NEVER)
            if at < len(scopes):
                until = min(until, scopes[at].start)
        yield source


def with_sources(found: list[Found], scopes: Sequence[Scope], content: bytes) -> list[Reference]:
    """References with their lines and the innermost definitions around them, each reference of one line once."""
    found.sort()
    placed: dict[Reference, None] = {}
    before, line = 0, 1
    for (start, name, qualifier, kind), source in zip(
        found, sources_of([one[0] for one in found], scopes), strict=True
    ):
        line += content.count(b"\n", before, start)
        before = start
        placed[Reference(name, qualifier, kind, line, source)] = None
        if len(placed) >= _REFERENCES_MAX:
            break
    return list(placed)
