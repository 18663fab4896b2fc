"""No pattern over text takes more than linear time: each is tried against long runs of its worst characters."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from typing import Any, Final

import pytest

import services
from tests.support.patterns import is_surely_fast

_CHARS: Final = 64 * 1024
_SECONDS: Final = 0.02
_TRIES: Final = 3  # the best counts: a busy machine is no slow pattern
_FILLERS: Final = (
    *("\n", " ", "a", "A", "1", ".", "-", "'", '"', "(", "[", "*", ",", "\u2028"),
    *("I ", "a ", "a.", "1 ", "- ", "a-", "a, ", " \n"),
)
_SKIPPED: Final = ("services.cli",)
"""The command line reads what its user types."""
_BOUNDED: Final = {
    "services.common.neo4j.migrations._COMMENT": "reads the files of this program",
    "services.common.text._LAST_WORD": "reads 16 characters",
    "services.common.text._LEADING_NUMBER": "reads 16 characters",
    "services.common.values.sentences._TAKEN": "reads a question of at most 1,000 characters",
    "services.gateway.erasure.relations._BEFORE": "is searched in 200 characters",
    "services.common.dates._CONNECTED": "is matched between two dates of a question, never searched",
}
"""Patterns that never see a long text, and why."""


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(services.__path__, "services."):
        if found.name.startswith(_SKIPPED) or found.name.endswith("__main__"):
            continue
        yield importlib.import_module(found.name)


def _patterns_in(value: object, depth: int = 2) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, dict):
        for inner in value.values():
            yield from _patterns_in(inner, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from _patterns_in(inner, depth - 1)
    elif depth and hasattr(value, "pattern"):
        yield from _patterns_in(value.pattern, depth - 1)


def _collected() -> dict[str, re.Pattern[str]]:
    """Patterns of all modules, by module and name."""
    found: dict[str, re.Pattern[str]] = {}
    seen: set[re.Pattern[str]] = set()
    for module in _modules():
        values = dict(vars(module))
        for name, value in list(values.items()):
            if callable(value) and hasattr(value, "cache_info") and name in {"_rules", "_patterns"}:
                values[f"{name}()"] = value()
        for name, value in values.items():
            for number, pattern in enumerate(_patterns_in(value)):
                if pattern not in seen and f"{module.__name__}.{name}" not in _BOUNDED:
                    seen.add(pattern)
                    found[f"{module.__name__}.{name}[{number}]"] = pattern
    return found


PATTERNS: Final = _collected()


def _own_words(pattern: str) -> list[str]:
    """Words that the pattern itself looks for, which lead deepest into it."""
    return re.findall(r"[A-Za-z]{2,}", re.sub(r"\\.|\(\?[a-zA-Z-]*:?|\?P<\w+>", " ", pattern))[:3]


def _seconds(pattern: re.Pattern[str], filler: str, end: str, chars: int) -> float:
    """Processor time for a text of so many characters."""
    probe = (filler * (chars // len(filler)))[:chars] + end
    started = time.process_time()
    for _match in zip(range(_CHARS), pattern.finditer(probe), strict=False):
        pass
    return time.process_time() - started


def _slow_texts(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """What texts repeat and how they end that are not read in time."""
    for filler in (*_FILLERS, *(f"{word} " for word in _own_words(pattern.pattern))):
        for end in ("", "\x00"):
            if is_surely_fast(pattern, (filler * (_CHARS // len(filler)))[:_CHARS], end, _SECONDS):
                continue
            if all(_seconds(pattern, filler, end, _CHARS) >= _SECONDS for _ in range(_TRIES)):
                yield filler, end


@pytest.mark.parametrize("name", PATTERNS)
def test_spec_7_2_a_pattern_reads_long_runs_in_linear_time(name: str) -> None:
    pattern = PATTERNS[name]
    for filler, end in _slow_texts(pattern):
        # On a busy machine: then the time must not grow faster than the text, in one of several tries.
        tries = (
            (_seconds(pattern, filler, end, _CHARS), _seconds(pattern, filler, end, _CHARS // 8)) for _ in range(5)
        )
        assert any(whole < 16 * part for whole, part in tries), f"runs of {filler!r} take more than {_SECONDS} s"


def test_patterns_are_found() -> None:
    assert len(PATTERNS) > 50
