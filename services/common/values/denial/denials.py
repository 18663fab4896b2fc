"""What never happened, and what happened after all: denials in long sentences."""

from __future__ import annotations

import re
from typing import Final

from services.common.text_cache import text_cache
from services.common.values.denial.topics import stem, topic_stems
from services.common.values.words.lexicon import MONTHS
from services.common.values.words.tokens import lemma, tokenize

_NEVER: Final = re.compile(
    r"\b(?:i|we)(?:'ve|\s+have)?\s+never\s+(?:actually\s+|really\s+|ever\s+)?(?P<what>[^.;?]*?)"
    r"(?P<example>,?\s+(?:like|such\s+as)\s+\w+)?(?=,|\s+(?:so|but|and\s+i|which)\b|[.;?]|$)",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:never|not|no|n't|haven't|hasn't|didn't|don't|without)\b", re.IGNORECASE)
_DOUBTS: Final = re.compile(
    r"\b(?:i'm|i\s+am|we're|but)?\s*not\s+(?:quite\s+)?(?:sure|certain|only)\b|\bno\s+(?:doubt|problem|idea)\b",
    re.IGNORECASE,
)
"""Negations that deny nothing that was done."""
_CIRCUMSTANCE: Final = re.compile(r"\b(?:with|for|in|on|at|during|without|before|after|by)\b", re.IGNORECASE)
_USED: Final = re.compile(
    r"\b(?:us(?:e|ed|es|ing)|implement(?:ed|ing)?|integrat(?:e|ed|ing)|install(?:ed|ing)?|download(?:ed|ing)?|tried|"
    r"work(?:ed|ing)\s+with|written|writing|wrote|set\s+up)\b",
    re.IGNORECASE,
)
_GENERIC: Final = frozenset(["component", "featur", "library", "tool", "softwar", "framework", "packag", "service"])
"""Words, without their endings, that only say of which sort the thing before them is."""
_NOT_DONE: Final = re.compile(
    r"\b(?:i|we)\s*(?:'ve|\s+have)?\s*(?:not|haven't|hadn't)\s+(?:yet\s+|actually\s+|really\s+)?"
    r"(?P<what>(?:\w+ed|\w+en|done|made|sent|paid|bought|told|found|met|heard|been|read|put|set|begun|got|had)\s[^.;?,]*)",
    re.IGNORECASE,
)
"""What has not been done so far."""
_DONE: Final = re.compile(
    r"\b(?:i|we)(?:'ve|'m|'re|\s+(?:have|am|are))?(?:\s+(?:\w+ly|just|already|now|also|been|even)){0,3}\s+(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_SAME_IN_PAST: Final = frozenset({"put", "set", "read", "cut", "hit", "let", "quit"})
_PHRASE_END: Final = re.compile(
    r"\b(?:with|for|in|on|at|during|without|before|after|by|of|to|about|related|that|which|from|"
    r"involving|regarding|concerning|covering|using|including)\b",
    re.IGNORECASE,
)
_OF_THINGS_AT_HAND: Final = frozenset(
    """
    miss submit accept lose forget skip cancel shar send sent sign publish sell refus quit delet leav chang show
    told tell
    """.split()  # noqa: SIM905 - words
)
"""Verbs, without endings, that take their object for granted: "I've never missed a session" denies no session."""
_DEFINITE: Final = re.compile(r"\b\w+\s+(?:my|our|the|this|that|these|those|his|her|their|him|them)\b", re.IGNORECASE)
_LISTED: Final = re.compile(r",|\b(?:or|and|nor)\b", re.IGNORECASE)
_PLANNED: Final = re.compile(
    r"\b(?:i'll|we'll|will|shall|want(?:s|ed)?\s+to|going\s+to|plan(?:ning)?\s+to|would|prefer)\b", re.IGNORECASE
)
_REAL: Final = re.compile(
    r"\b(?:i've|we've|i\s+have|we\s+have|i'm|i\s+am|we're|been|was|were|had|did|got|made|done|\w{2,}ed|trying|using)\b",
    re.IGNORECASE,
)
_SHARED_MIN: Final = 2


def denies(earlier: str, later: str) -> bool:
    """Returns whether the later statement says that what the earlier one tells never happened."""
    if "never" not in later.casefold() or _DENIED.search(_DOUBTS.sub("", earlier)):
        return False
    said = topic_stems(earlier)
    is_doubted = _DENIED.search(earlier) is not None
    for match in _NEVER.finditer(later):
        what = match["what"]
        deed = _verb(what)
        things = topic_stems(what.partition(" ")[2]) - _GENERIC
        shared = things & said
        is_same_deed = bool(deed & _verbs(earlier))
        is_used = bool(_USED.match(what) and _USED.search(earlier))
        is_most = 2 * len(shared) > len(things)
        is_same_thing = (bool(_heads(what) & shared) or is_most) and (is_same_deed or _would_be_new(what))
        is_sure = not is_doubted or is_same_deed or is_used or is_most
        if len(shared) >= _SHARED_MIN and is_sure and is_same_thing and not _ahead(earlier):
            return True
        if shared and len(things) == 1 and (is_same_deed or (is_used and _would_be_new(what))):
            return True
        # "Completed a first draft of any screenplay": what was done is named first, without a circumstance behind it.
        if shared and is_same_deed and _first_thing(what) in shared and not _CIRCUMSTANCE.search(what):
            return True
        # "Missed any scheduled sessions or meetings": each of them is denied.
        if is_same_deed and " any " in f" {what} " and _heads(what) & said:
            return True
        if is_used and topic_stems(match["example"] or "") & said:
            return True
    return False


def _would_be_new(what: str) -> bool:
    """Whether it is denied to have had to do with a thing at all: "used any Flask", not "submitted my letter"."""
    return not _verb(what) & _OF_THINGS_AT_HAND and _DEFINITE.match(what) is None


def _ahead(text: str) -> bool:
    """Whether a statement is only about what shall be: "I think I'll start with dice problems"."""
    return _PLANNED.search(text) is not None and _REAL.search(text) is None


def happens_after_all(earlier: str, later: str) -> bool:
    """Returns whether the speaker has done what the earlier statement says they had never, or not yet, done.

    One case of it is enough, whatever is added: "I've never written any tests", "I wrote tests for the login".
    What the earlier statement limits itself to must be named again.
    """
    undone = _undone(earlier)
    if not undone or _DENIED.search(_DOUBTS.sub("", later)):
        return False
    said, numbers = topic_stems(later), _numbers(later)
    for match in _DONE.finditer(later):
        deed = lemma(match["verb"].casefold())
        is_done = deed != match["verb"].casefold() or deed in _SAME_IN_PAST
        for what in undone:
            things = topic_stems(what.partition(" ")[2])
            is_same_deed = bool(_verb(what) & _verb(match["verb"])) and (deed != "be" or "been to" in later)
            if is_done and is_same_deed and things and things <= said and _numbers(what) <= numbers:
                return True
    return False


def _first_thing(text: str) -> str:
    """The first word behind the verb that names something."""
    words = (lemma(token.lower) for token in tokenize(text.partition(" ")[2]))
    known = topic_stems(text)
    return next((stem for stem in map(stem, words) if stem in known), "")


def _heads(what: str) -> frozenset[str]:
    """The last word of each thing that is listed behind a verb: "any scheduled sessions or meetings for my essay"."""
    listed = _PHRASE_END.split(what.partition(" ")[2])[0]
    heads = (_last_thing(part) for part in _LISTED.split(listed))
    return frozenset(head for head in heads if head)


def _last_thing(text: str) -> str:
    known = topic_stems(text) - _GENERIC
    words = [stem(lemma(token.lower)) for token in tokenize(text)]
    return next((word for word in reversed(words) if word in known), "")


def _verb(text: str) -> frozenset[str]:
    words = text.split(maxsplit=1)
    return frozenset({stem(lemma(words[0].casefold()))}) if words else frozenset()


@text_cache(4_096)
def _verbs(text: str) -> frozenset[str]:
    return frozenset(stem(lemma(token.lower)) for token in tokenize(text))


@text_cache(4_096)
def _undone(text: str) -> tuple[str, ...]:
    """What the speaker has not done so far."""
    return tuple(match["what"] for pattern in (_NEVER, _NOT_DONE) for match in pattern.finditer(text))


def _numbers(text: str) -> frozenset[str]:
    """Numbers and months: what a limit may differ in."""
    words = {token.lower for token in tokenize(text)}
    return frozenset(word for word in words if word[:1].isdigit() or word in MONTHS)
