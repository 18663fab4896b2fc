"""Cuts a sentence into parts, and puts the name that "she" or "he" stands for into each part. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.words.lexicon import KIN

_CUT: Final = re.compile(
    r"[,;:]\s{1,3}(?:(?P<so>so|hence|therefore|thus|which\sis\swhy|that's\swhy)\s|(?:but|and|because|cause)\s)?|\s{1,3}[\u2013\u2014-]{1,3}\s{1,3}|\s\(|\)\s?|"
    r"\s(?:so|but|because|and)\s(?=(?:i|we|i'm|we're|my|our|the|from|since|it|it's)\b)",
    re.IGNORECASE,
)
_SAID_FIRST: Final = re.compile(
    r"^(?:(?:no|nope|nah|yes|yeah|yep|well|oh|ok|okay|right|ugh|haha|lol|seriously|honestly|believe\sit\sor\snot|"
    r"(?:it's\s|this\sis\s)?no\s(?:joke|kidding|lie)|(?:i'm\s)?not\s(?:joking|kidding))[,.!:]\s|on\ssecond\sthoughts?,?\s){1,2}(?=\w)",
    re.IGNORECASE,
)
"""What opens an answer and says nothing by itself."""
_LABEL: Final = re.compile(r"^(?P<what>(?:the|my|our)\s(?:[\w'-]+\s)?[\w'-]+):\s(?=\d)", re.IGNORECASE)
"""As in "the cardigan: 22 stitches"."""
QUOTED_VALUE: Final = re.compile(r"(?<=\sis\s)[\"\u201c]([^\"\u201c\u201d\s]{1,40})[\"\u201d]")
"""A name or a password in quotation marks is no quotation: 'the wifi is "otter-otter"'."""
_PRONOUN: Final = re.compile(r"^(?:she|he)\s(?=[a-z]+s\b)", re.IGNORECASE)
_SOMEBODY: Final = re.compile(
    r"^(?P<who>(?:[Mm]y|[Oo]ur)\s[a-z]{3,12}|(?!(?:The|My|Our|It|This|That|There|She|He|We|You|They|If|When)\b)[A-Z][a-z]{1,15})\s"
    r"(?:has|have|is|was|got|needs?|wants?|can|can't|doesn't|isn't|started|went|left|came|moved|changed|lost|found|[a-z]+ed|[a-z]+s)\b"
)
_NAME: Final = re.compile(r"\b(?!I\b)[A-Z][a-z]+")
_ANOTHER: Final = re.compile(
    r"\b(?:his|her|their|with|and)\b|"
    rf"(?<!^my\s)(?<!^our\s)\b(?:{'|'.join(sorted(KIN))}|friend|colleague|teacher|boss)\b",
    re.IGNORECASE,
)
"""Names a second person: then "she" or "he" may stand for either, and no name is put in."""


class Part(NamedTuple):
    """A part of a sentence."""

    text: str
    follows: bool  # from the part before it: "burst pipe, so the orchestra meets in the town hall"


@text_cache(4_096)
def parts_of(text: str) -> tuple[Part, ...]:
    """Returns a sentence cut at commas, dashes and before "so" or "but"."""
    plain = QUOTED_VALUE.sub(r"\1", text.replace("\u2019", "'"))
    plain = _SAID_FIRST.sub("", " ".join(plain.split()).rstrip(".! "))
    plain = _LABEL.sub(r"\g<what> is ", plain)
    cuts = [(match.start(), match.end(), match["so"] is not None) for match in _CUT.finditer(plain)]
    starts = [(0, False), *((end, follows) for _, end, follows in cuts)]
    ends = [*(start for start, _, _ in cuts), len(plain)]
    parts = (Part(plain[start:end].strip(), follows) for (start, follows), end in zip(starts, ends, strict=True))
    return tuple(_with_names([part for part in parts if part.text]))


def _with_names(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts, with "she" and "he" replaced by whom the part before is about: "Yusra needs glasses, so she sits"."""
    before = ""
    for part in parts:
        pronoun = _PRONOUN.match(part.text)
        if pronoun is not None and before:
            yield part._replace(text=f"{before} {part.text[pronoun.end() :]}")
            continue
        who = _SOMEBODY.match(part.text)
        is_alone = len(_NAME.findall(part.text)) <= 1 and _ANOTHER.search(part.text) is None
        before = who["who"] if who is not None and is_alone else ""
        yield part


def split_parts(text: str) -> tuple[str, ...]:
    """Returns a sentence cut at commas, dashes and before "so" or "but", without what joins the parts."""
    return tuple(part.text for part in parts_of(text))
