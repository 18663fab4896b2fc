"""The same deed by other means: "I pay with cash", "I pay by card now"; "I'm back to oat milk in my coffee"."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from services.common.values.comparison.sameness import unshared
from services.common.values.comparison.slots import has_same_subject, is_plain
from services.common.values.reading.clauses import Clause, Item
from services.common.values.words.lexicon import KIN, POSSESSIVES, PRONOUNS
from services.common.values.words.nouns import TIMES

_OWNERS: Final = frozenset(POSSESSIVES.values())
_SPEAKERS: Final = frozenset({"i", "we"})
_HABITS: Final = frozenset(
    "drink take have eat like prefer order use work run study drive bank play store wear".split()  # noqa: SIM905 - words
)
_RETURNING: Final = frozenset({"am", "are", "'m", "gone", "went", "go"})
_SAYING_NOTHING: Final = TIMES | PRONOUNS | _OWNERS | {"everywhere"}


def goes_by_other_means(a: Clause, b: Clause, *, is_told: bool) -> bool:
    """Returns whether the later clause says that the speaker does the same by other means.

    Args:
        a: The earlier clause.
        b: The later one, of the same speaker.
        is_told: Whether its turn announces a change.
    """
    if not (is_plain(a) and is_plain(b)) or a.negated or b.negated or a.past or b.past or b.temporary:
        return False
    if a.possessors != b.possessors or not (has_same_subject(a, b) or {*a.subject, *b.subject} <= _SPEAKERS):
        return False
    return _is_back_to(a, b) or ((b.changed or is_told) and _has_other_means(a, b))


def _is_back_to(a: Clause, b: Clause) -> bool:
    """As in "I drink my coffee black", "I'm back to oat milk in my coffee": in the manner of before."""
    places = [n for n, pair in enumerate(pairwise(b.words)) if pair in {("back", "to"), ("back", "on")}]
    is_back = any(b.words[n - 1] in _RETURNING for n in places if n)  # not "it dates back to"
    if b.verb not in {"be", "go"} or not is_back or a.verb not in _HABITS:
        return False
    old, new = _words(a), _words(b)
    things = {item for item in old if not a.prepositions.get(item)}
    target = {item for item in new if b.prepositions.get(item) in {"to", "on"}}
    return bool(target and old - new) and bool(things & new - target) and not target & old


def _has_other_means(a: Clause, b: Clause) -> bool:
    if a.verb != b.verb or a.verb in {"be", "have", ""}:
        return False
    means = [[item for item in _content(c) if c.prepositions.get(item) in {"with", "by"}] for c in (a, b)]
    others = [[item for item in _content(c) if not c.prepositions.get(item)] for c in (a, b)]
    if not len(means[0]) == len(means[1]) == 1 or means[0] == means[1] or any(unshared(*others)):
        return False
    (x,), (y,) = means
    known = a.names | b.names | KIN
    return isinstance(x, str) and isinstance(y, str) and not {*x.split(), *y.split()} & known


def _content(clause: Clause) -> list[Item]:
    return [item for item in clause.rest if item not in _SAYING_NOTHING]


def _words(clause: Clause) -> set[str]:
    return {item for item in _content(clause) if isinstance(item, str)}
