"""Private matters that people name by one word and tell in others: "my debts", "I owe the bank". Pure functions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import AUXILIARIES, KIN, PRONOUNS, STOP, VERBS
from services.common.values.words.tokens import lemma
from services.gateway.erasure.matters import MATTERS
from services.gateway.erasure.wording import is_form


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])" if words else r"(?!)", re.IGNORECASE)


_NAMED: Final = tuple(tuple(frozenset(one.split("+")) for one in matter.named.split()) for matter in MATTERS)
_TOLD: Final = tuple(_pattern("|".join(filter(None, (matter.told, matter.clear)))) for matter in MATTERS)
_CLEAR: Final = tuple(_pattern(matter.clear) for matter in MATTERS)
_APART: Final = tuple(_pattern(matter.apart) for matter in MATTERS)
_BEGINNING: Final = re.compile(r"(?<![a-z\\])[a-z]{3,}")
_COMMON: Final = STOP | AUXILIARIES | PRONOUNS | {"not", "out", "put", "live", "with", "member"}
_MINE: Final = re.compile(
    r"(?<![\w'])(?:i|i'm|i've|i'd|i'll|im|ive|my|me|mine|we|our|us|we're|we've)(?![\w])", re.IGNORECASE
)
_OF_OTHERS: Final = re.compile(
    rf"\b(?:my|our)\s(?:{'|'.join(sorted(KIN))}|nana?|gran|granny|grandad|friend|neighbou?r|colleague|boss|flatmate|roommate|cousin|"
    r"ex|dog|cat)\b|\b\w{2,}'s\s\w",
    re.IGNORECASE,
)
_THIRD: Final = re.compile(r"\b(?:he|she|they|his|her|their|him|them|you|your)\b", re.IGNORECASE)
_UNKNOWN: Final = re.compile(r"\b(?:an?|no|any|every)\s(?:[\w-]+\s)?$", re.IGNORECASE)
_DOER: Final = re.compile(
    r"(?<![\w'])(?:i|we|my|our)(?:'\w{1,2})?(?:\s(?:have|had|am|was|are|were|been|still|just|also|now|never|always|only)){0,4}\s$",
    re.IGNORECASE,
)
_DOER_CHARS: Final = 60
_BEFORE_VERB: Final = re.compile(
    r"\s{0,9}(?:(?:and|but|so|well|yeah|yes|no|also|still|just|now|already|been|always|only|finally|again),?\s){0,4}",
    re.IGNORECASE,
)
_AFTER_VERB: Final = re.compile(
    r"\s(?:the|an?|this|that|these|it|them|some|at|to|from|in|off|back|for|with|again|since|too|\d)|\s{0,9}(?:[.,!]|\Z)",
    re.IGNORECASE,
)
"""Behind a verb without its subject; a noun makes it none: "smoked salmon"."""
_ASKED: Final = re.compile(r"[^.!?]{0,200}\?")
_SAYS_OF_IT: Final = re.compile(
    r"(?:\s\w+){0,6}\s(?:is|was|are|isn't|takes|makes|costs|feels|hurts|means|helps|needs|can|will|would|has)\b",
    re.IGNORECASE,
)
"""Then what is done is only spoken of: "paying it off takes years"."""
_OPENING: Final = re.compile(r"\A\s{0,9}(\w[\w'-]{0,40})\s{1,9}(\w[\w'-]{0,40})")


def told_of(topics: Collection[str], text: str) -> int:
    """Returns how many matters that a query names a text tells of in other words, as the speaker's own.

    Args:
        topics: Content words of the query, in base form.
        text: What somebody said.
    """
    plain = _plain(text)
    is_mine = _MINE.search(plain) is not None
    others = [match.span() for match in _OF_OTHERS.finditer(plain)]
    return sum(
        any(
            lemma(match[0].casefold()) not in topics
            and _is_own(plain, match, others)
            and (is_mine or _lacks_its_subject(plain, match))
            for match in _TOLD[matter].finditer(plain)
        )
        and _APART[matter].search(plain) is None
        for matter in _asked(topics)
    )


def _lacks_its_subject(text: str, told: re.Match[str]) -> bool:
    """Whether a text opens with what its speaker does, and asks nothing: "paying it off", "still owe 300"."""
    verb = told[0].casefold().split()[0]
    is_opening = _BEFORE_VERB.fullmatch(text[: told.start()]) is not None
    if not is_opening or _ASKED.match(text, told.end()) is not None:
        return False
    if verb in {"owe", "owed"}:
        return True  # nobody is told to owe
    behind = _AFTER_VERB.match(text, told.start() + len(verb))
    return verb.endswith(("ing", "ed", "paid")) and behind is not None and _SAYS_OF_IT.match(text, told.end()) is None


def _is_own(text: str, told: re.Match[str], others: Sequence[tuple[int, int]]) -> bool:
    """Whether what is told is the speaker's: nobody else is named, or only behind it: "I'm paying back my brother"."""
    if _is_name(text, told):
        return False
    besides = [start for start, end in others if not (told.start() <= start and end <= told.end())]
    if not besides:
        return True
    before = text[max(0, told.start() - _DOER_CHARS) : told.start()]
    is_doer = _MINE.search(told[0]) is not None or _DOER.search(before) is not None
    return is_doer and min(besides) >= told.start()


