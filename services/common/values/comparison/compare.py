"""The value guard: how a later statement stands to an earlier one (SPEC 3.5, 3.6).

A similarity proposes a pair, this decides. What differs in a value is never the same; an update or a contradiction
needs the same slot; where not enough can be read the answer is UNKNOWN, and nothing is done.
"""

from __future__ import annotations

from typing import Final

from services.common.text_cache import text_cache
from services.common.values.comparison.changes import says_change, state_conflict
from services.common.values.comparison.complements import items_differ
from services.common.values.comparison.sameness import (
    DIMENSIONS,
    Match,
    comparison_of,
    heavy,
    match_values,
    order_agrees,
    unshared,
)
from services.common.values.model import Comparison, Difference, DifferenceKind, Modality, Relation, Value, ValueKind
from services.common.values.reading.clauses import Clause, Item, read_clauses
from services.common.values.words.lexicon import (
    CHANGEABLE_VERBS,
    CREATION_VERBS,
    FUNCTIONAL_VERBS,
    MULTIPLE_ROLES,
    PARTS_OF_DAY,
    POSSESSIVES,
    PRONOUNS,
    STATES,
    VERBS,
)

_OWNERS: Final = frozenset(POSSESSIVES.values())
_CONFLICTS: Final = (Relation.UPDATE, Relation.CONTRADICT)
_RANKED: Final = (*_CONFLICTS, Relation.UNKNOWN, Relation.SAME, Relation.COMPATIBLE, Relation.UNRELATED)
_REPEATABLE: Final = frozenset(
    [
        "run",
        "walk",
        "eat",
        "drink",
        "swim",
        "buy",
        "pay",
        "see",
        "visit",
        "meet",
        "win",
        "lose",
        "score",
        "go",
        "sleep",
        "travel",
    ]
)
_ON_A_DAY: Final = PARTS_OF_DAY | {"yesterday", "today", "tonight", "last", "this", "week", "month", "year"}
"""What opens a statement of one day: "yesterday I ran 10 km"."""
_THIRD: Final = frozenset({"he", "she", "it", "they", "you"})
_COPULAS: Final = frozenset({"be", "cost", "weigh", "turn"})
_SMALL: Final = frozenset(["get", "give", "do", "own", "take", "make", "wake"])


def compare(earlier: str, later: str) -> Comparison:
    """Returns the relation of two statements and what differs between them.

    Args:
        earlier: The statement that was made first.
        later: The other one.
    """
    found = _compared_clauses(earlier, later)
    if found is None:
        return Comparison(Relation.UNKNOWN)
    a, b, relation = found
    return Comparison(relation, _differences(a, b))


@text_cache(4_096)
def _clauses(text: str) -> list[Clause] | None:
    """The clauses of a text, which are not changed: the same statement is compared with many others."""
    return read_clauses(text)


def relation(earlier: str, later: str) -> Relation:
    """Returns only the relation of two statements."""
    found = _compared_clauses(earlier.rstrip(".! "), later.rstrip(".! "))
    return Relation.UNKNOWN if found is None else found[2]


@text_cache(64)
def _compared_clauses(earlier: str, later: str) -> tuple[Clause, Clause, Relation] | None:
    """The clauses that decide, and their relation; None where a statement cannot be read.

    Cached, since statements are compared again without what says since when they hold, which most do not say.
    """
    first, second = _clauses(earlier), _clauses(later)
    if first is None or second is None:
        return None
    first, second = _stated(first), _stated(second)
    pairs = [(a, b, _relation(a, b)) for a in first for b in second]
    a, b, relation = min(pairs, key=lambda pair: _RANKED.index(pair[2]))
    if relation is Relation.SAME and not _all_same(first, second, pairs):
        relation = Relation.COMPATIBLE
    return a, b, relation


def _stated(clauses: list[Clause]) -> list[Clause]:
    """Leave out questions that stand beside statements."""
    stated = [clause for clause in clauses if clause.modality is not Modality.QUESTION]
    if any(clause.modality is Modality.CONDITIONAL for clause in stated):
        # What follows from a condition holds only under it.
        return [clause for clause in stated if clause.modality is Modality.CONDITIONAL]
    return stated or clauses


def _all_same(first: list[Clause], second: list[Clause], pairs: list[tuple[Clause, Clause, Relation]]) -> bool:
    same = [(a, b) for a, b, found in pairs if found is Relation.SAME]
    return all(any(a is x for a, _ in same) for x in first) and all(any(b is x for _, b in same) for x in second)


def _relation(a: Clause, b: Clause) -> Relation:
    found = _read_relation(a, b)
    # "She lives in Rome": who that is cannot be read.
    is_nobody = bool(a.subject) and set(a.subject) <= _THIRD
    return Relation.UNKNOWN if is_nobody and found in _CONFLICTS else found


