"""Until somebody has done something, and that they have: "until Ben finds rooms", "Ben found rooms". Pure functions.

The one who does it, the verb and its object must be the same: "Benno has found a job" says nothing of rooms, and
neither does "Benno has found rooms for a friend".
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.reading.parts import split_parts
from services.common.values.reading.splitting import DETERMINERS, PREPOSITIONS
from services.common.values.reading.whose import canonical
from services.common.values.words.lexicon import KIN
from services.common.values.words.tokens import PUNCTUATION, lemma, tokenize

_CHARS_MAX: Final = 250
_UNTIL: Final = re.compile(
    r"\b(?:until|till|'til)\s(?P<who>i|we|he|she|they|(?:my|our|the)\s[\w-]{2,20}|(?-i:[A-Z])[\w-]{1,20})\s"
    r"(?:(?:(?P<can>can)|has|have|had|is|am|are|finally)\s)?(?P<deed>[a-z]{2,20})(?P<rest>(?:\s[\w'-]{1,20}){0,7})",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(r"\s(?:so|and|but|i|we|my|our|then)\b", re.IGNORECASE)
"""Behind these stands no part of the deed."""
_NAMED: Final = re.compile(
    r"^(?:(?:and|but|so|so,|yay|finally|hooray|ok|okay|good\snews|great\snews|news),?:?\s)?"
    r"(?P<who>(?:my|our|the)\s(?:\w{2,12}\s(?=(?-i:[A-Z])))?[\w-]{2,20}|(?-i:[A-Z])[\w-]{1,20}|i|we)(?:\s(?:has|have|is|are|(?P<can>can))|'s|'ve)?"
    r"(?:\s(?:now|finally|just|already|at\slast|both|all)){0,2}\s(?P<deed>[a-z]{2,20})(?P<rest>(?:\s[\w'-]{1,20}){0,7})",
    re.IGNORECASE,
)
_OWNER: Final = re.compile(
    r"^(?:(?:and|but|so)\s)?(?P<who>(?:my|our)\s[\w-]{2,20}(?:\s(?-i:[A-Z])[\w-]{1,20})?|(?-i:[A-Z])[\w-]{1,20})\s(?=[a-z])",
    re.IGNORECASE,
)
"""Whom a statement is about: "my nephew Benno is sleeping ..."."""
_AWAY: Final = re.compile(
    r"\b(?:while|as\slong\sas)\s(?P<who>(?:my|our|the)\s[\w-]{2,20}|(?-i:[A-Z])[\w-]{1,20})(?:\s(?:is|are)|'s)\s"
    r"(?:away|abroad|off|ill|sick|unwell|poorly|travelling|recovering|in|on|at)\b",
    re.IGNORECASE,
)
"""As in "while Rosa is in Peru"."""
_RETURNED: Final = re.compile(
    r"^(?:(?:and|but|so|yay|finally|now|well)\s)?(?P<who>(?:my|our|the)\s(?:\w{2,12}\s(?=(?-i:[A-Z])))?[\w-]{2,20}|(?-i:[A-Z])[\w-]{1,20})"
    r"(?:\s(?:is|are|has|have|came|got)|'s)?\s(?:(?:now|finally|safely|come|all)\s){0,2}"
    r"(?:back(?!\s(?:in|at|on|to|with|for)\b)|back\s(?:in\stown|at\swork|in\sthe\soffice)|home(?!\s(?:alone|for|on)\b)|returned|recovered|well\sagain|fit\sagain|"
    r"out\sof\shospital)\b(?!\s(?:on|next|for|in)\b)",
    re.IGNORECASE,
)
"""As in "Rosa is back from Peru"."""
_DENIED: Final = re.compile(
    r"\b(?:not|never|no|soon|when|if|until|till|hope|hopes|want|wants|will|would|should|may|might|could|almost|nearly|yet|tomorrow|next|"
    r"wish|for(?!\s(?:good|himself|herself|themselves|myself|ourselves)\b)|says?|thinks?)\b|n't\b|'ll\b|\?|\b(?:his|her|their)\s(?:friend|brother|sister|mother|father|wife|husband|boss|son|daughter)\b",
    re.IGNORECASE,
)
_SPEAKERS: Final = frozenset({"i", "we"})
_PRONOUNS: Final = frozenset({"he", "she", "they"})
_PARTICLES: Final = frozenset({"out", "back", "off", "away", "home", "up", "in", "through"})
_LIGHT: Final = frozenset(
    {"be", "have", "do", "can", "get", "go", "come", "want", "know", "say", "feel", "think", "need"}
)
"""Verbs that say nothing without an object."""
_WENT: Final = frozenset({"leave", "go", "move", "depart"})
_GONE: Final = frozenset({"leave", "go", "depart"})
_RETURNS: Final = frozenset({"back", "home", "in"})
_NOT_IN_HEADS: Final = (DETERMINERS - {"first", "second"}) | frozenset(
    {"again", "now", "own", "new", "another", "other", "me", "us"}
)
_CUTS: Final = PREPOSITIONS | frozenset({"and", "but", "so", "that", "who", "which", "because", "since", "as", "where"})


class _Deed(NamedTuple):
    who: str  # a name or a word for a relative in lower case; "i" for the speaker
    verb: str
    particle: str
    thing: str  # the noun of the object, or behind a preposition; may be empty
    can: bool  # whether it is to be possible, and not to be done


def comes_about(earlier: str, later: str) -> bool:
    """Returns whether somebody has done that until which the earlier statement holds.

    Args:
        earlier: A statement: "Benno sleeps in the study until he finds rooms of his own".
        later: A later one of the same speaker: "Benno has found rooms".
    """
    awaited = _awaited(earlier)
    return bool(awaited) and any(_is_same(one, other) for one in awaited for other in _done(later))


def _is_same(one: _Deed, other: _Deed) -> bool:
    if one.who != other.who or one.can is not other.can:
        return False
    if one.verb in _WENT and (one.particle or one.verb in _GONE) and not one.thing:
        has_left = other.verb in _GONE or (other.verb == "move" and other.particle in {"out", "away"})
        return has_left and not other.thing and not _RETURNS & {one.particle, other.particle}
    if one.verb != other.verb or one.particle != other.particle:
        return False
    return one.thing == other.thing if one.thing else one.verb not in _LIGHT or bool(one.particle)


@text_cache(4_096)
def _awaited(text: str) -> tuple[_Deed, ...]:
    """What somebody is to do before the statement ends."""
    if len(text) > _CHARS_MAX or text.rstrip().endswith("?"):
        return ()
    plain = text.replace("\u2019", "'")
    awaited = (
        _deed(who, match) for match in _UNTIL.finditer(plain) if (who := _who(match["who"], plain[: match.start()]))
    )
    away = (_Deed(who, "return", "", "", can=False) for match in _AWAY.finditer(plain) for who in _names(match["who"]))
    return (*awaited, *away)


@text_cache(4_096)
def _done(text: str) -> tuple[_Deed, ...]:
    if len(text) > _CHARS_MAX:
        return ()
    found: list[_Deed] = []
    for part in split_parts(text.replace("\u2019", "'")):
        if _DENIED.search(part) is not None:
            continue
        if (back := _RETURNED.match(part)) is not None:
            found.extend(_Deed(who, "return", "", "", can=False) for who in _names(back["who"]))
        match = _NAMED.match(part)
        if match is not None and (match["can"] or _is_past(match)):
            found.extend(_deed(who, match) for who in _names(match["who"]))
    return tuple(found)


def _is_past(match: re.Match[str]) -> bool:
    """Whether a verb says that something is done: "found" or "has found", not "finds" or "is finding"."""
    deed = match["deed"].casefold()
    return lemma(deed) != deed and not deed.endswith(("ing", "s"))


def _who(who: str, before: str) -> str:
    """One word for whoever is to do something; a pronoun is whom the sentence is about."""
    if who.casefold() in _PRONOUNS:
        owner = _OWNER.match(before.strip())
        return next(iter(_names(owner["who"])), "") if owner is not None else ""
    return next(iter(_names(who)), "")


def _names(who: str) -> list[str]:
    """The name of somebody, or the word for a relative where no name is given; both where there are two."""
    words = [word for word in who.split() if word.casefold() not in {"my", "our", "the"}]
    if not words:
        return []
    if words[0].casefold() in _SPEAKERS:
        return ["i"]
    named = [canonical(word.casefold()) for word in words if word[:1].isupper()]
    kin = [canonical(word.casefold()) for word in words if lemma(word.casefold()) in KIN]
    return named or kin or [lemma(words[-1].casefold())]


def _deed(who: str, match: re.Match[str]) -> _Deed:
    rest = match["rest"]
    cut = _ENDS.search(rest)
    tokens = [token.lower for token in tokenize(rest if cut is None else rest[: cut.start()])]
    particle = tokens[0] if tokens and tokens[0] in _PARTICLES else ""
    thing = ""
    for word in tokens[1:] if particle else tokens:
        if word in PREPOSITIONS and not thing:
            continue  # "hears from Mia"
        if word in PUNCTUATION or word in _CUTS:
            break
        if word in _PARTICLES:
            particle = particle or word
            break
        thing = thing if word in _NOT_IN_HEADS else lemma(word)
    return _Deed(who, lemma(match["deed"].casefold()), particle, thing, match["can"] is not None)
