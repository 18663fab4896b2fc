"""Keeps the text of memories apart from the structure of a context. Pure functions.

A line of a context begins with one of these, and with nothing that comes from a memory unchecked:

    ## heading                       of a section
    - text                           a fact or a note
    [2026-03-01] Ada: text           a turn; the date and the name may be missing
    [2026-03-01] Ada, Ben            header of a passage
    \u2026                                a gap
    (two spaces)text                 further lines of the item above

So every line of a memory but its first is indented, and a speaker's name that holds more than letters, digits and the
punctuation of names, or that is a word of the structure itself, stands in quotation marks. Characters that break lines,
reorder text or cannot be seen never reach the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from services.common.turns import MessageRole

_INDENT: Final = "\n  "
_NAME_PUNCTUATION: Final = frozenset(" .'\u2019_@+&/-")
_QUOTES: Final = str.maketrans(dict.fromkeys('"\u00ab\u00bb\u201c\u201d\u201e\u201f\uff02', "'"))
_BRACKETS: Final = str.maketrans("[]", "()")
_LINE_BREAKS: Final = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_JOINERS: Final = frozenset("\u200c\u200d")  # that scripts and emoji need
_BLANK_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_VARIATION_SELECTORS: Final = range(0xE0100, 0xE01F0)
_PLAIN: Final = re.compile(r"[\x20-\x7e\n]*+")
_PHOTO: Final = re.compile(r"\[(?=\s?photo:)", re.IGNORECASE)
_RESERVED: Final = frozenset(
    ("known facts", "learned procedures", "notes", "relevant memories", "recent conversation", "superseded", "photo")
)
_ROLES: Final = frozenset(role.name.lower() for role in MessageRole)


class _Visible(dict[int, str]):
    """What stands for a character by its code; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in _LINE_BREAKS:
            shown = "\n"
        elif char == "\t":
            shown = " "
        elif char in _BLANK_LETTERS or code in _VARIATION_SELECTORS:
            shown = ""
        else:
            is_hidden = unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} and char not in _JOINERS
            shown = "" if is_hidden else char
        self[code] = shown
        return shown


_VISIBLE: Final = _Visible()


def body_text(text: str) -> str:
    """The text of a memory: lines as they were, none of them blank, without what cannot be seen."""
    shown = _visible(text)
    if "[" in shown:
        shown = _PHOTO.sub("(", shown)
    if "\n" not in shown:
        return shown.strip()
    return "\n".join(line.rstrip() for line in shown.split("\n") if line.strip()).strip()


def caption_text(caption: str) -> str:
    """A caption of a photo, as it stands in a body."""
    return f"[photo: {single_line(caption).translate(_BRACKETS)}]"


def single_line(text: str) -> str:
    """The text on one line, white space as single spaces, without what cannot be seen."""
    return " ".join(_visible(text).split())


def speaker_label(name: str, role: MessageRole) -> str:
    """How a speaker is called: the name, in quotation marks where it could pass for structure; else the role."""
    shown = single_line(name)
    own_role = role.name.lower()
    if not shown:
        return own_role
    words = unicodedata.normalize("NFKC", shown).casefold()
    is_plain = shown[0].isalnum() and all(_is_of_names(char) for char in shown)
    if is_plain and words not in _RESERVED and (words == own_role or words not in _ROLES):
        return shown
    return f'"{shown.translate(_QUOTES)}"'


def marked(text: str, marks: Iterable[str]) -> str:
    """A fact with what is to be known of it, such as "(until 2026-03-01)", behind it; its own text cannot end so."""
    words = ", ".join(marks)
    stripped = text.rstrip()
    if stripped.endswith(")") and (start := stripped.rfind("(")) >= 0:
        stripped = f"{stripped[:start]}[{stripped[start + 1 : -1]}]" if _is_mark(stripped[start + 1 : -1]) else stripped
    return f"{stripped} ({words})" if words else stripped


def indented(text: str) -> str:
    """A body with each line but the first set in."""
    return text.replace("\n", _INDENT)


def _visible(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else text.translate(_VISIBLE)


def _is_of_names(char: str) -> bool:
    return char.isalnum() or char in _NAME_PUNCTUATION or unicodedata.category(char) in {"Mn", "Mc"}


_MARKS: Final = ("superseded", "contradicted", "instruction", "constraint", "commitment", "until")


def _is_mark(words: str) -> bool:
    return any(word in words.casefold() for word in _MARKS)
