"""What a summary that a language model wrote must be to be taken. Pure functions.

They see words, not meanings: that nothing is in a summary which the text does not have, and that it holds what matters.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from services.common.language_model.repetition import is_repetitive
from services.common.summaries import SummarySettings, details_of
from services.common.text import split_sentences
from services.common.tokens import TokenCounter
from services.common.values.words.tokens import lemma
from services.episodic.summaries.config import ModelSummarySettings

# No summary needs addresses and markup; a text that wants them in one is no reason.
_NO_PROSE: Final = re.compile(r"://|\bwww\.|\w@\w|[<>{}\[\]|`#]")
_WORD: Final = re.compile(r"[^\W\d_]\w*(?:['-]\w+)*")
_WORD_OR_NUMBER: Final = re.compile(r"\w+(?:['-]\w+)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_SPELLED: Final = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|billions?|dozens?|half|twice"
    r"|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b"
)
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|ago"
    r"|(?:last|next|this|past|coming|previous|following) (?:night|morning|afternoon|evening|week|weekend|month|quarter"
    r"|year|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b"
)
_CALENDAR: Final = frozenset(
    (  # noqa: SIM905 - words in a row are easier to read
        "january february march april may june july august september october november december monday tuesday "
        "wednesday thursday friday saturday sunday today tonight tomorrow yesterday"
    ).split()
)
# What a sentence may begin with that the text does not say: no name is among them.
_OPENERS: Final = frozenset(
    (  # noqa: SIM905
        "the a an this that these those it its he she they his her their there we our i you your my in on at by for "
        "from with without to of as after before during when while where if since until although though because both "
        "each all some many most several other another then later also and but or so not no however meanwhile finally "
        "overall instead afterwards only what who how why user speaker assistant"
    ).split()
)
# Words that summaries use to report ("she says", "they discuss"): the text need not contain them.
_TELLING: Final = frozenset(
    map(
        lemma,
        (  # noqa: SIM905
            "say tell ask mention discuss explain describe note plan want user speaker assistant exchange conversation "
            "text also then about with from that this they their there have will would could should must been were "
            "which when while after before into over both other more"
        ).split(),
    )
)
_WORD_CHARS_MIN: Final = 4
"""Shorter words say little of what a text is about."""


class Fault(StrEnum):
    """Why a summary is not taken; the values are those of the metric."""

    LENGTH = "length"
    REPETITIVE = "repetitive"
    NO_PROSE = "no_prose"
    NUMBER = "number"
    TIME = "time"
    NAME = "name"
    WORDS = "words"
    DETAILS = "details"


def fault_of(
    summary: str,
    text: str,
    chosen: str,
    counter: TokenCounter,
    lengths: SummarySettings,
    settings: ModelSummarySettings,
) -> Fault | None:
    """The first thing that is wrong with a summary; None where it can be taken.

    Args:
        summary: What a language model wrote.
        text: Of the episode.
        chosen: The extractive summary of the text, which says what matters most.
        counter: Counts its tokens, of which it has as many as an extractive one: 100 to 150 by default.
        lengths: How many that are.
        settings: How much of the text's words and of the details it holds.
    """
    summary, text = _plain(summary), _plain(text)
    if not lengths.tokens_min <= counter.count_tokens(summary) <= lengths.tokens_max:
        return Fault.LENGTH
    sentences = split_sentences(summary)
    if is_repetitive(summary, times_max=1) or len({sentence.casefold() for sentence in sentences}) < len(sentences):
        return Fault.REPETITIVE
    if _NO_PROSE.search(summary):
        return Fault.NO_PROSE
    if not set(_NUMBER.findall(summary)) <= set(_NUMBER.findall(text)) or _adds(_SPELLED, summary, text):
        return Fault.NUMBER
    if _adds(_RELATIVE, summary, text):
        return Fault.TIME
    said = _words(text)
    if any(_names_somebody_else(sentence, said) for sentence in sentences):
        return Fault.NAME
    lemmas = {lemma(word.casefold()) for word in said} | _TELLING
    if any(_known_share(sentence, lemmas) < settings.words_share_min for sentence in sentences):
        return Fault.WORDS
    if _details_share(summary, _plain(chosen)) < settings.details_share_min:
        return Fault.DETAILS
    return None


def _plain(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").split())


def _words(text: str) -> list[str]:
    """Words and numbers in their order, without the genitive's ending."""
    return [_bare(word) for word in _WORD_OR_NUMBER.findall(text)]


def _bare(word: str) -> str:
    return word.removesuffix("'s")


def _adds(pattern: re.Pattern[str], summary: str, text: str) -> bool:
    return not set(pattern.findall(summary.casefold())) <= set(pattern.findall(text.casefold()))


def _names_somebody_else(sentence: str, said: list[str]) -> bool:
    """Whether a sentence has a capitalised word that the text does not have, or joins names that it does not join."""
    exact, lower = set(said), {word.casefold() for word in said}
    joined = f" {' '.join(said)} "
    run: list[str] = []
    end = -1
    for found in _WORD.finditer(sentence):
        word = _bare(found[0])
        is_first = not sentence[: found.start()].strip("\"'(")
        if is_first and word.casefold() in _OPENERS:
            continue
        if word == word.lower():
            continue
        if is_first and word not in exact and word.casefold() in lower:
            continue  # a word of the text with a capital since it begins the sentence
        if word not in exact:
            return True
        if word.casefold() in _CALENDAR:
            continue
        run = [*run, word] if run and sentence[end : found.start()] == " " else [word]
        end = found.end()
        if f" {' '.join(run)} " not in joined:
            return True
    return False


def _known_share(sentence: str, lemmas: set[str] | frozenset[str]) -> float:
    words = {lemma(_bare(word).casefold()) for word in _WORD.findall(sentence) if len(word) >= _WORD_CHARS_MIN}
    return len(words & lemmas) / len(words) if words else 1.0


def _details_share(summary: str, chosen: str) -> float:
    details = {_bare(detail) for detail in details_of(chosen) if not detail.startswith("I'")}
    held = {*_words(summary), *_NUMBER.findall(summary)}
    return len(details & held) / len(details) if details else 1.0
