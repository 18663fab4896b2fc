"""Texts made to be slow to read: whatever is repeated, reading takes time in proportion to the length."""

from __future__ import annotations

import string
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import pytest

from services.agentic.generation.port import GenerationItem
from services.agentic.generation.rules import RuleNoteGenerator
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, UserId
from services.common.parsing.port import NoParser
from services.common.text import is_question, split_pieces, split_sentences
from services.common.turns import MessageRole, Turn, TurnLimits
from services.gateway.recall.question.reading import read_question
from services.gateway.recall.settings import RecallSettings
from services.semantic.facts.extraction.extractor import ParsedFactExtractor

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
CONTENT_CHARS = TurnLimits().content_chars_max
QUERY_CHARS = RecallSettings().query_chars_max
# Of processor time. Usual are hundredths; reading in quadratic time takes ten seconds and more.
TEXT_SECONDS_MAX: Final = 2.0
UNITS = (
    *string.punctuation, *" \n\taI1é。…’–",  # noqa: RUF001
    "a ", "I ", ". ", "?!", "- ", "1.", "and ", "my my", "my ", "a.", "A. ", "a\n", "- a\n", "` ", "~~~ ", "... ",
    '" ', "' ", "I'm ", "A-", ", I ", "in the ", "remember ", "please ", "call me ", "of ", "on ", "**a", ") ",
)  # fmt: skip
FRAMES = (("", ""), ("I like ", "x"), ("- ", "!"), ("# ", "x"), ("remember that ", ""))


def read_facts(text: str) -> object:
    turn = Turn(MessageRole.USER, text, NOW, "Ann")
    source = SourceInteraction(InteractionId("i"), UserId("u"), "c", 0, turn)
    return ParsedFactExtractor(NoParser()).texts_of(source)  # trees are bounded in test_extraction.py


def read_note(text: str) -> object:
    turn = Turn(MessageRole.ASSISTANT, text, NOW, "Ann")
    source = SourceInteraction(InteractionId("i"), UserId("u"), "c", 0, turn)
    return RuleNoteGenerator().draft(GenerationItem(source, None))


def read_query(text: str) -> object:
    return read_question(text[:QUERY_CHARS], ("Ann Lee", "Bo"), NOW)


def seconds_of(read: Callable[[str], object], text: str) -> float:
    """Processor time of reading a text."""
    begin = time.thread_time()
    read(text)
    return time.thread_time() - begin


@pytest.mark.parametrize("read", [split_sentences, split_pieces, is_question, read_facts, read_note, read_query])
def test_no_text_of_repeats_takes_long_to_read(read: Callable[[str], object]) -> None:
    slow: dict[str, float] = {}
    for before, after in FRAMES:
        for unit in UNITS:
            repeats = (CONTENT_CHARS - len(before) - len(after)) // len(unit)
            text = f"{before}{unit * repeats}{after}"
            seconds = seconds_of(read, text)
            if seconds > TEXT_SECONDS_MAX:
                # Once more: a collection of the garbage of other tests may have fallen into it.
                seconds = min(seconds, seconds_of(read, text))
            if seconds > TEXT_SECONDS_MAX:
                slow[f"{before}({unit})*{repeats}{after}"] = round(seconds, 2)
    assert not slow
