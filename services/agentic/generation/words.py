"""Salient words of a text: names, numbers, and words that are not in every sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(r"[^\W_](?:[\w'’&-]*[^\W_])?")  # noqa: RUF001
_SUFFIX: Final = re.compile(r"(?:'s|’s|'|’)$")  # noqa: RUF001
_CONTRACTION: Final = re.compile(r"(?:n't|n’t|'(?:m|re|ve|ll|d)|’(?:m|re|ve|ll|d))$")  # noqa: RUF001


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as running text."""
    return frozenset(text.split())


# Function words, fillers, and verbs that say nothing by themselves.
_COMMON: Final = word_set(
    """
    a about above actually after again against ago ah all almost already alright also although always am an
    and any anybody anyone anything anyway apparently are aren't around as ask asked at away aw awesome back
    basically be because been before being below best better between bit both but by bye came can can't
    cause come comes coming could course cool dear definitely did didn't do does doesn't doing don't done
    down during each either else enough er especially even ever every everyone everything exactly fair far
    feel few fine first for found from fun get gets getting give given gives glad go goes going gone gonna
    good got gotta great guess ha had haha happen happened has hasn't have haven't having he hello her here
    hers herself hey hi him himself his hm hmm honestly hope how however i if in indeed instead into is
    isn't it its itself just keep kind knew know known last least let lets like literally little lol long
    look looked looking looks lot lots made make makes making many may maybe me mean might mine more most
    much must my myself near need never next nice no nobody none nope nor not nothing now of off oh ok okay
    on once one ones only onto or other others our ours out over own perhaps please point pretty probably
    put quite rather really right said same saw say saying says see seem seems seen she should shouldn't
    since so some somebody someone something soon sorry sort sounds still stuff such sure take taken takes
    taking talk tell than thank thanks that the their theirs them then there these they thing things think
    thinking this those though thought through to told too totally truly try trying two under until up upon
    us use used very want wanted was wasn't way we well went were weren't what when where whether which
    while who whole whom whose why will with within without won't wonder word would wouldn't wow yeah yep
    yes yet you your yours yourself
    """
)
_NUMBERS: Final = word_set(
    """
    three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half
    dozen twice
    """
)
_CALENDAR: Final = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december yesterday today tomorrow tonight christmas easter spring summer
    autumn winter
    """
)


_QUALITIES: Final = word_set(
    """
    new newest old older oldest big bigger biggest small smaller smallest large larger long longer short shorter young
    younger early earlier late later next last full empty whole main other different same open closed ready busy hard
    easy free happy sad morning afternoon evening night day days week weeks weekend month months year years hour hours
    minute minutes time times
    """
)
"""Words that say how, or when, and of nothing what it is about."""


@dataclass(frozen=True, slots=True)
class Word:
    """A salient word as it stands in the text."""

    text: str  # without a possessive ending
    is_name: bool  # capitalised where no sentence begins
    is_number: bool  # digits, a number word, a day or a month

    @property
    def weight(self) -> float:
        """1 for any salient word, 1 more for a name or a number."""
        return 1.0 + (self.is_name or self.is_number)


def salient_words(sentence: str) -> list[Word]:
    """The salient words of one sentence, in order, repeats included."""
    matches = list(_TOKEN.finditer(sentence))
    shouted = sum(len(m.group()) > 1 and m.group().isupper() for m in matches) > 2
    words: list[Word] = []
    for i, match in enumerate(matches):
        token = _SUFFIX.sub("", match.group())
        folded = token.casefold().replace("’", "'")  # noqa: RUF001
        opens = i == 0 or sentence[: match.start()].rstrip()[-1:] in {":", '"', "“"}
        capital = token[0].isupper() and not (shouted and token.isupper())
        # "Great North Run": a capital before another one belongs to a name, also at the beginning.
        leads_name = capital and i + 1 < len(matches) and _continues_name(sentence, match.end(), matches[i + 1])
        common = folded in _COMMON or _CONTRACTION.sub("", folded) in _COMMON
        if (common and (opens or not leads_name)) or (len(token) < 2 and not token.isdigit()):
            continue
        is_number = folded in _NUMBERS or folded in _CALENDAR or any(c.isdigit() for c in token)
        is_name = capital and (not opens or leads_name) and folded not in _CALENDAR
        words.append(Word(token, is_name=is_name, is_number=is_number))
    return words


def is_topic(keyword: str) -> bool:
    """Whether a keyword says what a text is about, unlike "three", "8" and "new"."""
    folded = keyword.casefold()
    return not folded.isdigit() and not any(folded in words for words in (_NUMBERS, _CALENDAR, _QUALITIES))


def _continues_name(sentence: str, end: int, following: re.Match[str]) -> bool:
    return (
        following.group()[0].isupper()
        and sentence[end : following.start()] in {" ", " & "}
        and following.group().casefold() not in _CALENDAR
        and not following.group().startswith("I")
    )


def salience(words: Sequence[Word]) -> float:
    """The information in a sentence: the weights of its distinct salient words."""
    return sum({word.text.casefold(): word.weight for word in words}.values())


def keywords(sentences: Sequence[str], *, count_max: int) -> tuple[str, ...]:
    """The most salient words, best first; names of several words stay together.

    Without a corpus rarity is estimated from form: names before numbers before long words before short ones,
    what is said again before what is said once, and of equals the one that comes first.
    """
    found: dict[str, tuple[str, float]] = {}
    for sentence in sentences:
        for text, weight in _phrases(sentence):
            key = text.casefold()
            surface, before = found.get(key, (text, 0.0))
            found[key] = (surface, before + weight if not before else before + 0.5)
    ranked = sorted(found.values(), key=lambda item: -item[1])
    return tuple(surface for surface, _ in ranked[:count_max])


def _phrases(sentence: str) -> list[tuple[str, float]]:
    phrases: list[tuple[str, float]] = []
    name: list[str] = []
    end = -1
    position = 0
    for word in salient_words(sentence):
        start = sentence.index(word.text, position)
        if word.is_name and name and sentence[end:start] in {" ", " & ", " of the ", " of "}:
            name.append(sentence[end:start] + word.text)
        else:
            phrases.extend(_flushed(name))
            name = [word.text] if word.is_name else []
            if not word.is_name:
                phrases.append((word.text.lower(), 1.0 + 0.5 * word.is_number + min(len(word.text), 12) / 24))
        position = end = start + len(word.text)
    phrases.extend(_flushed(name))
    return phrases


def _flushed(name: list[str]) -> list[tuple[str, float]]:
    return [("".join(name)[:64], 2.0 + 0.25 * (len(name) - 1))] if name else []
