"""Who does something that one person does at a time: the newsletter is edited by somebody else now. Pure functions.

"I run the Tuesday tea" ends with "Bridget runs the Tuesday tea now". It takes the same deed, the same thing, the same
times, and a word that says since when. What several can do, such as taking the bus, stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from services.common.text_cache import text_cache
from services.common.values.model import Modality, Value, ValueKind
from services.common.values.reading.clauses import Clause
from services.common.values.reading.pieces import read_statement
from services.common.values.reading.splitting import DETERMINERS
from services.common.values.words.lexicon import PRONOUNS
from services.common.values.words.newness import plainly
from services.common.values.words.nouns import nouns_of
from services.common.values.words.patterns import CachedPattern
from services.common.values.words.tokens import lemma

_CHARS_MAX: Final = 250
_DEEDS: Final = frozenset(
    """
    run lead edit coach manage chair teach host organise organize conduct train moderate maintain hold handle write
    present plan book collect fetch mow water feed walk clean pay cook drive captain direct supervise look
    mind open lock close do take keep review approve sign deploy monitor head represent
    """.split()  # noqa: SIM905 - words
)
"""Deeds that one person does at a time, where the thing is a certain one."""
_OF_SUCH_THINGS: Final = {
    "take": frozenset("minute note register class service choir rehearsal photo shift chair".split()),  # noqa: SIM905
    "walk": frozenset("dog dogs puppy hound terrier labrador".split()),  # noqa: SIM905 - words
    "drive": frozenset("bus minibus van truck lorry tractor float ambulance".split()),  # noqa: SIM905 - words
}
"""Of these deeds only with such things: many can take the bus."""
_SPORTS: Final = frozenset("marathon half-marathon race mile kilometre km 5k 10k".split())  # noqa: SIM905 - words
_BY_DAY: Final = frozenset("cook open lock close chair host clean mow collect fetch".split())  # noqa: SIM905 - words
"""Deeds that one person does on a day, with no thing named."""
_GENERAL: Final = frozenset(
    "thing it that this them job work lot way best nothing something everything bit".split()  # noqa: SIM905 - words
)
_BESIDE: Final = CachedPattern(
    r"\b(?:too|also|as\swell|with\s(?:me|us)|both|together|help\w*|another|sometimes|once|today|tonight|tomorrow|this\s(?:week|time|month)|"
    r"for\s(?:now|me|a\s\w+|the\s(?:moment|day|week|weekend|time))|until|till|while|when|if|might|may|could|would)\b|\?",
    re.IGNORECASE,
)
_AGENT: Final = re.compile(
    r"\b(?:the|our|my)\s(?P<what>[\w' -]{2,40}?)\s(?:(?:has|have)\s)?"
    r"(?:found|got|hired|elected|chosen|has|have|gets|appointed)\s(?:(?:itself|themselves)\s)?"
    r"(?:an?|another)\s(?:(?:new|younger|different|proper|better|older|other)\s)?(?P<agent>[a-z]{4,15}(?:er|or))\b",
    re.IGNORECASE,
)
"""As in "the newsletter has found a younger editor"."""
_NOW: Final = CachedPattern(r"\b(?:now|these\sdays|nowadays|instead|from\snow\son|from\shere)\b", re.IGNORECASE)


class _Deed(NamedTuple):
    who: frozenset[str]
    verb: str
    things: frozenset[str]
    values: frozenset[Value]
    is_certain: bool  # it is of "the", "our" or a name


def is_done_by_another(earlier: str, later: str, *, is_told: bool) -> bool:
    """Returns whether somebody else does now what the earlier statement says of the speaker or of somebody.

    Args:
        earlier: A statement.
        later: A later one of the same speaker.
        is_told: Whether the turn of the later one announces a change.
    """
    if len(earlier) > _CHARS_MAX or len(later) > _CHARS_MAX or _BESIDE.search(later):
        return False
    if any(_has_another_agent(a, later) for a in _deeds(earlier)):
        return True
    if not (is_told or _NOW.search(later) is not None or plainly(later)[1]):
        return False
    return any(
        a.verb == b.verb
        and a.who.isdisjoint(b.who)
        and a.is_certain
        and b.is_certain
        and a.things == b.things
        and a.values == b.values
        for a in _deeds(earlier)
        for b in _deeds(later)
    )


def _has_another_agent(deed: _Deed, later: str) -> bool:
    match = _AGENT.search(later)
    if match is None or deed.who != {"i"} or not deed.is_certain or re.search(r"\b(?:second|also|too)\b", later):
        return False
    agent = match["agent"].casefold()
    stems = {agent[:-2], agent[:-1], agent[:-2] + "e", agent[:-3]}  # editor, organiser, writer, runner
    return deed.verb in stems and bool(what := nouns_of(match["what"])) and what <= deed.things


@text_cache(4_096)
def _deeds(text: str) -> tuple[_Deed, ...]:
    return tuple(found for clause in read_statement(plainly(text)[0]).clauses for found in _read(clause))


def _read(clause: Clause) -> Iterator[_Deed]:
    if clause.modality is not Modality.STATED or clause.negated or clause.historic or clause.past or clause.possessors:
        return
    if clause.verb not in _DEEDS or clause.temporary:
        return
    who = frozenset(word for item in clause.subject for word in str(item).split())
    speakers = who & {"i", "we"}
    is_person = bool(speakers) or (bool(who) and who <= clause.names)
    if not is_person or who & (PRONOUNS - {"i", "we"}):
        return
    things = frozenset(
        lemma(word)
        for item in clause.rest
        if isinstance(item, str)
        for word in item.split()
        if word not in PRONOUNS and word not in DETERMINERS
    )
    values = frozenset(item for item in clause.rest if isinstance(item, Value))
    is_named = any(value.kind in {ValueKind.IDENTIFIER, ValueKind.DATE} for value in values)
    if things <= _GENERAL and not is_named:
        return
    if clause.verb in _OF_SUCH_THINGS and not things & _OF_SUCH_THINGS[clause.verb]:
        return
    has_code = any(value.kind is ValueKind.IDENTIFIER for value in values)
    if things & _SPORTS or (not things and not has_code and clause.verb not in _BY_DAY):
        return
    is_one_of_many = bool({"a", "an", "some", "any", "my"} & set(clause.words))
    is_certain = is_named or bool({"the", "our"} & set(clause.words)) or bool(clause.names & things)
    yield _Deed(frozenset({"i"}) if speakers else who, clause.verb, things, values, is_certain and not is_one_of_many)
