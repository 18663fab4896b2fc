"""Cuts text at the places where a reader would: sentences, pieces of some size, questions.

Rules only, no language data: they are meant for chat turns, notes and markdown, in languages that end
sentences with `. ! ?` or their full-width forms.
"""

import re
from typing import Final

_LIST_MARKER: Final = re.compile(r"(?:[-*+•‣]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|#{1,6}|>|\|)\s")
# A run of marks is entered at its first mark only and never given back: else a text of marks takes quadratic time.
_BREAK: Final = re.compile(
    r"(?<![.!?…])(?P<mark>[.!?…]++[\"'”’)\]*_]*+)(?P<gap>\s++)|[。！？]++[”’」』）]*+"  # noqa: RUF001
)
_LAST_WORD: Final = re.compile(r"[\w.\-]+$")
_LEADING_NUMBER: Final = re.compile(r"\s*\(?(?:\d{1,3}|[a-zA-Z])$")
# A full stop after these never ends a sentence: something always follows.
_NEVER_LAST_WORDS: Final = (
    "mr mrs ms mx dr prof rev gen col sgt capt lt gov sen rep hon fr st mt ft messrs "
    "e.g i.e eg ie cf viz vs v approx ca fig figs eq sec ch vol pp ed eds no nos art "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri"
)
_NEVER_LAST: Final = frozenset(_NEVER_LAST_WORDS.split())
# A full stop after these ends a sentence only if a capital follows.
_SOMETIMES_LAST_WORDS: Final = (
    "etc al inc ltd co corp jr sr bros dept est a.m p.m am pm u.s u.k u.n e.u d.c ph.d m.d b.a m.a b.sc m.sc "
    "min max hr hrs sec secs ave blvd rd tel ext"
)
_SOMETIMES_LAST: Final = frozenset(_SOMETIMES_LAST_WORDS.split())
_CLOSERS: Final = " \t\r\n\"'”’)]}*_~`"  # noqa: RUF001
_ASKING_OPENERS: Final = re.compile(
    r"(?:who|whom|whose|what|when|where|which|why|how)(?:['’]?s|['’]?re)?\s+\w+"  # noqa: RUF001
    r"|do(?:n['’]?t)?\s+(?:i|you|u|ya|we|they|my|your|our|their|the|any|anyone)\b"  # noqa: RUF001
    r"|(?:am|is|are|was|were|does|did|have|has|had|can|could|will|would|shall|should|may|might)(?:n['’]?t)?"  # noqa: RUF001
    r"\s+(?:i|you|u|ya|ur|he|she|it|we|they|there|this|that|these|those|my|your|his|her|our|their|the|any|anyone)\b"
    r"|r\s+(?:u|you|ya)\b|(?:wanna|u|you)\s+(?:ok|okay|free|there|coming|sure)\b",
    re.IGNORECASE,
)
# Inside a text without a mark: hardly anything but a question puts the subject behind the verb.
_ASKING_INSIDE: Final = re.compile(
    r"\b(?:what|when|where|which|why|how|who)\s+(?:(?!(?:i|you|u|ya|they|she|he|it|we|that|this)\b)\w+\s+)?"
    r"(?:do|did|does|are|r|were|is|was|have|has|can|could|will|would|should)"
    r"\s+(?:you|u|ya|ur|your|they|she|he|it|we|i)\b"
    r"|(?<!\bso )(?<!\bas )(?<!\bthan )(?<!\bnor )(?<!\bneither )"
    r"\b(?:do|did|are|r|were|have|can|could|will|would)\s+(?:you|u|ya)\b"
    r"|\b(?:what|how)\s+(?:about|abt)\s+(?:you|u)\b|\bwhat(?:['’]?s)\s+(?:up|new)\b",  # noqa: RUF001
    re.IGNORECASE,
)
_ASKING_WORDS_MAX: Final = 25
_LOOK_BACK_CHARS: Final = 16


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, stripped, in order; none of them is empty.

    Abbreviations, initials, decimals and ordinals of lists end no sentence. A line ends one, unless the
    next line goes on in lower case; a list item, a heading or a quoted line always begins one. Every
    character that is not white space is in exactly one sentence.
    """
    return [text[start:end] for start, end in _sentence_spans(text)]


def split_pieces(text: str, max_chars: int = 800) -> list[str]:
    """Return the text in pieces of at most `max_chars` characters, each as long as sentences allow.

    A piece begins and ends where a sentence does; a sentence that is longer than a piece is cut between
    words, and a word that is longer is cut anywhere. No piece is empty; a blank text has none.

    Raises:
        ValueError: `max_chars` is below 1.
    """
    if max_chars < 1:
        raise ValueError("max_chars must be at least 1")
    pieces: list[tuple[int, int]] = []
    for start, end in _sentence_spans(text):
        if pieces and end - pieces[-1][0] <= max_chars:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.extend(_cut_between_words(text, start=start, end=end, max_chars=max_chars))
    return [text[start:end] for start, end in pieces]


def is_question(text: str) -> bool:
    """Return whether the text asks something: a sentence with a question mark, or one that opens like one.

    Without a mark only a text of one short sentence is judged, by how it opens ("what is my sister's name") or by a
    verb before its subject ("good to see you how have you been").
    """
    sentences = split_sentences(text)
    if any(sentence.rstrip(_CLOSERS).endswith(("?", "？")) for sentence in sentences):  # noqa: RUF001
        return True
    if len(sentences) != 1 or len(sentences[0].split()) > _ASKING_WORDS_MAX:
        return False
    sentence = sentences[0]
    if sentence.rstrip(_CLOSERS).endswith((".", "!")):
        return False
    return bool(_ASKING_OPENERS.match(sentence) or _ASKING_INSIDE.search(sentence))


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    return [span for start, end in _paragraph_spans(text) for span in _spans_within(text, start, end)]


def _paragraph_spans(text: str) -> list[tuple[int, int]]:
    """Join lines that were wrapped by a mail program or an editor; keep all others apart."""
    spans: list[tuple[int, int]] = []
    offset = 0
    joinable = False
    for line in text.splitlines(keepends=True):
        start, end = _strip(text, offset, offset + len(line))
        offset += len(line)
        if start == end:
            joinable = False
            continue
        if joinable and text[start].islower() and not _LIST_MARKER.match(text, start, offset):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
        joinable = text[end - 1] not in ".!?…:;。！？"  # noqa: RUF001
    return spans


def _spans_within(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    begin = start
    for match in _BREAK.finditer(text, start, end):
        if not _ends_sentence(text, match, begin=begin, end=end):
            continue
        spans.append((begin, match.end("mark") if match["mark"] else match.end()))
        begin, _ = _strip(text, match.end(), end)
    if begin < end:
        spans.append((begin, end))
    return spans


def _ends_sentence(text: str, match: re.Match[str], *, begin: int, end: int) -> bool:
    mark = match["mark"]
    if mark is None or not mark.startswith("."):
        return True
    follower = text[match.end()] if match.end() < end else ""
    if mark.startswith(".."):
        return not follower.islower()
    # No abbreviation is longer; without the bound a text of abbreviations would take quadratic time.
    before = text[max(begin, match.start() - _LOOK_BACK_CHARS) : match.start()]
    if len(before) == match.start() - begin and _LEADING_NUMBER.match(before):
        return False
    found = _LAST_WORD.search(before)
    word = found.group().casefold() if found else ""
    if word in _NEVER_LAST:
        return word == "no" and not follower.isdigit()
    if word in _SOMETIMES_LAST:
        return follower.isupper()
    # A single capital is an initial ("J. Smith"), but "I" ends sentences too ("It was I. Then ...").
    return not (len(word) == 1 and word.isalpha() and word != "i" and before[-1].isupper())


def _cut_between_words(text: str, *, start: int, end: int, max_chars: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    while end - start > max_chars:
        cut = start + max_chars
        while cut > start and not text[cut].isspace():
            cut -= 1
        if cut == start:
            cut = start + max_chars
        spans.append(_strip(text, start, cut))
        start, _ = _strip(text, cut, end)
    spans.append((start, end))
    return spans


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
