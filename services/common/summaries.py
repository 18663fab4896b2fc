"""Extractive summaries of long texts (SPEC 2.4): whole sentences that keep dates, numbers and names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from services.common.settings_types import Amount, Count
from services.common.text import split_sentences
from services.common.tokens import TokenCounter

# Shorter words say little of what a text is about.
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_DETAIL: Final = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|[Tt]omorrow|[Yy]esterday)\b"
    r"|\d+(?:[.,:/-]\d+)*"
    r"|(?<=[a-z,;:] )[A-Z][\w'-]+"
)
_SENTENCES_MAX: Final = 400
"""A text has more only where it is no prose: the rest is not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarySettings:
    """Which episodes have a summary, and how long it is."""

    text_tokens_min: Count = 300  # tokens of an episode that has one; shorter ones are their own summary
    tokens_min: Count = 100  # tokens that a summary reaches where whole sentences allow
    tokens_max: Count = 150  # tokens of a summary at most
    detail_weight: Amount = 3.0  # of a date, number or name that is not in the summary yet, against words of the topic


def details_of(text: str) -> set[str]:
    """Dates, numbers and names of a text, each as a word or a number by itself."""
    return set(_DETAIL.findall(text))


class Summariser:
    """Chooses the sentences that say most about the topic and hold most details, and returns them in their order."""

    def __init__(self, counter: TokenCounter, settings: SummarySettings | None = None) -> None:
        """Counts tokens by `counter`."""
        self._counter = counter
        self._settings = settings or SummarySettings()

    def summarise(self, text: str) -> str:
        """Returns the summary of a text; "" for one that is not long. Never longer than the settings say."""
        settings = self._settings
        # No token is shorter than a byte; a character of Chinese or Japanese may be three of them.
        can_be_long = len(text.encode()) >= settings.text_tokens_min
        if not can_be_long or self._counter.count_tokens(text) < settings.text_tokens_min:
            return ""
        sentences = list(dict.fromkeys(split_sentences(text)[:_SENTENCES_MAX]))
        sizes = [self._counter.count_tokens(f" {sentence}") for sentence in sentences]
        chosen: set[int] = set()
        total = 0
        for index in self._ranked(sentences, sizes):
            if total + sizes[index] <= settings.tokens_max:
                chosen.add(index)
                total += sizes[index]
                if total >= settings.tokens_min:
                    break
        if chosen:
            return " ".join(sentences[index] for index in sorted(chosen))
        return self._cut(sentences[0])

    def _ranked(self, sentences: Sequence[str], sizes: Sequence[int]) -> Sequence[int]:
        """Sentences that fit, the one first that adds most, given those before it."""
        words = [set(map(str.lower, _WORD.findall(sentence))) for sentence in sentences]
        spread = Counter(word for found in words for word in found)
        topic = [
            sum(math.log1p(spread[word] - 1) for word in found) / math.sqrt(max(1, size))
            for found, size in zip(words, sizes, strict=True)
        ]
        top = max(topic) or 1.0
        details = [details_of(sentence) for sentence in sentences]
        left = [index for index, size in enumerate(sizes) if size <= self._settings.tokens_max]
        ranked: list[int] = []
        held: set[str] = set()
        budget = self._settings.tokens_max
        while left and budget > 0:
            best = max(
                left,
                key=lambda i: (
                    topic[i] / top + self._settings.detail_weight * len(details[i] - held) / math.sqrt(sizes[i]),
                    -i,
                ),
            )
            left.remove(best)
            ranked.append(best)
            if sizes[best] <= budget:
                held |= details[best]
                budget -= sizes[best]
        return ranked

    def _cut(self, sentence: str) -> str:
        """The longest run of words, or of characters, from its beginning that fits: no sentence of the text does."""
        start = sentence[: self._settings.tokens_max * 8]
        # A script without spaces has no words to cut between.
        return self._longest(start.split(" "), " ") or self._longest(start, "")

    def _longest(self, parts: Sequence[str], separator: str) -> str:
        low, high = 0, len(parts)
        while low < high:
            middle = (low + high + 1) // 2
            if self._counter.count_tokens(separator.join(parts[:middle])) <= self._settings.tokens_max:
                low = middle
            else:
                high = middle - 1
        return separator.join(parts[:low])
