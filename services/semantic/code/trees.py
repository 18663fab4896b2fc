"""Syntax trees of files that were edited lately: of the next edit only what changed is parsed again."""

from __future__ import annotations

from typing import Final

from tree_sitter import Parser, Point, Tree

_FILES_MAX: Final = 4
_BYTES_MIN: Final = 32 * 1024
"""Of smaller files the whole is parsed within some milliseconds."""
_BYTES_MAX: Final = 512 * 1024


class RecentTrees:
    """The trees of a few large files. A tree is that of the text alone: what was parsed before makes no difference."""

    def __init__(self) -> None:
        """None yet."""
        self._known: dict[str, tuple[bytes, Tree]] = {}

    def parse(self, path: str, content: bytes, parser: Parser) -> Tree:
        """The tree of a file. Its path says of which earlier text it is probably an edit."""
        known = self._known.pop(path, None)
        tree = _edited(*known, content, parser) if known is not None else None
        if tree is None:
            tree = parser.parse(content)
        if _BYTES_MIN <= len(content) <= _BYTES_MAX:
            self._known[path] = (content, tree.copy())
            if len(self._known) > _FILES_MAX:
                del self._known[next(iter(self._known))]
        return tree


def _edited(before: bytes, tree: Tree, content: bytes, parser: Parser) -> Tree | None:
    """The tree of an edited text; None where it has to be parsed as a whole."""
    start = _shared(before, content)
    start = content.rfind(b"\n", 0, start) + 1
    rest = _shared(before[start:][::-1], content[start:][::-1])
    at = content.find(b"\n", len(content) - rest)
    rest = len(content) - at - 1 if at >= 0 else 0
    row = content.count(b"\n", 0, start)
    tree.edit(
        start_byte=start,
        old_end_byte=len(before) - rest,
        new_end_byte=len(content) - rest,
        start_point=Point(row, 0),
        old_end_point=_point(before, start, len(before) - rest, row),
        new_end_point=_point(content, start, len(content) - rest, row),
    )
    found = parser.parse(content, tree)
    # How a parser gets over errors may depend on where it began.
    return None if found.root_node.has_error else found


def _point(content: bytes, start: int, end: int, row: int) -> Point:
    """The place of a byte behind `start`, which begins a row."""
    return Point(row + content.count(b"\n", start, end), end - (content.rfind(b"\n", 0, end) + 1))


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
