"""Finds the names of speakers in questions, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from services.common.text_cache import text_cache

_ROLES: Final = frozenset({"user", "assistant", "system", "tool", "human", "ai", "bot", "i", "you", "me"})
"""Speaker "names" that are roles or pronouns: in a question they are words like others."""
_CHARS_MIN: Final = 3  # of what stands for a name
_SHORT_CHARS_MAX: Final = 5
_CUT_CHARS_MIN: Final = 2  # of what a short form leaves out: "Eva" is not short for "Evan"
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001
_HANDLE_WORDS_MAX: Final = 2  # "mia_chen", but not "the_real_mia"
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
_NO_NAMES: Final = _DETERMINERS | frozenset(
    (  # noqa: SIM905
        "and are but can did for from had has have how not one she they two was were when where who why will with mrs "
        "miss prof sir jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun christ car art real"
    ).split()
)
"""No short forms of names, nor what a handle is called by."""
_WORD_CHARS_MAX: Final = 20
_SENTENCE_ENDS: Final = (".", "?", "!", ":", "\n")

_Match: TypeAlias = re.Match[str]


class Names:
    """The names of some speakers; compiled once per set of speakers.

    A name is found as it is given, or capitalised. So are a first name, the letters that a handle begins with ("Mia"
    for "mia_92") and, inside a sentence, the first three to five letters of a first name ("Mel" for "Melanie"), each if
    no other speaker shares it. In lower case a name counts where the whole question is in lower case, with or without
    an apostrophe ("mias dog"), and where no speaker is named otherwise and it is no word ("What did mia paint").
    """

    def __init__(self, speakers: tuple[str, ...]) -> None:
        """Looks for these; blank names and those of roles are left out."""
        names = [(name, index) for index, name in enumerate(map(_tidied, speakers)) if name]
        first_names = [(name.split(maxsplit=1)[0], index) for name, index in names]
        spellings = {**_unshared(first_names), **dict(reversed(names))}
        handles = _unshared((letters, index) for name, index in names for letters in _letters(name))
        self._any_case = {name.casefold(): index for name, index in (*handles.items(), *spellings.items())}
        known = {*self._any_case, *(name.casefold() for name, _ in first_names)}
        short = _unshared((form, index) for name, index in first_names for form in _short_forms(name))
        self._short = {form: index for form, index in short.items() if form.casefold() not in known}
        written = {form for name in spellings for form in (name, name.title())} | {name.title() for name in handles}
        owner = r"['’]s\b|(?<=s)['’](?!\w)"  # noqa: RUF001
        exact, folded = _any_of({*written, *self._short}), _any_of(written)
        self._exact = re.compile(rf"{exact}(?!\w)(?P<owner>{owner})?") if written else None
        # In lower case the apostrophe is left out as well.
        self._folded = re.compile(rf"{folded}(?P<owner>{owner}|s\b)?(?!\w)", re.IGNORECASE) if written else None

    @staticmethod
    @text_cache(256)
    def of(speakers: tuple[str, ...]) -> Names:
        """Those of the speakers, from before where they are known."""
        return Names(speakers)

    def named_in(self, text: str) -> tuple[int, ...]:
        """The speakers that the text names, ascending."""
        return tuple(sorted({index for _, index in self._found(text)}))

    def to_first_person(self, text: str) -> str:
        """The text with "I" and "my" instead of names."""
        parts: list[str] = []
        end = 0
        for match, _ in self._found(text):
            parts += (text[end : match.start()], "my" if match["owner"] else "I")
            end = match.end()
        return "".join((*parts, text[end:]))

    def _found(self, text: str) -> list[tuple[_Match, int]]:
        """Where each speaker is named."""
        if self._exact is None or self._folded is None:
            return []
        # Names that are words too ("Will", "Mark") are distinguished by their capital where the text has capitals.
        is_lower = text == text.lower()
        if not is_lower and (
            exact := _known((match, self._capitalized(match)) for match in self._exact.finditer(text))
        ):
            return exact
        meant = (match for match in self._folded.finditer(text) if _is_name(match, is_lower=is_lower))
        return _known((match, self._index_of(match)) for match in meant)

    def _capitalized(self, match: _Match) -> int | None:
        """Return the speaker that a capitalized name stands for."""
        index = self._index_of(match)
        is_short = index is None and (bool(match["owner"]) or not _begins_sentence(match))
        return self._short.get(match["name"]) if is_short else index

    def _index_of(self, match: _Match) -> int | None:
        """Return the speaker whose name was found; none where the spellings are alike to `re` alone.

        IGNORECASE equates letters that `casefold` distinguishes, such as the dotless i and I.
        """
        return self._any_case.get(match["name"].casefold())


def _known(found: Iterable[tuple[_Match, int | None]]) -> list[tuple[_Match, int]]:
    return [(match, index) for match, index in found if index is not None]


def _begins_sentence(match: _Match) -> bool:
    before = _before(match).rstrip(" \t\"'([")
    return not before or before.endswith(_SENTENCE_ENDS)


def _before(match: _Match) -> str:
    return match.string[max(0, match.start() - _WORD_CHARS_MAX) : match.start()]


def _is_name(match: _Match, *, is_lower: bool) -> bool:
    """Whether a name without a capital is one, and no word."""
    name = match["name"]
    is_word = name.casefold() in _NAMES_THAT_ARE_WORDS
    if is_lower:
        return not is_word or match["owner"] != "s"  # but "mark's" and "will" are taken for names
    before = _before(match).lower().split()
    is_thing = is_word or (bool(before) and before[-1] in _DETERMINERS)
    return name == name.lower() and len(name) >= _CHARS_MIN and not is_thing


def _tidied(speaker: str) -> str:
    name = " ".join(speaker.split())
    return "" if name.casefold() in _ROLES else name


def _unshared(forms: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the forms of names that belong to one speaker only."""
    owners: dict[str, set[int]] = {}
    for form, index in forms:
        owners.setdefault(form, set()).add(index)
    return {
        form: next(iter(indices))
        for form, indices in owners.items()
        if len(indices) == 1 and len(form) >= _CHARS_MIN and form.casefold() not in _ROLES
    }


def _letters(name: str) -> Iterator[str]:
    """Yields what a handle is called by."""
    words = _LETTERS.findall(name)
    if 0 < len(words) <= _HANDLE_WORDS_MAX and words[0].casefold() not in _NO_NAMES:
        yield words[0]


def _short_forms(first_name: str) -> Iterator[str]:
    if not first_name.isalpha():
        return
    for length in range(_CHARS_MIN, min(_SHORT_CHARS_MAX, len(first_name) - _CUT_CHARS_MIN) + 1):
        form = first_name[:length].title()
        if form.casefold() not in _NO_NAMES:
            yield form


def _any_of(forms: Iterable[str]) -> str:
    longest_first = sorted(forms, key=len, reverse=True)
    return rf"(?<!\w)(?P<name>{'|'.join(map(re.escape, longest_first))})"
