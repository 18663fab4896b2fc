"""Spellings of one word: with accents or without, with a hyphen or a blank. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_STROKES: Final = {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"}
"""Letters whose base Unicode does not tell."""


def _base(letter: str) -> str:
    """The Latin letter that a letter has a mark on, else the letter as it is."""
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() and base.isalpha() else _STROKES.get(letter, letter)


_ACCENTED: Final = {letter: base for code in range(0xC0, 0x1F00) if (base := _base(letter := chr(code))) != letter}
_TO_BASE: Final = str.maketrans(_ACCENTED)
_ALIKE: Final = {
    base: "".join(letter for letter, of in _ACCENTED.items() if of.lower() == base)
    for base in {letter.lower() for letter in _ACCENTED.values()}
}
"""For each letter its forms with accents, small and capital."""
_MARKS: Final = "[\u0300-\u036f]*"
"""Accents that stand behind their letter as characters of their own, as macOS writes the names of files."""


def without_accents(text: str) -> str:
    """Returns a text whose Latin letters have no accents: "Tomás" as "Tomas". Other scripts stay as they are."""
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_TO_BASE)


def spellings(beginning: str) -> str:
    """Returns a pattern, for Python and PostgreSQL, of a word's beginning in all its spellings.

    Args:
        beginning: In small letters, without accents.
    """
    return "".join(
        r"[\s-]" if letter == "-" else f"[{letter}{_ALIKE[letter]}]{_MARKS}" if letter in _ALIKE else re.escape(letter)
        for letter in beginning
    )