def is_clearly_told(topics: Collection[str], text: str) -> bool:
    """Returns whether a text has words of a matter that a query names and of no other, and is about nobody else.

    Args:
        topics: Content words of the query, in base form.
        text: What somebody said.
    """
    plain = _plain(text)
    if _OF_OTHERS.search(plain) is not None:
        return False
    is_mine = _MINE.search(plain) is not None
    for matter in _asked(topics):
        match = _CLEAR[matter].search(plain)
        if match is None or _is_name(plain, match) or _APART[matter].search(plain) is not None:
            continue
        if is_mine or not (_THIRD.search(plain) or _UNKNOWN.search(plain[: match.start()]) or _is_of(plain, match)):
            return True
    return False


def is_told_beside(topics: Collection[str], text: str) -> bool:
    """Returns whether a text next to one that a query means has words of its matter and is about nobody else.

    As "the second interview is on 3 March", after "I applied for a post"; in the first person it is meant by itself.
    """
    plain = _plain(text)
    if _MINE.search(plain) is not None or _OF_OTHERS.search(plain) is not None or _UNKNOWN.search(plain[:12]):
        return False
    return any(
        match is not None
        and not _is_name(plain, match)
        and not _is_of(plain, match)
        and _APART[matter].search(plain) is None
        for matter in _asked(topics)
        for match in (_TOLD[matter].search(plain),)
    )


def _is_name(text: str, told: re.Match[str]) -> bool:
    """Whether what is told is a part of a name: "the Pension Adler"."""
    is_capital = told[0][:1].isupper() and not told[0].isupper()
    return is_capital and told.start() > 0 and text[told.end() : told.end() + 2].strip()[:1].isupper()


def as_one_word(topics: Collection[str]) -> tuple[frozenset[str], ...]:
    """Returns the words of a query, those together that name one matter: "salary" and "earn" count once."""
    found: list[frozenset[str]] = []
    left = set(topics)
    for named in _NAMED:
        words = {word for one in named if len(one) == 1 for word in one} & left
        if len(words) > 1:
            found.append(frozenset(words))
            left -= words
    return (*found, *(frozenset({word}) for word in sorted(left)))


def names_matter(topics: Collection[str]) -> bool:
    """Returns whether words of a query name a matter that is known."""
    return any(True for _ in _asked(topics))


def is_apart(topics: Collection[str], text: str) -> bool:
    """Returns whether a text uses words of a matter that a query names and means something else by them."""
    plain = _plain(text)
    matches = (match for matter in _asked(topics) for match in _APART[matter].finditer(plain))
    return any(not all(_is_asked(word, topics) for word in match[0].casefold().split()) for match in matches)


def _is_asked(word: str, topics: Collection[str]) -> bool:
    return any(is_form(word, topic) for topic in topics)


def beginnings_of(topics: Collection[str]) -> frozenset[str]:
    """Returns beginnings of words by which texts that tell of these matters are found."""
    return frozenset(
        word
        for matter in _asked(topics)
        for word in _BEGINNING.findall(f"{MATTERS[matter].told}|{MATTERS[matter].clear}")
        if word not in _COMMON
    )


def _asked(topics: Collection[str]) -> Iterator[int]:
    return (matter for matter, named in enumerate(_NAMED) if any(words.issubset(topics) for words in named))


def _plain(text: str) -> str:
    return text.replace("’", "'")  # noqa: RUF001


def _is_of(text: str, told: re.Match[str]) -> bool:
    """Whether a text opens with somebody who does something: "Tom is on crutches"."""
    opening = _OPENING.match(text)
    if opening is None or told.start() <= opening.start(1):
        return False
    first, second = opening[1].casefold(), opening[2].casefold()
    if first in KIN:
        return True  # "Cousin Al is in rehab"
    is_verb = second in AUXILIARIES or lemma(second) in VERBS or second.endswith("ed")
    return is_verb and first not in STOP | PRONOUNS | DETERMINERS
