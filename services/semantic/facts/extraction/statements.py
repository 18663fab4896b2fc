"""What of a turn states something, as text to be parsed: without code, quotations, tables and markup."""

from __future__ import annotations

import re
from typing import Final

from services.semantic.facts.extraction.person import straight_quotes

_CHUNKS: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r'"[^"\n]{0,400}"')
_DROPPED_LINE: Final = re.compile(
    r"^[ \t]{0,20}(?:>|\||#{1,6}\s|(?:[-*+•]|\d{1,3}[.)])\s|[{}\[\]<$]|(?:import|from|def|class|return|const|let|var|"
    r"func|public|private|SELECT|INSERT|UPDATE|Traceback|File|at)\b[^\n]{0,400}[;:{}()=]\s*$)"
)
_LIST_LINE: Final = re.compile(r"^[ \t]{0,20}(?:[-*+•]|\d{1,3}[.)])\s")
_LABEL: Final = re.compile(r"^(?:about me|fyi|note|update|ps|p\.s\.|edit|context|background)\s*[:.-]\s*", re.IGNORECASE)
_MARKUP: Final = re.compile(r"\*\*|__|~~|`")
_BARE_NAME: Final = re.compile(
    r"\b((?:live|lives|living|based|lived|born) in|(?:move|moved|moving|relocated|flying|travelling|been) to|"
    r"(?:work|working|worked|job|started) (?:at|for)|(?:am|i'm|im|come) from|named|called|name is|name's)"
    r" (?!(?:a|an|the|my|our|this|that|home|here|there|from|with|it|is)\b)([a-z])"
)
_BARE_I: Final = re.compile(r"\bi\b(?!\.)")
_IM: Final = re.compile(r"\b[Ii]m\b")
_SPACES: Final = re.compile(r"[ \t]+")


def paragraphs(content: str, *, list_items: bool) -> list[str]:
    """The paragraphs of a turn, in order: each is parsed by itself.

    Args:
        content: The text of a turn.
        list_items: Whether lines of lists are read.
    """
    text = straight_quotes(content)
    if "`" in text or "~~~" in text:
        text = _CHUNKS.sub("\n\n", text)
    if text.islower():
        # Written without capitals throughout: names are recognised by their place.
        text = _BARE_NAME.sub(lambda match: f"{match[1]} {match[2].upper()}", text)
        text = _BARE_I.sub("I", text)
    text = _IM.sub("I'm", text)
    found: list[str] = []
    open_lines: list[str] = []
    for line in text.split("\n"):
        is_item = _LIST_LINE.match(line)
        is_dropped = _DROPPED_LINE.match(line) and not (is_item and list_items)
        if is_item or is_dropped or not line.strip():
            found.append(" ".join(open_lines))
            open_lines = []
        if is_item and list_items:
            found.append(_LIST_LINE.sub("", line))
        elif not is_dropped and line.strip():
            open_lines.append(line)
    found.append(" ".join(open_lines))
    return [cleaned for paragraph in found if (cleaned := _cleaned(paragraph))]


def _cleaned(paragraph: str) -> str:
    text = _MARKUP.sub("", paragraph)
    if '"' in text:
        text = _QUOTED.sub('""', text)
    return _LABEL.sub("", _SPACES.sub(" ", text.replace("\r", " ")).strip())
