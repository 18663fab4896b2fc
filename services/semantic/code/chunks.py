"""Cuts a file into the parts that are searched. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from services.common.text_cache import text_cache
from services.semantic.code.model import Chunk, Symbol, SymbolKind
from services.semantic.code.terms import count_words, words_of

_LINES: Final = 60
_SUMMARY_CHARS_MAX: Final = 400
_COMMENT: Final = re.compile(r'^\s*(?:#+!?|//+!?|/\*+!?|\*+/?|--+|;+|"""|\'\'\'|%+)?\s?')


def chunks_of(text: str, symbols: Sequence[Symbol]) -> tuple[Chunk, ...]:
    """The terms of a file's parts: definitions begin new ones, long ones are cut."""
    lines = text.split("\n")
    starts = sorted({symbol.start_line for symbol in symbols if symbol.kind is not SymbolKind.VARIABLE})
    found: list[Chunk] = []
    for begin, end in _spans(len(lines), starts):
        terms = _terms_of("\n".join(line[:2_000] for line in lines[begin - 1 : end]))
        if terms:
            found.append(Chunk(begin, end, terms))
    return tuple(found)


@text_cache(1_024)  # an edited file has most of its parts from before
def _terms_of(text: str) -> Mapping[str, int]:
    return count_words(words_of(text))


def _spans(line_count: int, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    begin = 1
    half = _LINES // 2
    at = 0
    while begin <= line_count:
        end = min(begin + _LINES - 1, line_count)
        if end < line_count:
            # The last definition in the second half of the part begins the next one.
            while at < len(starts) and starts[at] <= end + 1:
                at += 1
            if at and starts[at - 1] > begin + half:
                end = starts[at - 1] - 1
        yield begin, end
        begin = end + 1


def summary_of(text: str) -> str:
    """What a file says about itself in the comment at its top."""
    words: list[str] = []
    for line in text[:4_000].split("\n")[:30]:
        cleaned = _COMMENT.sub("", line).strip().strip("\"'*/# ")
        is_comment = line.lstrip().startswith(("#", "//", "/*", "*", '"""', "'''", "--", ";"))
        if cleaned and (is_comment or words) and not re.match(r"(?i)copyright|license|spdx|-\*-|!/", cleaned):
            words.append(cleaned)
        elif words and not cleaned:
            break
        if not is_comment and not words and cleaned:
            break
    return " ".join(words)[:_SUMMARY_CHARS_MAX]
