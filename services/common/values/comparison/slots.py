"""Two clauses about one slot: the same subject, and a value that is denied or replaced. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from services.common.values.comparison.complements import items_differ
from services.common.values.comparison.sameness import Match, match_values, unshared
from services.common.values.model import Modality, Value, ValueKind
from services.common.values.reading.clauses import Clause, Item
from services.common.values.words.lexicon import MULTIPLE_ROLES, PARTS_OF_DAY, POSSESSIVES, VERBS, WEEKDAYS
from services.common.values.words.nouns import TIMES

_OWNERS: Final = frozenset(POSSESSIVES.values())
_SCOPES: Final = frozenset({"for", "on", "at", "in", "when", "during", "with"})
_SHARED_VERBS: Final = frozenset(
    [
        "like",
        "love",
        "enjoy",
        "hate",
        "know",
        "speak",
        "learn",
        "play",
        "visit",
        "meet",
        "see",
        "go",
        "buy",
        "say",
        "ask",
        "show",
    ]
)
"""Verbs with many objects at a time: another object takes nothing back, unless it is said to be instead."""
_PAST_DAYS: Final = frozenset({"yesterday", "today", "morning", "night", "last"})
_ONE_AT_A_TIME: Final = frozenset(["live", "work", "cost", "weigh", "report", "drive", "bear", "run", "shoot"])


def is_plain(clause: Clause) -> bool:
    """Returns whether a clause is stated as a fact of now: not hedged, reported, conditional or a past habit."""
    return clause.modality is Modality.STATED and not clause.historic


def has_got(clause: Clause) -> bool:
    """Returns whether a clause says what the speaker has: "got an iphone"."""
    return clause.verb == "get" and clause.words[:1] == ("got",) and not clause.changed


def has_same_subject(a: Clause, b: Clause) -> bool:
    """Returns whether both are about the same person or thing, named or in the first person; never "she" or "it"."""
    first = [item for item in a.subject if item not in TIMES]
    second = [item for item in b.subject if item not in TIMES]
    if not first and not second:
        return a.subject == b.subject and a.possessors == b.possessors  # "breakfast", "dinner"
    if a.possessors != b.possessors or set(map(str, first)) != set(map(str, second)):
        return False
    return not first or not set(map(str, first)) <= {"he", "she", "it", "they", "you", "that", "this"}


def things_of(clause: Clause) -> list[Item]:
    """Returns what a clause is about beside its subject, without times."""
    return [
        item
        for item in clause.rest
        if item not in TIMES
        and item not in _OWNERS
        and not (isinstance(item, Value) and item.kind in {ValueKind.DATE, ValueKind.TIME})
    ]


def _scopes(clause: Clause) -> set[Item]:
    return {item for item in things_of(clause) if clause.prepositions.get(item) in _SCOPES}


def is_denied(a: Clause, b: Clause) -> bool:
    """Returns whether one denies what the other says: "I don't drink coffee", "I drink coffee now"."""
    if not (is_plain(a) and is_plain(b)) or a.negated == b.negated or a.verb != b.verb or not has_same_subject(a, b):
        return False
    if not (a.verb or a.subject or b.changed):
        return False  # "No way!", "way to go!"
    if (a.past and not b.past and a.verb != "be") or b.temporary or ("sure" in a.words and "sure" in b.words):
        return False  # "I want to make sure I'm not late" denies nothing of what else shall be made sure
    first: list[Item] = [item for item in things_of(a) if not isinstance(item, Value)]
    second: list[Item] = [item for item in things_of(b) if not isinstance(item, Value)]
    if not first or not second:
        if _times_differ(a, b):
            return False  # "I never eat after eight", "I eat breakfast every morning"
        return not first and not second and bool(a.subject) and bool(a.verb) and a.verb in VERBS - {"be", "have", "do"}
    if a.negated and not b.changed and _weekdays(a) - _weekdays(b):
        return False  # "I don't eat meat on Fridays", "I eat meat"
    only_a, only_b = unshared(first, second)
    if _is_of_a_day(a, b) or (b.negated and not only_a and _is_narrower(b, only_b)):
        return False  # "I don't like olive oil", "I didn't wear it yesterday"
    if not b.changed and len(b.values) > len(a.values):
        return False  # "I don't like meetings before nine"
    if only_a and only_b:
        # "coffee, three cups before nine": what follows the thing itself does not matter where the change is said.
        same_place = a.prepositions.get(only_a[0]) and a.prepositions.get(only_a[0]) == b.prepositions.get(only_b[0])
        if same_place:
            return False  # "I'm not afraid of dogs", "I'm afraid of wasps now"
        return bool(b.changed) and first[0] == second[0] and len(only_a) <= 1 and not _scopes(a) ^ _scopes(b)
    return not any(item in _scopes(a) | _scopes(b) for item in (*only_a, *only_b)) and first[0] == second[0]


def _weekdays(clause: Clause) -> set[str]:
    return {word.removesuffix("s") for word in clause.tokens} & WEEKDAYS


def _is_of_a_day(a: Clause, b: Clause) -> bool:
    """Whether the later one says what happened on some day, and the earlier one what is so as a rule."""
    return b.past and not (a.past or b.perfect) and any(item in _PAST_DAYS for item in b.rest)


def _is_narrower(b: Clause, only_b: Sequence[Item]) -> bool:
    """Whether a denial is of another kind of the thing."""
    things = things_of(b)
    extra = {item for item in only_b if isinstance(item, str) and not b.prepositions.get(item)}
    return len(things) > 1 and things[-1] in extra


def _times_differ(a: Clause, b: Clause) -> bool:
    only_a, only_b = unshared(*([item for item in c.rest if item not in {"either", "too", "ever"}] for c in (a, b)))
    return bool(only_a and only_b)


def are_of_other_parts(a: Clause, b: Clause) -> bool:
    """Returns whether one is said of a meal or a part of the day and the other of another one."""
    parts = [{word for word in clause.words if word in PARTS_OF_DAY} for clause in (a, b)]
    return bool(parts[0] and parts[1]) and not parts[0] & parts[1]


def is_replaced(a: Clause, b: Clause, *, is_told: bool) -> bool:
    """Returns whether the same slot has another value: "My manager is Helene", "my manager is Colm"."""
    if not (is_plain(a) and is_plain(b)) or a.negated or b.negated or not a.subject or not has_same_subject(a, b):
        return False
    if a.verb != b.verb or not a.verb or b.temporary or (b.past and not b.perfect) or a.past != b.past:
        return False
    if are_of_other_parts(a, b):
        return False
    first, second = _slot(a), _slot(b)
    if not first or not second or _wants_to_do(a) or _wants_to_do(b):
        return False
    only_a, only_b = unshared(first, second)
    if not only_a or not only_b or _scopes_differ(a, b, first, second) or items_differ(a, b, only_a[0], only_b[0]):
        return False
    return _is_single(a, only_a, only_b) or (
        (b.changed or is_told) and _takes_the_place(a, first, second, only_a, only_b, is_said=b.changed)
    )


def _wants_to_do(clause: Clause) -> bool:
    """As in "I want to make sure": a wish to do something, beside which there are others."""
    return any(before == clause.verb and word == "to" for before, word in pairwise(clause.words)) and clause.verb in {
        "want", "prefer", "need", "like", "love", "hope", "plan", "begin", "start", "have",
    }  # fmt: skip


def _takes_the_place(
    a: Clause,
    first: Sequence[Item],
    second: Sequence[Item],
    only_a: Sequence[Item],
    only_b: Sequence[Item],
    *,
    is_said: bool,
) -> bool:
    values = [[item for item in side if isinstance(item, Value)] for side in (only_a, only_b)]
    names = [{item for item in side if isinstance(item, str)} for side in (only_a, only_b)]
    if a.verb in {"get", "have", "be"} and values[0] and values[1] and names[0] and names[1]:
        return False  # "chapter 3", "question 5"
    if values[0] and values[1] and len(first) - len(only_a) == len(second) - len(only_b):
        return any(match_values(x, y) is Match.DIFFERENT for x in values[0] for y in values[1])
    if a.verb in _SHARED_VERBS or (a.verb == "be" and not _has_role(a)) or a.verb == "have":
        return False
    shares_head = first[-1] == second[-1] or bool(set(map(str, first)) & set(map(str, second)))
    return shares_head or a.verb in _ONE_AT_A_TIME or (is_said and len(first) == len(second) == 1)


def _is_single(a: Clause, only_a: Sequence[Item], only_b: Sequence[Item]) -> bool:
    """Whether a second value excludes the first one whatever else is said."""
    if len(only_a) != 1 or len(only_b) != 1:
        return False
    x, y = only_a[0], only_b[0]
    if isinstance(x, Value) and isinstance(y, Value):
        is_number = x.kind in {ValueKind.NUMBER, ValueKind.MONEY, ValueKind.QUANTITY, ValueKind.IDENTIFIER}
        is_held = a.verb in {"be", "cost", "weigh", "get"} or _is_measure(a, x, y)
        return is_number and is_held and match_values(x, y) is Match.DIFFERENT
    if {ValueKind.IDENTIFIER} == {v.kind for v in (x, y) if isinstance(v, Value)}:
        return a.verb == "be" and any(str(v)[:1].isdigit() for v in (x, y) if isinstance(v, str))
    if isinstance(x, Value) or isinstance(y, Value):
        return False
    is_name = set(x.split()) <= a.names
    return a.verb == "be" and is_name and _has_role(a) and not set(x.split()) & set(y.split())


def _is_measure(a: Clause, x: Value, y: Value) -> bool:
    """As in "my bread bakes at 230 degrees": what a thing of the speaker's does as a rule, in one measure."""
    is_thing = a.words[:1] in {("my",), ("our",), ("the",)} and not set(map(str, a.subject)) <= {"i", "we"}
    is_same_measure = x.kind is y.kind is ValueKind.QUANTITY and bool(x.unit) and x.unit == y.unit
    return is_thing and is_same_measure and not a.past and a.verb in VERBS and a.verb not in _SHARED_VERBS