def _read_relation(a: Clause, b: Clause) -> Relation:
    if Modality.STATED is not a.modality or Modality.STATED is not b.modality:
        if a.modality is b.modality and a.negated == b.negated and not any(unshared(a.bag, b.bag)):
            return Relation.SAME if order_agrees(a, b) else Relation.UNKNOWN
        shared = {item for item in a.bag if item not in _OWNERS} & set(b.bag)
        return Relation.COMPATIBLE if shared else _topic(a, b)
    compared = _compared(a, b)
    if compared is not None:
        return compared
    only_a, only_b = unshared(a.bag, b.bag)
    only_a, only_b = heavy(only_a, a), heavy(only_b, b)
    if not only_a and not only_b and (a.bag or b.bag):
        return _same_words(a, b)
    if says_change(a, b):
        return Relation.UPDATE
    conflict = state_conflict(a, b) or _quantified(a, b) or _substituted(a, b, only_a, only_b)
    return conflict or _topic(a, b)


def _compared(a: Clause, b: Clause) -> Relation | None:
    first, second = comparison_of(a), comparison_of(b)
    if first is None or second is None:
        return None
    if first == second:
        return Relation.SAME
    if first == (second[0], second[2], second[1]):
        return Relation.UPDATE if b.changed else Relation.CONTRADICT
    return _topic(a, b)


def _same_words(a: Clause, b: Clause) -> Relation:
    """Both have the same words: negation, quantity and time decide."""
    if a.historic != b.historic or a.temporary != b.temporary:
        return Relation.COMPATIBLE
    if a.quantifier != b.quantifier and {a.quantifier, b.quantifier} != {"", "all"}:
        return _quantified(a, b) or Relation.COMPATIBLE
    if not order_agrees(a, b):
        return Relation.UNKNOWN
    if a.negated == b.negated:
        return Relation.SAME
    if not a.verb and not a.subject:
        return Relation.COMPATIBLE  # "No way!" takes "way to go" not back
    if a.historic or (a.past and not b.past and not b.perfect and not b.changed):
        return Relation.COMPATIBLE
    return Relation.UPDATE if b.changed or (b.perfect and not b.negated) else Relation.CONTRADICT


def _quantified(a: Clause, b: Clause) -> Relation | None:
    if any(item for side in unshared(a.bag, b.bag) for item in side if item not in {"pass", "fail", "on", "off"}):
        return None
    kinds = (a.quantifier, b.quantifier)
    if set(kinds) == {"all", "none"}:
        return Relation.CONTRADICT
    if set(kinds) == {"all", "some"}:
        differs = a.negated != b.negated or any(unshared(a.bag, b.bag))
        return Relation.CONTRADICT if differs else Relation.COMPATIBLE
    if set(kinds) == {"none", "some"}:
        return Relation.CONTRADICT if a.negated != b.negated else None
    return None


def _substituted(a: Clause, b: Clause, only_a: list[Item], only_b: list[Item]) -> Relation | None:
    """The same slot with another value: one item stands in the place of one other."""
    if a.historic or b.historic or b.temporary != a.temporary or a.negated != b.negated:
        return None
    only_a = [item for item in only_a if item not in _COPULAS]
    only_b = [item for item in only_b if item not in _COPULAS]
    if not _same_subject(a, b) or (a.verb != b.verb and not {a.verb, b.verb} <= _COPULAS):
        return None
    if len(only_a) != 1 or len(only_b) != 1:
        return None
    x, y = only_a[0], only_b[0]
    if isinstance(x, Value) and isinstance(y, Value):
        excluded = _values_exclude(a, b, x, y)
    elif isinstance(x, Value) or isinstance(y, Value):
        return None
    else:
        excluded = _words_exclude(a, b, x, y)
    if excluded:
        return Relation.UPDATE if b.changed or b.renewed else Relation.CONTRADICT
    is_changeable = (a.verb in CHANGEABLE_VERBS or not a.subject) and not isinstance(x, Value)
    if a.negated or (a.rest and a.rest[0] in VERBS and x != a.rest[0]):
        return None
    if items_differ(a, b, x, y):
        return None
    if b.changed and is_changeable and a.prepositions.get(x) == b.prepositions.get(y) and not _is_multiple(a):
        return Relation.UPDATE
    return None


def _same_subject(a: Clause, b: Clause) -> bool:
    """Whether the subjects are equal but for a count that opens them: "ten guests", "seven guests"."""
    return _uncounted(a.subject) == _uncounted(b.subject) and a.possessors == b.possessors


def _uncounted(subject: tuple[Item, ...]) -> tuple[Item, ...]:
    counted = len(subject) > 1 and isinstance(subject[0], Value) and subject[0].kind is ValueKind.NUMBER
    return subject[1:] if counted else subject


def _is_indefinite(clause: Clause) -> bool:
    """Whether it begins with an indefinite article; a clause of a value alone has no words."""
    return bool({"a", "an"}.intersection(clause.words[:1]))


