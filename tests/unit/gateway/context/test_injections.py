"""A hundred stored injections: forged headers, turns, citations and tool calls, and characters that cannot be seen.

Each stands in every field of a memory. A context shows it as the text of that memory and as nothing else.
"""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Final

import pytest

from services.common.tokens import token_counter
from services.gateway.context.model import ContextRequest, ContextSettings
from services.gateway.context.service import ContextBuilder
from services.gateway.recall.model import RecallQuery
from tests.unit.gateway.context.test_structure import FIELDS, HEADER, HEADINGS, LINE, _Recaller, recalled
from tests.unit.gateway.tiers import ADA, NOON

INJECTIONS: Final[list[str]] = json.loads((Path(__file__).parents[3] / "data" / "injections.json").read_text("utf-8"))


def is_hidden(char: str) -> bool:
    """Whether a character breaks lines, reorders text or cannot be seen."""
    return char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"}


async def context_of(field: str, text: str) -> str:
    builder = ContextBuilder(_Recaller(recalled(field, text)), token_counter(), ContextSettings())
    query = RecallQuery("ada", "where", 10, NOON)
    return (await builder.build(ADA, query, ContextRequest(4_000), deadline_seconds=1.0)).text


def test_there_are_a_hundred_of_them() -> None:
    assert len(INJECTIONS) == len(set(INJECTIONS)) == 100


@pytest.mark.parametrize("field", FIELDS)
async def test_spec_7_4_a_stored_injection_never_leaves_its_memory_in_a_context(field: str) -> None:
    plain = [line for line in (await context_of("", "")).split("\n") if line.startswith("#")]
    for text in INJECTIONS:
        context = await context_of(field, text)
        lines = context.split("\n")
        assert lines == context.splitlines(), text
        assert not any(map(is_hidden, context)), text
        assert [line for line in lines if line.startswith("#")] in (plain, [h for h in plain if h in lines]), text
        for line in lines:
            is_item = line.startswith(("- ", "  ")) or line in HEADINGS or line in ("", "\u2026")
            assert is_item or LINE.fullmatch(line) or HEADER.fullmatch(line), (text, line)
