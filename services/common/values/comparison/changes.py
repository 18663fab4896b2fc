"""Whether a clause says that what another one states has changed.

Each rule needs the thing itself in both clauses: the same subject, or the same nouns with the same possessor. A verb of
change about something else changes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

from services.common.values.comparison.sameness import Match, match_values
from services.common.values.model import Relation
from services.common.values.reading.clauses import Clause, Item
from services.common.values.words.lexicon import POSSESSIVES, STATES

_OWNERS: Final = frozenset(POSSESSIVES.values())
_ENDING: Final = frozenset(["stop", "quit", "finish", "leave", "sell", "drop", "forget", "cancel"])
_POSSIBLE: Final = frozenset({"can", "could", "should", "would", "might", "may", "must", "shall"})
_BEGINNING: Final = frozenset(["start", "begin", "learn"])
_SHIFTING: Final = frozenset(
    [
        "raise",
        "lower",
        "increase",
        "reduce",
        "change",
        "move",
        "postpone",
        "reschedule",
        "upgrade",
        "rename",
        "rise",
        "fall",
        "renew",
        "give",
        "switch",
        "extend",
        "cut",
        "push",
        "shift",
        "bump",
        "advance",
        "delay",
        "set",
    ]
)
_REPLACING: Final = frozenset(["switch", "migrate", "change", "takeover", "replace"])
_BOUGHT: Final = frozenset(["have", "drive", "own", "use", "ride"])

_DIMENSIONS: Final[tuple[tuple[str, str, frozenset[str]], ...]] = tuple(
    (dimension, value, frozenset(words.split()))
    for dimension, value, words in (
        ("working", "-", "out order"), ("working", "-", "broken"), ("working", "-", "down"),
        ("working", "+", "fix"), ("working", "+", "repair"), ("working", "+", "up again"), ("working", "+", "works"),
        ("working", "+", "work again"), ("working", "+", "run again"), ("working", "+", "repaired"),
        ("away", "-", "on holiday"), ("away", "-", "on leave"), ("away", "-", "in hospital"), ("away", "+", "back"),
        ("away", "+", "home from"), ("away", "+", "return leave"), ("away", "+", "return holiday"),
        ("away", "+", "discharge hospital"),
        ("pair", "single", "single"), ("pair", "paired", "girlfriend"), ("pair", "paired", "boyfriend"),
        ("pair", "engaged", "engaged"), ("pair", "married", "married"),
        ("pair", "married", "marry"), ("pair", "divorced", "divorced"), ("pair", "divorced", "divorce"),
        ("job", "-", "look job"), ("job", "-", "unemployed"), ("job", "+", "find job"),
        ("sale", "-", "for sale"), ("sale", "+", "sell"),
        ("birth", "-", "pregnant"), ("birth", "-", "expecting"), ("birth", "+", "baby"),
        ("repair", "-", "in repair"), ("repair", "+", "back repair"),
        ("open", "-", "closed"), ("open", "+", "open again"),
    )
)  # fmt: skip
"""States of which a thing has one at a time: dimension, value, the words that must all be there."""
_OF_STATES: Final = frozenset(word for _, _, words in _DIMENSIONS for word in words)
_OF_THINGS: Final = frozenset({"working", "sale", "open", "door", "switch", "fill", "heat", "colour"})
_NEXT: Final = frozenset(
    {
        ("single", "paired"),
        ("paired", "single"),
        ("paired", "engaged"),
        ("paired", "married"),
        ("single", "engaged"),
        ("single", "married"),
        ("engaged", "married"),
        ("engaged", "single"),
        ("married", "divorced"),
        ("married", "single"),
        ("divorced", "engaged"),
        ("divorced", "married"),
        ("widowed", "married"),
    }
)
"""How relationships go on; any other pair is not read."""
_RESULT_VERBS: Final = frozenset(["get", "return", "find", "discharge", "have", "come", "marry"])


def says_change(earlier: Clause, later: Clause) -> bool:
    """Returns whether the later clause says that what the earlier one states holds no longer."""
    if earlier.historic or later.historic:
        return False
    return any(rule(earlier, later) for rule in _RULES)


def state_conflict(earlier: Clause, later: Clause) -> Relation | None:
    """Returns what follows where both put the same thing into two states of one dimension; None without."""
    first, second = _states(earlier), _states(later)
    opposed = {d for d, value in first.items() if d in second and second[d] != value}
    if not opposed or not _same_thing(earlier, later) or earlier.historic or later.renewed:
        return None
    if opposed & _OF_THINGS and not _nouns(earlier.subject):
        return None
    if "pair" in opposed and (first["pair"], second["pair"]) not in _NEXT:
        return None
    if opposed <= {"pair"} and earlier.negated != later.negated:
        return None
    is_result = later.changed or later.perfect or "again" in later.words or later.verb in _RESULT_VERBS
    if is_result or (later.past and later.passive) or "back" in later.words:
        return Relation.UPDATE
    return None if later.temporary else Relation.CONTRADICT


def _states(clause: Clause) -> dict[str, str]:
    words = _OF_STATES.intersection(clause.words) | _OF_STATES.intersection(clause.bag)
    found = {dimension: value for dimension, value, needed in _DIMENSIONS if needed <= words} if words else {}
    if found.get("away") == "-" and clause.verb != "be":
        del found["away"]
    if "working" in found and clause.negated:
        found["working"] = "-" if found["working"] == "+" else "+"
    elif clause.negated:
        return {}
    if clause.verb == "work" and not clause.rest and "working" not in found:
        found["working"] = "-" if clause.negated else "+"
    if clause.verb == "be" and not clause.negated and len(clause.rest) == 1 and clause.rest[0] in STATES:
        dimension, value = STATES[str(clause.rest[0])]
        found.setdefault(dimension, value)
    return found


def _same_thing(earlier: Clause, later: Clause) -> bool:
    if not earlier.subject or not later.subject:
        return False
    first, second = set(earlier.subject), set(later.subject)
    if first == second:
        return True
    if first == {"i"} and second == {"we"}:
        return True
    if len(second) == 1 and second <= _nouns(earlier.subject) and "the" in later.words[:1]:
        return next(iter(_listed_nouns(earlier.subject)), None) in second  # "the heating in the office", "the heating"
    others = second - first
    if first <= second and (first <= {"i"} or len(earlier.subject) == 1):
        return later.verb in {"marry", "get", "divorce"} and all(item in earlier.bag for item in others)
    # "I got my bike back": the thing is the object.
    nouns = first - _OWNERS
    return (
        bool(nouns) and second <= _OWNERS and nouns <= set(later.rest) and later.verb == "get" and "back" in later.words
    )


def _words(clause: Clause) -> set[Item]:
    return set(clause.bag)


def _nouns(items: tuple[Item, ...]) -> set[Item]:
    return {item for item in items if isinstance(item, str) and item not in _OWNERS}


def _listed_nouns(items: tuple[Item, ...]) -> list[str]:
    return [item for item in items if isinstance(item, str) and item not in _OWNERS]


def _possessor_differs(earlier: Clause, later: Clause) -> bool:
    """Whether the later one is about somebody else's: "his rent", "the neighbour's rent"."""
    if later.possessors - earlier.possessors or earlier.possessors - later.possessors:
        return True
    owned = {item for item in earlier.subject if item in _OWNERS}
    foreign = {item for item in later.bag if item in {"he", "she", "you"}} - set(earlier.bag)
    return bool(foreign) or (bool(owned) and not owned & set(later.bag) and "they" in later.subject)


