"""Every pattern of the tier takes linear, and little, time on texts made to be slow for it."""

from __future__ import annotations

import importlib
import pkgutil
import re
import string
import time
from collections.abc import Iterator
from typing import Final

import pytest

from services import agentic
from services.agentic.generation.cues import is_procedure
from tests.support.patterns import is_surely_fast

CHARS: Final = 64 * 1024
SECONDS_MAX: Final = 0.02
UNITS: Final = (
    *string.punctuation, *" \n\tai1é。…’–", "a ", "I ", "my ", "my a", "my x-", "the ", "a is ", "is a a ", "not ",  # noqa: RUF001
    "first ", "to start ", "you have to ", "make sure to ", "the way i ", "then ", "i am ", "i'm a big ", "i do not ",
    "i also ", "Ab ", "ab ed ", "ed ", "abc ", "please ", "please always ", "can't ", "don't forget ", "grand",
    "allerg", "1. ", "\n1.", "\n ", "isn't ", ",isn", "? ", '?"', "wo-", "**a", "** ", "#", "# a", "` ", "n't", "'s",
)  # fmt: skip
PREFIXES: Final = ("", "I ", "first ")


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for module in pkgutil.walk_packages(agentic.__path__, "services.agentic."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                found = value if isinstance(value, tuple) else (value,)
                for each in (part for item in found for part in (item if isinstance(item, tuple) else (item,))):
                    if isinstance(each, re.Pattern):
                        yield f"{module.name}.{name}", each


PATTERNS: Final = list({pattern: name for name, pattern in patterns()}.items())


def texts() -> Iterator[str]:
    for prefix in PREFIXES:
        for unit in UNITS:
            yield (prefix + unit * (CHARS // len(unit) + 1))[:CHARS]


def seconds(pattern: re.Pattern[str], text: str) -> float:
    """Processor time of one pass over the text: other processes do not count."""
    begin = time.thread_time()
    pattern.findall(text)
    return time.thread_time() - begin


def test_the_patterns_of_the_tier_are_found() -> None:
    assert len(PATTERNS) >= 20


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in PATTERNS], ids=[name for _, name in PATTERNS])
def test_no_pattern_takes_long_on_its_worst_text(pattern: re.Pattern[str]) -> None:
    for text in texts():
        if is_surely_fast(pattern, text, "", SECONDS_MAX):
            continue
        # The least of several: what interrupts a thread counts as its time.
        if any(seconds(pattern, text) <= SECONDS_MAX for _ in range(5)):
            continue
        # On a busy machine: then the time must not grow faster than the text, in one of several tries.
        tries = ((seconds(pattern, text), seconds(pattern, text[: CHARS // 8])) for _ in range(5))
        assert any(whole <= 16 * part for whole, part in tries), text[:40]


def test_a_sequence_of_steps_is_a_procedure() -> None:
    for text in ("First, boil the water, then add tea.", "You need to knead it until it is soft.", "step by step"):
        assert is_procedure(text), text
    far = "First " + "x " * 120
    for text in ("First then", "First, boil\nwater, then", far + "then", "then first we go", "I said hello."):
        assert not is_procedure(text), text
    assert is_procedure(far + "first we wait, then go")
