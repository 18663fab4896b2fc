"""Sentences of a turn that somebody else wrote: a letter, a text or a notice that the speaker quotes. Pure functions.

'Look what landed in my mailbox: "Dear member, we no longer take cash."' says nothing of what holds for the speaker, who
may take it up in words of their own behind it: "so I pay by card now". What the speaker quotes of themselves ("I told
them: ...", "my answer: ...") and names in quotation marks are no such quotations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from services.common.text_cache import text_cache

_MARKS: Final = {
    '"': '"',
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u2018": "\u2019",
    "'": "'\u2019",
}
_OPENING: Final = re.compile(r"(?:^|(?<=[\s:(]))[\"\u201c\u201e\u00ab\u2018'](?=\w)")
_SINGLE: Final = frozenset("'\u2018")
"""Marks that are apostrophes too: they open a quotation behind a colon only, if another one closes it."""
_LEAD_CHARS: Final = 160
_CHARS_MAX: Final = 4_000
"""Of longer quotations only the beginning is looked at for their end."""
_MARKS_MAX: Final = 200
"""Marks of a turn that are looked at, so that time stays linear."""
_WORDS_MIN: Final = 4
"""What is shorter is a name or a word: 'the sign says "closed"'."""
_WRITINGS: Final = (
    "letter|mail|e-?mail|text|sms|message|msg|dm|note|notice|sign|sticker|post|posting|postcard|card|leaflet|flyer|brochure|ad|advert|"
    "poster|memo|newsletter|invoice|bill|reminder|voicemail|pop-?up|banner|announcement|circular|slip|mailbox|inbox|letterbox|doormat|"
    "website|page|article|review|comment|reply|answer|chain\\sletter|spam|phishing|scam"
)
_RECEIVED: Final = re.compile(
    rf"\b(?:{_WRITINGS})s?\b|\b(?:got|received|came|come|landed|arrived|popped|found|forwarded|forwarding|look|see|read|reads|says?|said|writes?|"
    r"wrote|written|quote|quoting|texted|e?-?mailed|messaged|posted|sent|claims?|according\sto)\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    r"\b(?:i|we)(?:'ve|\shave|'m|\sam|'d|'ll|\swill|\shad)?\s(?:(?:just|also|then|finally|politely|already)\s)?(?:told|tell|said|say|wrote|write|written|"
    r"answer\w*|repl\w+|text\w*|e?-?mail\w*|messag\w+|post\w*|sent|send|sending|writing|put|explain\w*|shout\w*|left|add\w*)\b|"
    r"\b(?:my|our)\s(?:\w+\s)?(?:answer|reply|response|note|motto|bio|status|title|slogan|name|sign|ad)\b|"
    r"\b(?:my|our)\s(?:\w+\s)?(?:message|letter|text|mail|e-?mail|post)\s(?:to|was|is|says?|said|reads?|goes)\b|"
    r"(?:^|[,;]\s|\bplease\s|\byou\s)(?:remember|write|save|add|store|put|note|correct|change|rephrase|proofread|draft|say|send|post|reply|answer)\b",
    re.IGNORECASE,
)
"""The speaker's own words, or words that the assistant shall use or store."""
_FICTION: Final = re.compile(
    r"\b(?:(?:first|last|opening|closing|next)\s(?:line|sentence|paragraph|verse|words)|lyrics|chorus|(?:short\s)?stor(?:y|ies)|novel|poem|haiku|limerick|screenplay|"
    r"monologue|dialogue|chapter|narrator|protagonist|main\scharacter|(?:my|the|our)\s(?:hero|heroine|character))\b",
    re.IGNORECASE,
)
"""What stands in quotation marks is made up: 'First line of the novel: "..."'."""
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_STATES: Final = re.compile(r"\b\w++\W++\w++\W++\w")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class _Span(NamedTuple):
    begin: int  # of the opening mark
    end: int  # behind the closing one


def quoted_places(text: str, sentences: Sequence[str]) -> frozenset[int]:
    """Returns the places of the sentences that somebody else wrote.

    A sentence that opens with the speaker's words and ends with a quotation is one of them; one in which the speaker
    goes on behind it is not.

    Args:
        text: A turn.
        sentences: Sentences of it, in order; what is not found in it is not quoted.
    """
    spans = _spans(text)
    if not spans:
        return frozenset()
    found: set[int] = set()
    start = end = 0
    for place, sentence in enumerate(sentences):
        own = sentence.removeprefix("Please ")  # a request may have been put in the form of an order
        found_at = (text.find(sentence, end), text.find(own, end), text.find(own, start))
        begin = next((at for at in found_at if at >= 0), -1)
        if begin < 0:
            continue
        start, end = begin, max(end, begin + len(own))
        within = [span for span in spans if span.begin < end and start < span.end]
        if any(_STATES.search(text[span.end : end]) is None for span in within):
            found.add(place)
    return frozenset(found)


@text_cache(1_024)
def _spans(text: str) -> tuple[_Span, ...]:
    """The quotations of what somebody else wrote."""
    found: list[_Span] = []
    after = 0
    for match in islice(_OPENING.finditer(text), _MARKS_MAX):
        if match.start() < after:
            continue
        end = _end(text, match.end(), _MARKS[match[0]])
        before = text[max(0, match.start() - _LEAD_CHARS) : match.start()]
        if match[0] in _SINGLE and (end is None or not before.rstrip().endswith(":")):
            continue
        after = end or next((cut.start() for cut in _PARAGRAPH.finditer(text, match.end())), len(text))
        if len(text[match.end() : after].split()) >= _WORDS_MIN and _is_of_others(before):
            found.append(_Span(match.start(), after))
    return tuple(found)


def _end(text: str, begin: int, closing: str) -> int | None:
    """Behind the mark that closes a quotation, and is no apostrophe."""
    places = (place for place in range(begin, min(len(text), begin + _CHARS_MAX)) if text[place] in closing)
    return next((place + 1 for place in places if not text[place + 1 : place + 2].isalnum()), None)


def _is_of_others(lead: str) -> bool:
    """Whether the words before a quotation say that somebody else wrote it: those of its sentence or the one before."""
    near = _SENTENCE_END.split(lead.replace("\u2019", "'").strip(" \t\r\n:,\u2013\u2014-"))[-1]
    return _FICTION.search(near) is not None or (_RECEIVED.search(near) is not None and _OWN.search(near) is None)
