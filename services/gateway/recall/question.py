"""Reads a question: who is asked about, in which person, and which times it names.

Turns of a dialogue say "I" where a question about them says a name. Put into the first person the question
lies much nearer to the turns that answer it, which is worth more than any other signal of recall.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from services.gateway.recall.dates import TimeRange, read_time_ranges

_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "i", "you", "me"})
"""Speaker "names" that are roles or pronouns: in a question they are words like others."""
_FIRST_NAME_CHARS_MIN: Final = 3
_ABOUT_USER: Final = re.compile(
    r"\b(?:i|i'm|i’m|i've|i’ve|i'd|i’d|me|my|mine|myself|we|our)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_ABOUT_ASSISTANT: Final = re.compile(
    r"\b(?:did|have|had|were) you\b"
    r"|\byou(?:'ve|’ve)? (?:said|told|gave|given|recommended|suggested|mentioned"  # noqa: RUF001
    r"|advised|explained|proposed|wrote)\b"
    r"|\byour (?:answer|advice|recommendation|suggestion|explanation|reply|response)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """What a question tells about the turns that answer it."""

    text: str
    """The question as it was asked."""
    first_person_text: str
    """The question as a speaker would put it; this is what is embedded and searched for words."""
    named_speakers: tuple[int, ...] = ()
    """Indices of the speakers whom the question names, ascending."""
    about_user: bool = False
    """The question says "I" or "my": the asking user is meant."""
    about_assistant: bool = False
    """The question asks what the assistant ("you") said or did."""
    time_ranges: tuple[TimeRange, ...] = ()
    """Times that the question names; any of them may hold the evidence."""

    @property
    def is_personal(self) -> bool:
        """Whether the question is about someone who takes part in the conversation."""
        return bool(self.named_speakers) or self.about_user


def read_question(text: str, speakers: Sequence[str], now: datetime) -> QuestionEvidence:
    """Return what the question tells, by rules (English ones; a name is understood in any language).

    Args:
        text: The question.
        speakers: Distinct names of the speakers of the user's memories; may be empty.
        now: What "yesterday" is counted from; aware.

    Returns:
        The evidence; `named_speakers` are indices into `speakers`.
    """
    names = _Names.of(tuple(speakers))
    return QuestionEvidence(
        text=text,
        first_person_text=names.to_first_person(text),
        named_speakers=names.named_in(text),
        about_user=bool(_ABOUT_USER.search(text)),
        about_assistant=bool(_ABOUT_ASSISTANT.search(text)),
        time_ranges=read_time_ranges(text, now),
    )


def to_first_person(text: str, speakers: Sequence[str]) -> str:
    """Return the text with every speaker's name as "I" and every "name's" as "my".

    Grammar is not repaired ("What did I do", but also "when I was to visit I"): the encoder does not
    mind, and repairs brought nothing. A first name stands for its speaker if no other shares it. Names
    must be written as given, or capitalised, unless the whole question is in lower case. A text without
    a speaker's name is returned as it is.
    """
    return _Names.of(tuple(speakers)).to_first_person(text)


class _Names:
    """Finds the names of some speakers; compiled once per set of speakers."""

    def __init__(self, speakers: tuple[str, ...]) -> None:
        self._indices = _spellings(speakers)
        self._any_case = {name.casefold(): index for name, index in self._indices.items()}
        written = {form for name in self._indices for form in (name, name.title())}
        longest_first = sorted(written, key=len, reverse=True)
        alternatives = "|".join(re.escape(name) for name in longest_first)
        pattern = rf"(?<!\w)(?P<name>{alternatives})(?!\w)(?P<owner>['’]s\b|(?<=s)['’](?!\w))?"  # noqa: RUF001
        self._exact = re.compile(pattern) if longest_first else None
        self._folded = re.compile(pattern, re.IGNORECASE) if longest_first else None

    @staticmethod
    @lru_cache(maxsize=256)
    def of(speakers: tuple[str, ...]) -> "_Names":
        return _Names(speakers)

    def named_in(self, text: str) -> tuple[int, ...]:
        pattern = self._pattern_for(text)
        if pattern is None:
            return ()
        found = {self._index_of(match) for match in pattern.finditer(text)}
        return tuple(sorted(index for index in found if index is not None))

    def to_first_person(self, text: str) -> str:
        pattern = self._pattern_for(text)
        return pattern.sub(self._pronoun, text) if pattern else text

    def _index_of(self, match: re.Match[str]) -> int | None:
        """Return the speaker whose name was found; none where the spellings are alike to `re` alone.

        IGNORECASE holds letters for the same that `casefold` tells apart, such as the dotless i and I.
        """
        return self._any_case.get(match["name"].casefold())

    def _pronoun(self, match: re.Match[str]) -> str:
        if self._index_of(match) is None:
            return match[0]
        return "my" if match["owner"] else "I"

    def _pattern_for(self, text: str) -> re.Pattern[str] | None:
        # Names that are words too ("Will", "Mark") are told apart by their capital where there are capitals.
        return self._folded if text == text.lower() else self._exact


def _spellings(speakers: tuple[str, ...]) -> dict[str, int]:
    """Return full names, and the first names that belong to one speaker only, with the speaker's index."""
    spellings: dict[str, int] = {}
    owners: dict[str, set[int]] = {}
    for index, speaker in enumerate(speakers):
        name = " ".join(speaker.split())
        if not name or name.casefold() in _ROLES:
            continue
        spellings.setdefault(name, index)
        owners.setdefault(name.split()[0], set()).add(index)
    for first_name, indices in owners.items():
        if len(indices) == 1 and len(first_name) >= _FIRST_NAME_CHARS_MIN:
            spellings.setdefault(first_name, next(iter(indices)))
    return spellings
