"""What is elsewhere while a thing is out of use, and the return to it: "back at the pool". Pure functions.

"The pool is leaking, so while they fix it the lesson is at Kelsey Baths" names what is out of use beside what is so for
a while. It ends when one is back at the pool, or has it back. What one does there once or for some purpose, and what
somebody else does, is no return.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.lives.passing import is_for_a_while
from services.common.values.words.lexicon import KIN
from services.common.values.words.nouns import nouns_of
from services.common.values.words.tokens import lemma, tokenize

_CHARS_MAX: Final = 250
_ADVERB: Final = re.compile(
    r"\b(?:these\sdays|at\spresent|at\sthe\smoment|for\s(?:now|the\s(?:moment|present|time\sbeing))|temporarily|meanwhile|in\sthe\smeantime)\b",
    re.IGNORECASE,
)
"""Stands in the part that says what is so for a while."""
_MARK: Final = re.compile(
    r"\b(?:while|until|till|'til|these\sdays|this\s(?:week|month|term)|at\spresent|for\sthe\spresent|meanwhile|in\sthe\smeantime|as\slong\sas|so\slong\sas)\b",
    re.IGNORECASE,
)
"""Says that a statement holds for a while, as `is_for_a_while` does."""
_OUT_OF_USE: Final = re.compile(
    r"(?:\b(?:is|are|being|gets)|'s|'re)\s(?:\w+\s)?(?:closed|shut|broken|leaking|flooded|locked|occupied|taken|full\sof|blocked|under\s(?:repair|renovation|water|scaffolding)|"
    r"being\s\w+ed|in\s(?:repair|the\s(?:garage|workshop))|at\sthe\s(?:garage|workshop|mechanic\w{0,2})|out\sof\s(?:order|action|service|use)|renovated|repaired|painted|rebuilt|redone)\b",
    re.IGNORECASE,
)
_OWN_DEED: Final = re.compile(r"^(?:(?:and|but)\s)?(?:i|we)(?:'\w{1,2})?\s", re.IGNORECASE)
"""What the speaker did is no thing out of use: "I moved to Leeds, so for now I rent a room"."""
_SHORT: Final = re.compile(
    r"\b(?:while|until|till)\s(?:they|we|it|he|she|i|somebody|someone)(?:\s(?:are|is|am)|'s|'re|'m)?\s[a-z]{2,15}(?:\s(?:it|them|that|this|there|off|back|on|out|up)){1,2}\s",
    re.IGNORECASE,
)
"""A clause without a comma behind it: "while they fix it the lesson is ..."."""
_JOINT: Final = re.compile(
    r"(?P<cut>[,;:]\s(?:and\s|but\s)?|\s[\u2013-]\s)?\b(?P<word>so|while|until|till|because|since|as)\s(?!far\b|well\b|much\b)|[,;:]\s|\s[\u2013-]\s",
    re.IGNORECASE,
)
_CAUSES: Final = frozenset({"while", "until", "till", "because", "since", "as"})
_LEAD: Final = (
    r"^(?:(?:and|but|so|well|ok|okay|yay|hooray|hurray|finally|at\slast|news|good\snews|home\sat\slast)[,:!]?\s){0,2}"
)
_THE: Final = r"(?:(?:the|my|our)\s(?:own\s|old\s|good\sold\s|usual\s)?)?"
_THING: Final = r"(?P<what>[\w'-]{2,30}(?:\s(?:of\s|on\s|in\s)?[\w'-]{2,30}){0,3}?)"
_TIME: Final = (
    r"(?:\s(?:again|now|at\slast|finally|already|since\s[\w\s]{3,20}|as\sof\s(?:today|now|this\s\w{3,10})|"
    r"from\s(?:today|now\son|this\s\w{3,10})|today|this\s(?:morning|week)|as\s(?:usual|before|normal)|where\s\w+\s\w+)){0,2}$"
)
_BACK_AT: Final = re.compile(
    rf"{_LEAD}(?:(?:(?:my|our|the)\s)?first\s\w{{2,12}}\s|day\sone\s)?(?:(?:i'm|i\sam|we're|we\sare|it's|it\sis|(?P<who>(?!i\b|we\b)[\w'-]{{1,20}}(?:\s[\w'-]{{1,20}}){{0,3}}?)\s(?:is|are|goes|go|meets|moved|has\smoved))\s)?"
    rf"(?:(?:all|now|finally|happily|already|at\slast|both)\s){{0,2}}back\s(?:at|in|on|to|into|with|behind)\s{_THE}{_THING}{_TIME}",
    re.IGNORECASE,
)
"""As in "first Saturday back at Northgate"."""
_HAVE_BACK: Final = re.compile(
    rf"{_LEAD}(?:i|we)(?:'ve|\shave|'s)?(?:\s(?:now|finally|just|got|at\slast)){{0,2}}\s?(?:have|got|'ve|gotten)?\s(?:my|our|the)\s(?:own\s|old\s)?{_THING}\s"
    rf"(?:back|(?:all\s)?to\s(?:myself|ourselves|me|us))(?:\sto\s(?:myself|ourselves)|\sfrom\s[\w\s'-]{{2,30}})?{_TIME}",
    re.IGNORECASE,
)
"""As in "I have my study back"."""
_MINE: Final = re.compile(
    rf"{_LEAD}(?:my|our|the)\s{_THING}\s(?:is|are)\s(?:(?:all\s|finally\s|now\s){{0,2}}(?:mine|ours|free|usable|available|back))(?:\s(?:again|at\slast|once\smore|now))?$",
    re.IGNORECASE,
)
"""As in "the study is mine again"."""
_AGAIN_AT: Final = re.compile(
    rf"{_LEAD}(?P<who>i'm|i\sam|we're|we\sare|i|we|(?!i\b|we\b)[\w'-]{{1,20}}(?:\s[\w'-]{{1,20}}){{0,2}}?)\s(?:(?:now|finally)\s)?(?P<deed>[a-z]{{2,20}})\s(?:[\w'-]{{1,20}}\s){{0,2}}?"
    rf"(?:at|in|on|from|by|with|via)\s{_THE}{_THING}\s(?:again|once\smore|as\sbefore){_TIME}",
    re.IGNORECASE,
)
"""As in "we're baking on Bell Street again"."""
_PARTS: Final = re.compile(r"[,;:.!]\s|\s[\u2013-]{1,2}\s|\s(?:and|but|so)\s", re.IGNORECASE)
_UNSURE: Final = re.compile(
    r"\b(?:not|never|soon|when|if|until|till|hope|hoping|want|wish|will|would|should|could|may|might|yet|almost|nearly|tomorrow|next|miss|missed|"
    r"only\sfor|just\sfor|for\sonce|one\sday|one\slast|last\stime|was|were|yesterday)\b|n't\b|'ll\b|\?|\bfor\s(?:a|an|one|the\s(?:day|evening|morning|afternoon|weekend))\b",
    re.IGNORECASE,
)
"""Under these nothing has returned, or for once."""


class _Displaced(NamedTuple):
    gone: frozenset[str]  # what is out of use, and why
    state: frozenset[str]  # what is so meanwhile
    deeds: frozenset[str]  # all words of that, in base form


class _Back(NamedTuple):
    what: frozenset[str]
    who: frozenset[str]  # words of its subject; empty: the speaker
    deed: str  # what is done there again; may be empty


def returns_home(earlier: str, later: str) -> bool:
    """Returns whether one is back at what the earlier statement has something else for, or has it back.

    Args:
        earlier: A statement that holds for a while.
        later: A later one of the same speaker.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX:
        return False
    back = _returned(later)
    one = displaced(earlier) if back else None
    if one is None:
        return False
    return any(_is_return(one, two) for two in back)


