"""Candidates and counters for tests of contexts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from services.common.turns import MessageRole
from services.gateway.context.model import Candidate, SectionKind, TurnSource

NOON: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

Offers = Mapping[SectionKind, Sequence[Candidate]]


def count_words(text: str) -> int:
    """Words and punctuation marks: adds up over lines and sentences, as the pieces of a real tokenizer do."""
    return len(re.findall(r"\w+|[^\w\s]", text))


def line(number: int, *, words: int = 8, sentences: int = 1) -> Candidate:
    """A fact or a note of so many words."""
    return Candidate(text_of(number, words=words, sentences=sentences), f"m{number}", (f"i{number}",))


def turn(
    number: int,
    text: str | None = None,
    *,
    words: int = 8,
    sentences: int = 1,
    position: int | None = None,
    conversation: str = "c1",
    speaker: str = "Ada",
    days: int = 0,
) -> Candidate:
    """A turn; turns of different numbers stand far apart unless they are told their positions."""
    place = position if position is not None else 100 * number
    source = TurnSource(conversation, place, MessageRole.USER, speaker, NOON + timedelta(days=days, seconds=place))
    body = text if text is not None else text_of(number, words=words, sentences=sentences)
    return Candidate(body, f"m{number}", (f"i{number}",), source)


def text_of(number: int, *, words: int, sentences: int) -> str:
    """Sentences that share no word with those of another number, so that none of them says the same."""
    return " ".join(
        " ".join([f"Word{number}x{s}"] + [f"word{number}y{n}" for n in range(words - 2)] + [f"w{number}."])
        for s in range(sentences)
    )