def _values_exclude(a: Clause, b: Clause, x: Value, y: Value) -> bool:
    if match_values(x, y) is not Match.DIFFERENT:
        return False
    if x.kind is ValueKind.DATE and (x.unit == "weekdays" or (a.past and b.past and a.verb != "bear")):
        return False
    if a.past != b.past and not b.changed:
        return False
    sides = [DIMENSIONS & set(clause.words) for clause in (a, b)]
    if _is_indefinite(a) != _is_indefinite(b) or (all(sides) and sides[0] != sides[1]):
        return False
    is_of_days = bool(set(a.subject) & _ON_A_DAY) and bool(set(b.subject) & _ON_A_DAY)
    if is_of_days and a.past and b.past:
        return False
    bare = not a.subject or set(a.subject) <= _OWNERS
    if bare and a.past and b.past and (a.verb in _REPEATABLE or a.verb in _SMALL):
        return False
    if x.kind in {ValueKind.DATE, ValueKind.TIME} and (a.verb in {"have", "do"} or "can" in a.words):
        return False
    return a.prepositions.get(x) == b.prepositions.get(y) or {x.kind} <= {ValueKind.NUMBER, ValueKind.MONEY}


def _words_exclude(a: Clause, b: Clause, x: str, y: str) -> bool:
    if x in STATES and y in STATES:
        return a.verb == "be" and STATES[x][0] == STATES[y][0] and STATES[x] != STATES[y]
    if a.prepositions.get(x) != b.prepositions.get(y):
        return False
    is_name = set(x.split()) <= a.names and set(y.split()) <= b.names
    if not is_name or set(x.split()) <= set(y.split()) or set(y.split()) <= set(x.split()):
        return "favourite" in a.subject or "favorite" in a.subject
    if a.verb in FUNCTIONAL_VERBS:
        return True
    if a.passive and b.passive and (a.verb in CREATION_VERBS or a.verb == "call"):
        return True
    if a.verb != "be" or _is_multiple(a):
        return False
    # "My tutor is Robert Hale", "the capital of the island is Porta": a role with one holder.
    nouns = [item for item in a.subject if isinstance(item, str) and item not in _OWNERS]
    has_owner = any(item in _OWNERS for item in a.subject)
    return bool(nouns) and (has_owner or "the" in a.words[:1]) and not set(a.subject) <= a.names and len(a.rest) == 1


def _is_multiple(clause: Clause) -> bool:
    return any(item in MULTIPLE_ROLES for item in clause.subject) and "name" not in clause.words


def _topic(a: Clause, b: Clause) -> Relation:
    """Compatible where they are about the same thing in any way, else unrelated."""
    shared = {item for item in a.bag if isinstance(item, str)} & {item for item in b.bag if isinstance(item, str)}
    shared -= _OWNERS | PRONOUNS
    same_subject = bool(a.subject) and a.subject == b.subject
    if same_subject and set(a.subject) - _OWNERS:
        return Relation.COMPATIBLE
    in_place = (set(a.subject) & set(b.subject) - _OWNERS) | (set(a.rest) & set(b.rest) & shared)
    if in_place and (a.verb == b.verb or len(shared) > 1 or same_subject):
        return Relation.COMPATIBLE
    if a.verb == b.verb and a.verb not in {"", "be", "have"} and (same_subject or (_is_person(a) and _is_person(b))):
        return Relation.COMPATIBLE
    return Relation.COMPATIBLE if len(shared) > 1 else Relation.UNRELATED


def _is_person(clause: Clause) -> bool:
    return bool(set(clause.subject) & ((_OWNERS - {"it"}) | clause.names))


def _differences(a: Clause, b: Clause) -> tuple[Difference, ...]:
    found: list[Difference] = []
    only_a, only_b = unshared(a.bag, b.bag)
    if a.negated != b.negated:
        found.append(Difference(DifferenceKind.NEGATION, str(not a.negated).lower(), str(not b.negated).lower()))
    if a.modality is not b.modality:
        found.append(Difference(DifferenceKind.MODALITY, a.modality.value, b.modality.value))
    if a.subject != b.subject:
        found.append(Difference(DifferenceKind.SUBJECT, _shown(list(a.subject)), _shown(list(b.subject))))
    values_a = [item for item in only_a if isinstance(item, Value)]
    values_b = [item for item in only_b if isinstance(item, Value)]
    if values_a or values_b:
        units = {value.unit for value in values_a} != {value.unit for value in values_b}
        kind = DifferenceKind.UNIT if units and values_a and values_b else DifferenceKind.VALUE
        found.append(Difference(kind, _shown([*values_a]), _shown([*values_b])))
    words_a = [item for item in only_a if isinstance(item, str) and item not in a.subject]
    words_b = [item for item in only_b if isinstance(item, str) and item not in b.subject]
    if words_a or words_b:
        is_name = any(set(item.split()) <= a.names for item in words_a)
        kind = DifferenceKind.NAME if is_name else DifferenceKind.WORDING
        found.append(Difference(kind, _shown([*words_a]), _shown([*words_b])))
    return tuple(found)


def _shown(items: list[Item]) -> str:
    return " ".join(_value_text(item) if isinstance(item, Value) else item for item in items)


def _value_text(value: Value) -> str:
    if value.text:
        return value.text
    low, high = (f"{end:.12g}" for end in (value.low, value.high))
    return f"{low if low == high else f'{low}..{high}'} {value.unit}".strip()
