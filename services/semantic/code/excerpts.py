"""Chooses the lines of a file that are shown for a question. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.semantic.code.model import Excerpt, Symbol, SymbolKind

LINE_CHARS_MAX: Final = 500
_CLASS_LINES_MAX: Final = 12
"""Of a class its head is shown; what fits inside of it is a definition of its own."""
_DEFINITION_SHARE_MAX: Final = 0.5
"""Of the lines, what one definition may take: the rest is for others and for the best part."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that was found, and what of it is shown."""

    path: str
    digest: str
    symbols: Sequence[Symbol]  # the best first
    part: tuple[int, int]  # first and last line


def lines_of_place(place: int, *, lines_max: int, lines_min: int) -> int:
    """How many lines the file at a place of the results has, from 0: all as many, or with `lines_min` ever fewer."""
    return max(lines_max >> place, lines_min) if lines_min else lines_max


def excerpts_of(text: str, symbols: Sequence[Symbol], part: tuple[int, int], *, lines_max: int) -> list[Excerpt]:
    """At most `lines_max` lines of a file, by line: the definitions that fit best, then the best part.

    Args:
        text: Of the file.
        symbols: Definitions, the best first.
        part: First and last line of the file's best part, from 1.
        lines_max: Lines of all excerpts together.
    """
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]  # as the parser counts them
    chosen: set[int] = set()
    for begin, end in (*_heads(symbols, lines_max), part):
        for line in range(max(begin, 1), min(end, len(lines)) + 1):
            if len(chosen) < lines_max:
                chosen.add(line)
    return [
        Excerpt(begin, end, "\n".join(line[:LINE_CHARS_MAX] for line in lines[begin - 1 : end]))
        for begin, end in _runs(sorted(chosen))
    ]


def _heads(symbols: Iterable[Symbol], lines_max: int) -> Iterator[tuple[int, int]]:
    for symbol in symbols:
        most = max(int(lines_max * _DEFINITION_SHARE_MAX), 1)
        if symbol.kind is SymbolKind.CLASS:
            most = min(most, _CLASS_LINES_MAX)
        yield symbol.start_line, min(symbol.end_line, symbol.start_line + most - 1)


def _runs(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of numbers that follow each other."""
    begin = 0
    for at, line in enumerate(lines):
        if at + 1 == len(lines) or lines[at + 1] != line + 1:
            yield lines[begin], line
            begin = at + 1
