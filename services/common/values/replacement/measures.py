"""A new number of the same thing in another sentence: "doing 40 hours at the shop", "I'm down to 24 at the shop".

`restated` reads the same sentence with another number; here the sentences differ, and what is measured decides: the
thing itself or, of what the speaker does, what both name, and of the later one a word that says that it is new.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from services.common.values.comparison.sameness import DIMENSIONS, Match, match_values
from services.common.values.comparison.slots import are_of_other_parts, is_plain
from services.common.values.model import Value, ValueKind
from services.common.values.reading.clauses import Clause, Item
from services.common.values.reading.splitting import are_two_of_a_kind
from services.common.values.replacement.succession import is_of_another
from services.common.values.words.belongings import ROLES
from services.common.values.words.lexicon import KIN, NOUNS_TOO, POSSESSIVES, PRONOUNS, VERBS
from services.common.values.words.nouns import TIMES
from services.common.values.words.tokens import lemma

_OWNERS: Final = frozenset(POSSESSIVES.values())
_SPEAKERS: Final = frozenset({"i", "we"})
_COUNTED: Final = frozenset({ValueKind.NUMBER, ValueKind.QUANTITY, ValueKind.MONEY, ValueKind.TIME})
_STEPS: Final = frozenset(
    """
    bump raise lower cut increase reduce push shift extend move put up drop climb rise grow shrink halve double triple
    upgrade downgrade go jump fall
    """.split()  # noqa: SIM905 - words
)
"""Verbs that bring a number to another one."""
_ALIKE: Final = (
    frozenset({"be", "have", "cost", "weigh", "measure", "hold", "count", "contain", "last", "total", "keep"}),
    frozenset({"be", "start", "begin", "open"}),
    frozenset({"earn", "make", "get"}),
)
"""Verbs that say the same of a number."""
_SCOPES: Final = frozenset({"for", "on", "at", "in", "with", "during", "by"})
_OCCASIONAL: Final = frozenset({"on", "during", "for", "in"})
_WORDS_MAX: Final = 25
"""In longer clauses a number may belong to anything."""
_NO_THINGS: Final = (
    VERBS | TIMES | PRONOUNS | _OWNERS | {"up", "down", "far", "full", "whole", "new", "only", "about", "around", "me"}
)


def is_measured_anew(a: Clause, b: Clause, *, is_told: bool) -> bool:
    """Returns whether the later clause gives the same thing another number.

    Args:
        a: The earlier clause.
        b: The later one, of the same speaker.
        is_told: Whether its turn announces a change.
    """
    if not (is_plain(a) and is_plain(b)) or a.negated or b.negated or b.temporary or a.past:
        return False
    if max(len(a.words), len(b.words)) > _WORDS_MAX or "more" in a.words:
        return False
    is_step, is_sum = _is_step(b), _is_sum(b)
    is_beside = bool({"too", "also", "another"} & set(b.words)) and not is_sum
    if is_beside or (b.past and not is_step) or a.possessors != b.possessors:
        return False
    if _people(a) != _people(b) or {"he", "she", "you"} & set(b.bag) - set(a.bag):
        return False
    if ("your" in a.words) is not ("your" in b.words) or are_two_of_a_kind(a.words, b.words):
        return False
    sides = [DIMENSIONS & set(clause.words) for clause in (a, b)]
    if all(sides) and sides[0] != sides[1]:
        return False  # "25 metres long", "12 metres wide"
    pair = _the_pair(a, b, is_step=is_step)
    if pair is None or are_of_other_parts(a, b) or _limits_differ(a, b, is_step=is_step):
        return False
    return _is_of_thing(a, b, is_new=is_step or b.changed or is_told, pair=pair)


def _is_of_thing(a: Clause, b: Clause, *, is_new: bool, pair: tuple[Value, Value]) -> bool:
    subject, later = _named(a.subject), _named((*b.subject, *b.rest))
    if subject:
        are_alike = a.verb == b.verb or any({a.verb, b.verb} <= verbs for verbs in _ALIKE)
        is_other = bool(_named(b.subject) - subject) and not _is_step(b)
        is_named = subject <= later and not is_other and not is_of_another(a, b, subject)
        return is_named and (are_alike or is_new) and bool(a.verb)
    is_speakers = set(a.subject) <= _SPEAKERS and (set(b.subject) <= _SPEAKERS or bool(set(b.rest) & _SPEAKERS))
    if not is_speakers or not is_new:
        return False
    later = _things((*b.subject, *b.rest))
    if pair[0].kind is ValueKind.NUMBER and not pair[0].unit:
        counted = _counted(a, pair[0])
        return bool(counted) and counted in {_counted(b, pair[1]), *later}
    return bool(_things(a.rest) & later)


def _the_pair(a: Clause, b: Clause, *, is_step: bool) -> tuple[Value, Value] | None:
    """The two values of one measure that differ, where each clause has one of it."""
    if _is_sum(b):
        totals = [v for v in b.rest if isinstance(v, Value)][-1:]
        olds = [v for v in a.values if v.kind in _COUNTED and not v.text]
        both = [(x, y) for x in olds for y in totals]
        return both[0] if len(both) == 1 and _is_other(*both[0], is_step=True) else None
    olds, news = ([v for v in clause.values if v.kind in _COUNTED and not v.text] for clause in (a, b))
    pairs = [(x, y) for x in olds for y in news if _is_other(x, y, is_step=is_step)]
    same = any(match_values(x, y) is Match.EQUAL for x in olds for y in news)
    return pairs[0] if len(pairs) == 1 and not same else None


def _is_other(x: Value, y: Value, *, is_step: bool) -> bool:
    is_bare = y.kind is ValueKind.NUMBER and not y.unit and x.kind in {ValueKind.MONEY, ValueKind.QUANTITY}
    if is_bare:
        return is_step and x.unit not in {"frequency", "share"}
    return x.kind is y.kind and match_values(x, y) is Match.DIFFERENT


def _is_step(clause: Clause) -> bool:
    is_brought = any(pair in {("down", "to"), ("up", "to"), ("back", "to")} for pair in pairwise(clause.words))
    verbs = {lemma(word) for word in (clause.verb, *clause.words[:4])}
    stepped = "bumped" in clause.words[:4]  # which has no base form among the verbs
    has_target = any(clause.prepositions.get(value) == "to" for value in clause.values)
    is_reached = bool({"hit", "hits", "reached", "topped", "passed"} & set(clause.words)) and len(clause.values) == 1
    return is_brought or is_reached or _is_sum(clause) or ((bool(verbs & _STEPS) or stepped) and has_target)


def _is_sum(clause: Clause) -> bool:
    """As in "that makes five"."""
    return any(pair in {("that", "makes"), ("which", "makes")} for pair in pairwise(clause.words))


def _counted(clause: Clause, value: Value) -> str:
    """What a number counts: the word behind it."""
    items = [*clause.subject, *clause.rest]
    place = next((n for n, item in enumerate(items) if item == value), len(items))
    after = items[place + 1] if place + 1 < len(items) else ""
    return after if isinstance(after, str) else ""


def _things(items: Iterable[Item]) -> set[str]:
    words = (word for item in items if isinstance(item, str) for word in item.split())
    return {word for word in words if word not in _NO_THINGS}


def _named(items: Iterable[Item]) -> set[str]:
    """The things of a subject, in which a word that is a verb too is a noun: "the cron for the export"."""
    words = (word for item in items if isinstance(item, str) for word in item.split())
    return {word for word in words if word in NOUNS_TOO or word not in _NO_THINGS}


def _later_only(a: Clause, b: Clause) -> set[Item]:
    known = _things((*a.subject, *a.rest))
    return {item for item in b.rest if isinstance(item, str) and not set(item.split()) & known}


def _people(clause: Clause) -> set[str]:
    words = {word for item in (*clause.subject, *clause.rest) if isinstance(item, str) for word in item.split()}
    return words & (KIN | ROLES)


def _limits_differ(a: Clause, b: Clause, *, is_step: bool) -> bool:
    """Whether one is said of a place or an occasion and the other of another one, or the later one of an occasion."""
    is_occasional = any(word in _OCCASIONAL for word in (b.prepositions.get(item) for item in _later_only(a, b)))
    if is_occasional and not is_step:
        return True
    limits = [
        {item for item in _things(c.rest) if c.prepositions.get(item) in _SCOPES} - _things((*o.subject, *o.rest))
        for c, o in ((a, b), (b, a))
    ]
    return bool(limits[0] and limits[1])
