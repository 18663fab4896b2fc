"""Reads a question: who is asked about, in which person, and which times it names.

Turns of a dialogue say "I" where a question about them says a name. Put into the first person the question
lies much nearer to the turns that answer it, which is worth more than any other signal of recall.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from services.gateway.recall.dates import TimeRange, read_time_ranges

_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "i", "you", "me"})
"""Speaker "names" that are roles or pronouns: in a question they are words like others."""
_FIRST_NAME_CHARS_MIN: Final = 3
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001
"""What a handle such as "mia_92" is called by."""
_NAMES_THAT_ARE_WORDS: Final = frozenset(
    (  # noqa: SIM905 - eighty quoted words would be no easier to read
        "will may mark can art bill drew grant chase hope joy faith grace rose sue pat rob don jack dean frank guy bob "
        "rich sunny summer autumn april june july august dawn eve page ray sky star miles nick olive ivy iris lily "
        "daisy violet holly heather ginger basil angel amber jade ruby pearl crystal penny robin jay hunter baker cook "
        "king prince duke earl major judge reed wade lance brook cliff clay glen heath stone wood forest river lake "
        "rain storm moon sun bear wolf fox bird cat pip rusty sandy trip buddy junior chance destiny charity patience "
        "mom mum dad mother father sister brother boss friend love honey baby dear win china long song young fan man"
    ).split()
)
"""In lower case they are names only where nothing is written with a capital."""
_DETERMINERS: Final = frozenset(
    "a an the my your his her its our their this that these those any some no every each which what".split()  # noqa: SIM905
)
_WORD_CHARS_MAX: Final = 20
_ABOUT_USER: Final = re.compile(
    r"\b(?:i|i'm|i’m|i've|i’ve|ive|i'd|i’d|me|my|mine|myself|we|our)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_ABOUT_ASSISTANT: Final = re.compile(
    r"\b(?:did|have|had|were) (?:you\b|(?-i:u)(?![\w.]))"
    r"|\b(?:you(?:'ve|’ve)?|(?-i:u)) (?:said|told|gave|given|recommended|suggested|mentioned"  # noqa: RUF001
    r"|advised|explained|proposed|wrote)\b"
    r"|\b(?:your|(?-i:ur)) (?:answer|advice|recommendation|suggestion|explanation|reply|response)s?\b",
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
    mind, and repairs brought nothing. A first name, or the letters that a handle begins with, stands for its
    speaker if no other shares it. Names must be written as given, or capitalised, unless the whole question is
    in lower case ("whats mias dog called"), or names nobody so: then names that are no words count in lower case
    ("What did mia paint"). A text without a speaker's name is returned as it is.
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
        name, owner = rf"(?<!\w)(?P<name>{alternatives})", r"['’]s\b|(?<=s)['’](?!\w)"  # noqa: RUF001
        self._exact = re.compile(rf"{name}(?!\w)(?P<owner>{owner})?") if longest_first else None
        # In lower case the apostrophe is left out as well.
        self._folded = re.compile(rf"{name}(?P<owner>{owner}|s\b)?(?!\w)", re.IGNORECASE) if longest_first else None

    @staticmethod
    @lru_cache(maxsize=256)
    def of(speakers: tuple[str, ...]) -> "_Names":
        return _Names(speakers)

    def named_in(self, text: str) -> tuple[int, ...]:
        return tuple(sorted({index for _, index in self._found(text)}))

    def to_first_person(self, text: str) -> str:
        parts: list[str] = []
        end = 0
        for match, _ in self._found(text):
            parts += (text[end : match.start()], "my" if match["owner"] else "I")
            end = match.end()
        return "".join((*parts, text[end:]))

    def _found(self, text: str) -> Iterator[tuple[re.Match[str], int]]:
        """Yields where each speaker is named."""
        if self._exact is None or self._folded is None:
            return
        # Names that are words too ("Will", "Mark") are told apart by their capital where there are capitals.
        is_lower = text == text.lower()
        is_told = not is_lower and self._exact.search(text) is not None
        for match in (self._exact if is_told else self._folded).finditer(text):
            index = self._index_of(match)
            if index is not None and (is_told or _is_name(match, text, is_lower=is_lower)):
                yield match, index

    def _index_of(self, match: re.Match[str]) -> int | None:
        """Return the speaker whose name was found; none where the spellings are alike to `re` alone.

        IGNORECASE holds letters for the same that `casefold` tells apart, such as the dotless i and I.
        """
        return self._any_case.get(match["name"].casefold())


def _is_name(match: re.Match[str], text: str, *, is_lower: bool) -> bool:
    """Whether a name without a capital is one, and no word."""
    name = match["name"]
    is_word = name.casefold() in _NAMES_THAT_ARE_WORDS
    if is_lower:
        return not is_word or match["owner"] != "s"  # but "mark's" and "will" are taken for names
    before = text[max(0, match.start() - _WORD_CHARS_MAX) : match.start()].lower().split()
    is_thing = is_word or (bool(before) and before[-1] in _DETERMINERS)
    return name == name.lower() and len(name) >= _FIRST_NAME_CHARS_MIN and not is_thing


def _spellings(speakers: tuple[str, ...]) -> dict[str, int]:
    """Return full names, and the first names that belong to one speaker only, with the speaker's index."""
    spellings: dict[str, int] = {}
    owners: dict[str, set[int]] = {}
    for index, speaker in enumerate(speakers):
        name = " ".join(speaker.split())
        if not name or name.casefold() in _ROLES:
            continue
        spellings.setdefault(name, index)
        for first_name in _first_names(name):
            owners.setdefault(first_name, set()).add(index)
    for first_name, indices in owners.items():
        if len(indices) == 1 and len(first_name) >= _FIRST_NAME_CHARS_MIN:
            spellings.setdefault(first_name, next(iter(indices)))
    return spellings


def _first_names(name: str) -> set[str]:
    """Return what a name begins with, as it is written and without what is no letter."""
    letters = _LETTERS.search(name)
    found = {name.split(maxsplit=1)[0], letters[0] if letters else ""}
    return {first_name for first_name in found if first_name.casefold() not in _ROLES}
