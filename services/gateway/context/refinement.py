"""Chooses the sentences of a text that a question needs. Rules only, no model is run; pure functions.

A sentence is worth the question's terms that it holds, each by how rare it is among the texts at hand (IDF), so
that what every turn says decides nothing. A part of that worth goes to the sentences beside it, which explain it. Where
no term of the question is found, the text is summarised: sentences that say what the rest of it says, first ones first.
Sentences keep their order and are never cut; "…" stands where some were left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.common.settings_types import Amount, Share
from services.common.text import split_sentences
from services.common.text_cache import text_cache

TokenCount = Callable[[str], int]

GAP: Final = "…"
_WORD: Final = re.compile(r"\w+")
_STEM_CHARS_MIN: Final = 4
_ENDINGS: Final = (
    "ations",
    "ation",
    "ments",
    "ment",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "ed",
    "es",
    "er",
    "ly",
    "s",
    "e",
    "y",
)
_TERMS_MAX: Final = 64  # of a question; more of them add nothing
_STOP_WORD_LIST: Final = (
    "a about all also am an and any are as at be been but by can could did do does for from get had has have he her"
    " hers him his how i if in into is it its just like me more most my no not of on one or our out please she should"
    " so some such tell than that the their them then there these they this those to up us was we were what when where"
    " which who whom whose why will with would you your"
)
_STOP_WORDS: Final = frozenset(_STOP_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class RefinementSettings:
    """How sentences are chosen."""

    neighbour_share: Share = 0.25  # of a sentence's worth that the sentences beside it are given: they explain it
    position_weight: Amount = 0.1  # of being early in the text; the first sentence has all of it
    summary_weight: Amount = 0.3  # of saying what the rest of the text says, where no term of the question is found
    worth_share_min: Share = 0.35  # of the best sentence's worth; those below it go first, while the budget is short


@dataclass(frozen=True, slots=True)
class KeptText:
    """What is left of a text."""

    text: str
    token_count: int
    sentences: tuple[int, ...]  # those kept, ascending
    sentence_count: int  # of the whole text

    @property
    def pruned(self) -> bool:
        """Whether sentences were left out."""
        return len(self.sentences) < self.sentence_count


class QuestionTerms:
    """The terms of a question, and where a text holds them."""

    def __init__(self, question: str) -> None:
        """Reads the words that say something, by their stems."""
        stems = dict.fromkeys(_stem(word) for word in _words(question) if word not in _STOP_WORDS)
        self.stems: Final = tuple(stems)[:_TERMS_MAX]
        longest_first = sorted(self.stems, key=len, reverse=True)
        self._pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})") if self.stems else None

    def found_in(self, text: str) -> frozenset[str]:
        """The question's stems that begin a word of the text."""
        return frozenset(self._pattern.findall(text.casefold())) if self._pattern is not None else frozenset()


@dataclass(frozen=True, slots=True)
class Sentences:
    """A text in sentences, with the question's terms that each holds."""

    texts: tuple[str, ...]
    terms: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, text: str, question: QuestionTerms) -> Sentences:
        """Splits a text."""
        texts = tuple(split_sentences(text))
        return cls(texts, tuple(question.found_in(sentence) for sentence in texts))


def term_weights(question: QuestionTerms, texts: Sequence[str]) -> dict[str, float]:
    """IDF of the question's terms over the texts at hand: ln(1 + texts / (1 + texts that hold the term))."""
    counts = Counter(term for text in texts for term in question.found_in(text))
    return {term: math.log(1 + len(texts) / (1 + count)) for term, count in counts.items()}


def sentence_worth(sentences: Sentences, weights: dict[str, float], settings: RefinementSettings) -> tuple[float, ...]:
    """What each sentence is worth to the question, at least 0; comparable within one text.

    Args:
        sentences: The text.
        weights: Of the question's terms; a term without one counts nothing.
        settings: The weights of the parts.
    """
    count = len(sentences.texts)
    held = [sum(weights.get(term, 0.0) for term in terms) for terms in sentences.terms]
    best = max(held, default=0.0)
    if best > 0.0:
        main = [
            (own + settings.neighbour_share * max(held[place - 1] if place else 0.0, *held[place + 1 : place + 2], 0.0))
            / best
            for place, own in enumerate(held)
        ]
    else:
        main = [settings.summary_weight * share for share in _said_elsewhere(sentences.texts)]
    return tuple(worth + settings.position_weight * (1 - place / count) for place, worth in enumerate(main))


def choose_sentences(
    sentences: Sequence[str],
    worth: Sequence[float],
    *,
    tokens_max: int,
    count_tokens: TokenCount,
    least_tokens: TokenCount = lambda text: text.count(" "),
    first_tokens_max: int = 0,
    worth_min: float = 0.0,
) -> KeptText | None:
    """The sentences of most worth that fit, in their order.

    Args:
        sentences: All of them.
        worth: One number for each; ties go to the earlier sentence.
        tokens_max: For the kept text, marks of gaps included.
        count_tokens: Counts the tokens of a text.
        least_tokens: At least so many, found without counting; by default a word is a token or more.
        first_tokens_max: What one sentence may take if it is the only one, where that is more than `tokens_max`: a
            long sentence that answers is better than a short one that does not.
        worth_min: Sentences of less are left out even where they would fit.

    Returns:
        What is kept, or None where not one sentence fits.
    """
    gap_tokens = count_tokens(GAP)
    chosen: set[int] = set()
    tokens = 0  # of the sentences
    gaps = 1  # runs of sentences that are left out
    for place in sorted(range(len(sentences)), key=lambda place: (-worth[place], place)):
        if chosen and (tokens >= tokens_max or worth[place] < worth_min):
            break
        most = tokens_max if chosen else max(tokens_max, first_tokens_max)
        if least_tokens(sentences[place]) > most - tokens:
            continue
        cost = count_tokens(sentences[place])
        then_gaps = gaps - 1 + _is_left_out(place - 1, chosen, sentences) + _is_left_out(place + 1, chosen, sentences)
        if tokens + cost + then_gaps * gap_tokens <= most:
            chosen.add(place)
            tokens += cost
            gaps = then_gaps
    if not chosen:
        return None
    kept = tuple(sorted(chosen))
    return KeptText(_joined(sentences, kept), tokens + gaps * gap_tokens, kept, len(sentences))


def _is_left_out(place: int, chosen: set[int], sentences: Sequence[str]) -> bool:
    return 0 <= place < len(sentences) and place not in chosen


def _joined(sentences: Sequence[str], kept: Sequence[int]) -> str:
    parts: list[str] = []
    expected = 0
    for place in kept:
        if place > expected:
            parts.append(GAP)
        parts.append(sentences[place])
        expected = place + 1
    if expected < len(sentences):
        parts.append(GAP)
    return " ".join(parts)


def _said_elsewhere(sentences: Sequence[str]) -> list[float]:
    """How far each sentence says what the others say: the mean share of sentences that hold each of its terms."""
    terms = [{_stem(word) for word in _words(sentence) if word not in _STOP_WORDS} for sentence in sentences]
    counts = Counter(term for held in terms for term in held)
    others = max(1, len(sentences) - 1)
    return [sum((counts[term] - 1) / others for term in held) / len(held) if held else 0.0 for held in terms]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


@text_cache(8_192)
def _stem(word: str) -> str:
    """The word without an English ending, at least four characters long: "budgets" and "budgeting" are one term."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS_MIN:
            return word[: -len(ending)]
    return word