def _ended(earlier: Clause, later: Clause) -> bool:
    if later.verb not in _ENDING and not (later.verb == "have" and later.rest[:1] and later.rest[0] in _ENDING):
        return False
    if _POSSIBLE & set(later.words) or _is_still_to_do(later):
        return False  # "I could stop by there"
    rest = [item for item in later.rest if item not in _OWNERS and item not in _ENDING]
    is_laid = (
        later.verb == "leave"
        and "the" in later.words
        and any(later.prepositions.get(item) in {"at", "in", "on", "with", "under", "by"} for item in later.rest)
    )
    if later.verb == "leave" and (_is_departure(later) or is_laid):
        return False  # "I left the guitar at Tom's"
    if earlier.negated or later.negated or earlier.verb in _ENDING or not (rest or later.verb == "cancel"):
        return False
    if later.verb == "cancel":
        return earlier.subject == later.subject != () and earlier.verb == "be" and not earlier.past
    if earlier.subject == later.subject:
        if later.verb == "sell":
            return earlier.verb in _BOUGHT and rest[0] in earlier.rest
        if later.verb in {"stop", "quit"} and not later.subject:
            return set(rest) <= _words(earlier)
        # "Stopped taking aspirin" ends the aspirin, not the tram that is taken to work.
        objects = rest[1:] if rest[0] == earlier.verb else rest
        if not objects:
            return True
        behind = [item for item in objects[1:2] if isinstance(item, str) and not later.prepositions.get(item)]
        is_more = later.verb == "finish" and any(item not in _words(earlier) for item in behind)
        return isinstance(objects[0], str) and objects[0] in earlier.rest and not is_more
    listed = {word for item in later.subject for word in str(item).split()}
    named = bool(listed) and listed <= {word for item in earlier.rest for word in str(item).split()}
    return later.verb in {"leave", "quit", "resign", "retire"} and named and rest[0] in _words(earlier)