def _has_role(a: Clause) -> bool:
    """As in "my manager": a possession of which the owner has one."""
    nouns = [item for item in a.subject if isinstance(item, str) and item not in _OWNERS]
    owned = any(item in _OWNERS for item in a.subject) or bool(a.possessors)
    return owned and bool(nouns) and not any(noun in MULTIPLE_ROLES for noun in nouns)


def _slot(clause: Clause) -> list[Item]:
    """The value of a clause: what has no preposition, else what follows the first one."""
    things = [item for item in clause.rest if item not in _OWNERS and item not in TIMES]
    bare = [item for item in things if not clause.prepositions.get(item)]
    scoped = [item for item in things if clause.prepositions.get(item)]
    if clause.verb in _ONE_AT_A_TIME and scoped and things[0] == scoped[0]:
        return scoped[:1]
    return bare or scoped[:1]


def _is_duration(item: Item) -> bool:
    """As in "for 40 minutes"."""
    return isinstance(item, Value) and item.kind is ValueKind.QUANTITY and item.unit == "s"


def _scopes_differ(a: Clause, b: Clause, first: Sequence[Item], second: Sequence[Item]) -> bool:
    """Whether one holds only somewhere where the other need not: "for slides I prefer light"."""
    limits = [
        {
            item
            for item in things_of(clause)
            if clause.prepositions.get(item) in {"for", "on", "at", "when", "during"} and not _is_duration(item)
        }
        for clause in (a, b)
    ]
    goals = [
        {item for item in things_of(clause) if clause.prepositions.get(item) == "to" and item in clause.names}
        for clause in (a, b)
    ]
    if goals[0] and goals[1] and not goals[0] & goals[1] and not goals[0] & set(first):
        return True  # "seat 12 on the train to Graz", "seat 40 on the train to Linz"
    return limits[0] - set(first) != limits[1] - set(second)
