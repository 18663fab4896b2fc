"""Takes expressions such as "a.b::c<T>" apart, by their text. Pure functions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_CACHED_CHARS_MAX: Final = 80
_LAST_NAME: Final = re.compile(r"(?<![\w$])((?:[^\W\d]|\$)[\w$]{0,200}[!?]?)\s{0,20}$")
_GENERIC: Final = re.compile(r"(::)?<[^<>]*>\s*$")
_QUALIFIER: Final = re.compile(r"[@\w$.:>\-#?]+")
_SUPER: Final = re.compile(r"super\(\s{0,9}([\w.]{1,80}\s{0,9},\s{0,9}\w{1,40}\s{0,9})?\)")


def split_name(text: str) -> tuple[str, str]:
    """The last name of an expression such as "a.b::c<T>", and what stands before it."""
    if text.isidentifier():
        return text, ""
    return _split_expression(text) if len(text) <= _CACHED_CHARS_MAX else _split_expression.__wrapped__(text)


@lru_cache(maxsize=20_000)
def _split_expression(text: str) -> tuple[str, str]:
    text = text.strip()
    while (shorter := _GENERIC.sub("", text)) != text:
        text = shorter
    found = _LAST_NAME.search(text)
    if found is None:
        return "", ""
    return found[1], qualifier_of(text[: found.start(1)])


def qualifier_of(text: str) -> str:
    """The qualifier in what stands before a name; "?" for an expression that is none."""
    before = text.rstrip().removesuffix("?.").rstrip(".:->&*~ \n\t").lstrip("&*( ")
    if not before:
        return ""
    if _SUPER.fullmatch(before):
        return "super()"
    return before if len(before) <= 80 and _QUALIFIER.fullmatch(before) else "?"