def _is_still_to_do(later: Clause) -> bool:
    """As in "I have to finish the courtyard"."""
    return any(word in {"have", "has", "had"} and after == "to" for word, after in itertools.pairwise(later.words))


def _is_departure(later: Clause) -> bool:
    """As in "I left the gym at nine", "left the house early"."""
    is_timed = any(later.prepositions.get(value) == "at" for value in later.values)
    return is_timed or bool({"early", "late", "today", "tonight", "home"} & set(later.words))


def _died(earlier: Clause, later: Clause) -> bool:
    owned = earlier.verb in {"have", "own", "keep"} and earlier.subject in {("i",), ("we",)}
    nouns = _nouns(later.subject)
    return later.verb == "die" and owned and bool(nouns) and nouns <= set(earlier.rest) and not later.possessors


def _begun(earlier: Clause, later: Clause) -> bool:
    rest = _nouns(later.rest)
    if later.verb == "have" and later.perfect and rest & _BEGINNING:
        rest -= _BEGINNING
    elif later.verb not in _BEGINNING:
        return False
    wanted = _nouns((earlier.verb, *earlier.rest)) - {"can"}
    return (
        earlier.negated and not later.negated and earlier.subject == later.subject and bool(wanted) and wanted <= rest
    )


def _moved(earlier: Clause, later: Clause) -> bool:
    if later.verb != "move" or later.negated or earlier.negated or earlier.subject != later.subject:
        return False
    is_place = any(isinstance(item, str) and set(item.split()) <= later.names for item in later.rest)
    was_place = any(isinstance(item, str) and set(item.split()) <= earlier.names for item in earlier.rest)
    return earlier.verb == "live" and was_place and is_place and not _words(earlier) & set(later.rest)


def _shifted(earlier: Clause, later: Clause) -> bool:
    """As in "The rent went up to 740": the same nouns, a new value of the same kind."""
    if not (later.verb in _SHIFTING or later.renewed) or later.negated or earlier.negated or later.temporary:
        return False
    slot = _nouns(earlier.subject) or _nouns(earlier.rest)
    if not slot or not slot <= _words(later) or _possessor_differs(earlier, later):
        return False
    if earlier.subject and not _nouns(earlier.subject) and earlier.subject != later.subject:
        return False
    # Any other noun of the later clause's subject makes it another thing.
    if _nouns(later.subject) - slot and later.verb not in {"raise", "lower", "increase", "reduce", "give", "change"}:
        return False
    first, second = earlier.values, later.values
    return len(first) == 1 and len(second) == 1 and match_values(first[0], second[0]) is Match.DIFFERENT


def _relocated(earlier: Clause, later: Clause) -> bool:
    """As in "The office has moved to the fifth floor": the same subject, another place of the same kind."""
    if later.verb != "move" or earlier.verb != "be" or earlier.subject != later.subject or not later.rest:
        return False
    return earlier.rest[-1:] == later.rest[-1:] and earlier.rest != later.rest and not later.negated


def _replaced(earlier: Clause, later: Clause) -> bool:
    """As in "We switched from Jenkins to Buildkite": what it was before is named."""
    if later.verb not in _REPLACING or later.negated or earlier.negated:
        return False
    known = _words(earlier)
    if later.origin and later.origin[0] in known:
        shared = (_words(later) & known) - _OWNERS
        return (
            earlier.subject == later.subject
            or (set(later.subject) <= known and len(shared) > 1)
            or (later.verb == "takeover" and len(shared) > 1)
        )
    if later.verb == "replace" and later.passive:
        return set(later.subject) <= known and len((_words(later) & known) - _OWNERS) > 1
    return False


def _role_changed(earlier: Clause, later: Clause) -> bool:
    """As in "I changed doctors": a role of the speaker."""
    if later.verb != "change" or later.values or len(later.rest) != 1 or earlier.verb != "be":
        return False
    return len(later.subject) == 1 and earlier.subject == (*later.subject, later.rest[0])


_RULES: Final[tuple[Callable[[Clause, Clause], bool], ...]] = (
    _ended,
    _died,
    _begun,
    _moved,
    _shifted,
    _relocated,
    _replaced,
    _role_changed,
)