def _is_return(one: _Displaced, back: _Back) -> bool:
    is_its = not back.who or back.who <= one.state
    return bool(back.what) and back.what <= one.gone and is_its and (not back.deed or back.deed in one.deeds)


@text_cache(4_096)
def displaced(text: str) -> _Displaced | None:
    """Returns what a statement names as out of use, and what is so meanwhile; None where it holds for good."""
    plain = " ".join(text.replace("\u2019", "'").split()).rstrip(".! ")
    if len(plain) > _CHARS_MAX or plain.endswith("?"):
        return None
    if not (_MARK.search(plain) or _OUT_OF_USE.search(plain) or is_for_a_while(plain)):
        return None
    parts = list(_clauses(_SHORT.sub(", ", plain)))
    has_reason = _OUT_OF_USE.search(plain) is not None or any(cut["word"] for cut in _JOINT.finditer(plain))
    if has_reason and any(_ADVERB.search(part) for part, _ in parts):
        parts = [(part, _ADVERB.search(part) is None) for part, _ in parts]
    gone = " ; ".join(part for part, is_cause in parts if is_cause and not _OWN_DEED.match(part.strip()))
    state = " ; ".join(part for part, is_cause in parts if not is_cause)
    if not gone or not state:
        return None
    named = nouns_of(state)
    return _Displaced(nouns_of(gone) - named - KIN, named, frozenset(lemma(token.lower) for token in tokenize(state)))


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a statement, each with whether it names a reason: what stands before "so", or behind "while"."""
    cuts = list(_JOINT.finditer(text))
    last_so = max((place for place, cut in enumerate(cuts) if (cut["word"] or "").casefold() == "so"), default=-1)
    is_cause, start = False, 0
    for place, cut in enumerate(cuts):
        if text[start : cut.start()].strip():
            yield text[start : cut.start()], is_cause or place <= last_so
        is_cause, start = (cut["word"] or "").casefold() in _CAUSES, cut.end()
    if text[start:].strip():
        yield text[start:], is_cause


@text_cache(4_096)
def _returned(text: str) -> tuple[_Back, ...]:
    """What a statement says to be back."""
    plain = " ".join(text.replace("\u2019", "'").split()).rstrip(".! ")
    if len(plain) > _CHARS_MAX or _UNSURE.search(plain):
        return ()
    found = []
    for part in _PARTS.split(plain):
        for pattern in (_BACK_AT, _HAVE_BACK, _MINE, _AGAIN_AT):
            match = pattern.match(part)
            if match is None:
                continue
            groups = match.groupdict()
            deed = (groups.get("deed") or "").casefold()
            if not deed or deed.endswith(("ing", "s")) or lemma(deed) == deed or deed == "are":
                found.append(_Back(nouns_of(match["what"]), nouns_of(groups.get("who") or ""), lemma(deed)))
    return tuple(found)
