"""What takes the place of something: moved, renamed, replaced, found, painted, begun. Pure functions.

Each rule reads two clauses of one speaker. It demands the thing itself in both, and of the later clause either a verb
that says what it becomes or a word that says that it is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from services.common.values.comparison.sameness import Match, match_values, unshared
from services.common.values.comparison.slots import has_same_subject, is_plain
from services.common.values.model import Modality, Value, ValueKind
from services.common.values.reading.clauses import Clause, Item
from services.common.values.reading.splitting import PREPOSITIONS
from services.common.values.words.lexicon import KIN, MULTIPLE_ROLES, POSSESSIVES, PRONOUNS, STATES
from services.common.values.words.nouns import TIMES
from services.common.values.words.tokens import lemma

_OWNERS: Final = frozenset(POSSESSIVES.values())
_FIRST: Final = frozenset({"i", "we"})
_TRANSFERS: Final = frozenset(
    """
    move postpone push shift extend cut rename raise lower increase reduce change delay advance reschedule set put bump
    bring upgrade update transfer relocate migrate
    """.split()  # noqa: SIM905 - words
)
"""Verbs that bring a thing to another value: "moved to Thursday", "cut to 4,000 euros", "renamed to Heron"."""
_PLACED: Final = frozenset(
    {"put", "move", "hang", "store", "keep", "bring", "park", "carry", "take", "lay", "transfer"}
)
_MOVES: Final = frozenset({"move", "rename", "change", "transfer", "relocate", "shift", "upgrade", "update", "migrate"})
_HELD: Final = frozenset({"be", "sit", "meet", "work", "hang", "stand", "run", "call", "lie", "use", "lay", "store"})
_TARGETS: Final = frozenset({"to", "into", "on", "at", "until", "for", ""})
_PLACES: Final = frozenset({"in", "on", "at", "near", "under", "over"})
_TIMED: Final = frozenset({ValueKind.DATE, ValueKind.TIME})
_STARTS: Final = frozenset({"be", "leave", "depart", "start", "begin"})
_USED: Final = frozenset({"use", "live", "work", "run", "take", "study", "drive", "bank", "play", "deploy", "store"})
_SOUGHT: Final = frozenset({"look", "need", "search", "hunt"})
_GOT: Final = frozenset({"find", "get", "buy", "have", "rent", "hire"})
_COLOURED: Final = frozenset({"paint", "dye", "spray", "repaint"})
_SERVED: Final = frozenset({"drink", "take", "have", "eat", "like", "prefer", "order"})
"""Verbs for one deed with food and drink: "I take my coffee with milk", "I drink my coffee black"."""
_GENERAL: Final = frozenset({"thing", "place", "one", "way", "time"})


def succeeds(a: Clause, b: Clause, *, is_told: bool) -> bool:
    """Returns whether the later clause says what became of the thing that the earlier one states something of.

    Args:
        a: The earlier clause.
        b: The later one, of the same speaker.
        is_told: Whether its turn announces a change.
    """
    if not is_plain(a) or not is_plain(b) or a.negated or b.negated or "too" in b.words or "also" in b.words:
        return False
    if b.temporary:
        return False
    if any(rule(a, b) for rule in _RULES):
        return True
    return (b.changed or is_told) and any(rule(a, b) for rule in _RULES_IF_NEW)


def begins(a: Clause, b: Clause) -> bool:
    """Returns whether what the earlier clause denies has become so: "I'm not married", "I got married"."""
    if not a.negated or b.negated or not (is_plain(a) and is_plain(b)) or not has_same_subject(a, b):
        return False
    state = _words(a.rest) if a.verb == "be" else {a.verb} if a.passive else set()
    become = {lemma(word) for word in _words(b.rest)}
    return b.verb in {"get", "become", "turn"} and bool(state) and state == become


def _transferred(a: Clause, b: Clause) -> bool:
    """As in "They postponed my exam to 24 March", "Choir practice has moved to Thursday"."""
    thing = _things(a) or (_words(a.rest) if set(b.bag) & _FIRST else set())
    if b.verb not in _TRANSFERS or not thing or not thing <= _words(b.bag) or is_of_another(a, b, thing):
        return False
    old = [value for value in a.values if value not in a.subject]
    new = [value for value in b.values if b.prepositions.get(value, "") in _TARGETS]
    if old or new:
        return any(_is_other_value(x, y) for x in old for y in new)
    targets = [item for item in b.rest if b.prepositions.get(item) in {"to", "into"} and item not in _OWNERS]
    return b.verb in _MOVES and a.verb in _HELD and bool(targets) and not set(targets) & {*a.rest, *a.subject}


def _is_other_value(x: Value, y: Value) -> bool:
    if x.kind in _TIMED and y.kind in _TIMED and x.kind is y.kind and x.unit != y.unit:
        return True
    return match_values(x, y) is Match.DIFFERENT


def _moved_us(a: Clause, b: Clause) -> bool:
    """As in "My office is on the third floor", "They moved us to the fifth floor"."""
    is_us = bool(set(b.rest) & _FIRST) and bool(set(a.subject) & _FIRST)
    if b.verb not in {"move", "transfer", "relocate", "put"} or not is_us or not a.rest or not b.rest:
        return False
    return a.rest[-1] == b.rest[-1] and a.rest != b.rest and a.verb in _HELD and len(_words(a.subject)) <= 1


def _placed(a: Clause, b: Clause) -> bool:
    """As in "The keys are in the drawer", "I put the keys in the blue box"."""
    thing = _things(a)
    places = _at_places(a)
    new = _at_places(b) - thing
    if b.verb not in _PLACED or a.verb not in {"be", "lie", "hang", "stand"} or a.past or not thing:
        return False
    if not (b.past or b.verb == "put"):
        return False
    objects = {item for item in b.rest if not b.prepositions.get(item)}
    return bool(places and new) and thing <= objects and not places & new and not is_of_another(a, b, thing)


def _placed_since(a: Clause, b: Clause) -> bool:
    """As in "I've put the beehives behind the chapel", "The beehives are in the orchard now"."""
    things = {item for item in a.rest if isinstance(item, str) and not a.prepositions.get(item)}
    thing, new = _things(b), _at_places(b)
    if a.verb not in _PLACED or b.verb not in {"be", "lie", "hang", "stand", "live"} or not set(a.subject) <= _FIRST:
        return False
    places = {item for item in a.rest if item not in things and isinstance(item, str)}
    return bool(a.subject and thing and new) and thing <= things and not places & new and not is_of_another(a, b, thing)


def _painted(a: Clause, b: Clause) -> bool:
    """As in "The kitchen is yellow", "We painted the kitchen green"."""
    thing = _things(a)
    verbs = {b.verb, *(word for word in b.rest if isinstance(word, str))}
    old, new = _colours(a), _colours(b)
    is_thing = bool(thing) and thing <= _words(b.bag) and not is_of_another(a, b, thing)
    return a.verb == "be" and bool(verbs & _COLOURED) and is_thing and bool(old and new) and not old & new


def _colours(clause: Clause) -> set[str]:
    return {item for item in clause.rest if isinstance(item, str) and STATES.get(item, ("",))[0] == "colour"}


def _found(a: Clause, b: Clause) -> bool:
    """As in "I'm looking for a flat", "I found a flat"."""
    if a.verb not in _SOUGHT or b.verb not in _GOT or not _is_same_we(a, b) or not (b.past or b.perfect or b.changed):
        return False
    if a.past or (a.verb == "need" and "to" in a.words):
        return False
    sought = [item for item in a.rest if a.prepositions.get(item) == "for" or a.verb == "need"]
    return bool(sought) and isinstance(sought[0], str) and sought[0] in b.rest


def _new_role(a: Clause, b: Clause) -> bool:
    """As in "My dentist is Dr Amsel", "I have a new dentist, Dr Birk"."""
    nouns = [item for item in a.subject if isinstance(item, str) and item not in _OWNERS]
    if not nouns or a.verb not in {"be", "call"} or not a.rest or a.possessors or b.possessors:
        return False
    if "trying" in b.words:
        return False  # to set up something new
    head = nouns[-1]
    is_new = any(before == "new" and _matches(word, head) for before, word in pairwise(b.words))
    is_mine = not set(b.subject) - _FIRST or head in b.subject
    is_value = any(isinstance(item, Value) or set(item.split()) <= a.names for item in a.rest)
    return is_new and is_mine and is_value and b.verb in {"have", "get", "be", "find"} and _is_single_role(head)


def _is_single_role(head: str) -> bool:
    return head not in MULTIPLE_ROLES and head not in KIN


def _matches(word: str, base: str) -> bool:
    return word in {base, f"{base}s"}


def _taken_over(a: Clause, b: Clause) -> bool:
    """As in "The boss is Frau Klein", "Herr Gross took over from Frau Klein"."""
    if b.verb == "takeover":
        gone = {item for item in b.rest if b.prepositions.get(item) == "from"}
    elif b.verb == "replace" and not b.passive:
        gone = {item for item in b.rest if isinstance(item, str) and set(item.split()) <= b.names}
    elif b.verb == "replace":
        gone = {item for item in b.subject if isinstance(item, str) and set(item.split()) <= b.names}
    else:
        return False
    shared = (_words(b.bag) & _words(a.bag)) - {str(item) for item in gone}
    known = {word for item in a.rest for word in str(item).split()}
    is_listed = a.verb == "be" and bool(gone) and {word for item in gone for word in str(item).split()} <= known
    return is_listed and not (_is_of_others(a) and not shared)


def _instead(a: Clause, b: Clause) -> bool:
    """As in "I wear contact lenses instead of glasses": what it was before is named."""
    if "instead" not in b.words or a.verb != b.verb or not _is_same_we(a, b):
        return False
    place = b.words.index("instead")
    behind = set(b.words[place + 1 : place + 4]) - {"of"}
    old = {word for item in a.rest for word in str(item).split() if not isinstance(item, Value)}
    return (
        "of" in b.words[place : place + 2] and bool(old) and any(word in behind or f"{word}s" in behind for word in old)
    )


def _switched(a: Clause, b: Clause) -> bool:
    """As in "We use Slack for work", "We moved from Slack to Teams"."""
    if b.verb not in {"move", "go", "switch", "migrate", "change"} or a.verb not in _USED or not _is_same_we(a, b):
        return False
    targets = [item for item in b.rest if b.prepositions.get(item) == "to"]
    return bool(b.origin) and b.origin[0] in a.rest and bool(targets)


def _scaled(a: Clause, b: Clause) -> bool:
    """As in "I weigh 82 kilos", "I'm down to 76 kilos"."""
    is_step = any(pair in {("down", "to"), ("up", "to")} for pair in pairwise(b.words))
    if b.verb not in {"be", "get", "go", "come"} or not is_step or not has_same_subject(a, b):
        return False
    return any(match_values(x, y) is Match.DIFFERENT and x.unit for x in a.values for y in b.values)


def _turned(a: Clause, b: Clause) -> bool:
    """As in "My son is nine", "My son turned ten yesterday"."""
    if a.verb != "be" or b.verb != "turn" or not has_same_subject(a, b) or a.past:
        return False
    return any(
        x.kind is y.kind is ValueKind.NUMBER and match_values(x, y) is Match.DIFFERENT
        for x in a.values
        for y in b.values
    )


def _timed_otherwise(a: Clause, b: Clause) -> bool:
    """As in "My flight is at 9:20", "My flight leaves at 11:40 now"."""
    if {a.verb, b.verb} - _STARTS or a.past or b.past or not has_same_subject(a, b) or not _things(a):
        return False
    return any(x.kind in _TIMED and x.unit == y.unit and _is_other_value(x, y) for x in a.values for y in b.values)


def _done_otherwise(a: Clause, b: Clause) -> bool:
    """As in "I drink my coffee black", "I drink my coffee with milk now": the same thing in another manner."""
    is_served = {a.verb, b.verb} <= _SERVED and a.verb != b.verb
    if not is_served and (a.verb != b.verb or a.verb in {"be", "have", ""}):
        return False
    if not _is_same_we(a, b) or a.past or b.past:
        return False
    if not a.subject and not b.changed:
        return False  # "Take care, Sam!", "Take care, bye!"
    first, second = _content(a), _content(b)
    if not first or not second or first[0] != second[0] or a.prepositions.get(first[0]) or first[0] in _GENERAL:
        return False
    only_a, only_b = unshared(first, second)
    scopes = {"for", "on", "at", "in", "to", "when", "during", "from"}
    is_manner = not any(c.prepositions.get(item) in scopes for c, side in ((a, only_a), (b, only_b)) for item in side)
    return bool(only_a and only_b) and is_manner and not any(isinstance(item, Value) for item in (*only_a, *only_b))


def _liked_otherwise(a: Clause, b: Clause) -> bool:
    """As in "I like a window seat best", "I like an aisle seat best now": one word of several differs."""
    if a.verb != b.verb or a.verb not in {"like", "love", "prefer", "enjoy"} or not _is_same_we(a, b):
        return False
    only_a, only_b = unshared(_content(a), _content(b))
    is_best = bool({"best", "most"} & set(a.words)) and bool({"best", "most"} & set(b.words))
    return len(only_a) == len(only_b) == 1 and is_best and only_a[0] not in TIMES and only_b[0] not in TIMES


def _counted_otherwise(a: Clause, b: Clause) -> bool:
    """As in "There are 14 people in my team", "There are 17 people in my team now"."""
    if a.verb != b.verb or a.verb not in {"be", "have", "own", "keep", "owe"} or a.past or b.past:
        return False
    if not _is_same_we(a, b) and (a.subject or b.subject):
        return False
    only_a, only_b = unshared(_content(a), _content(b))
    if len(only_a) != 1 or len(only_b) != 1 or len(_content(a)) < 2:
        return False
    x, y = only_a[0], only_b[0]
    return (
        isinstance(x, Value)
        and isinstance(y, Value)
        and x.kind not in _TIMED
        and match_values(x, y) is Match.DIFFERENT
        and a.prepositions.get(x) == b.prepositions.get(y)
    )


def _timed_anew(a: Clause, b: Clause) -> bool:
    """As in "I play tennis on Mondays", "I play tennis on Thursdays now"."""
    if a.verb != b.verb or a.verb in {"be", "have", ""} or not _is_same_we(a, b) or a.past or b.past:
        return False
    first, second = ([item for item in _content(c) if not _is_time(item)] for c in (a, b))
    times = [{item for item in c.rest if _is_time(item)} for c in (a, b)]
    is_other = len(times[0]) == len(times[1]) > 0 and all(_are_other_times(x, y) for x in times[0] for y in times[1])
    return bool(first) and not any(unshared(first, second)) and is_other


def _is_time(item: Item) -> bool:
    return isinstance(item, Value) and item.kind in _TIMED


def _are_other_times(x: Item, y: Item) -> bool:
    return isinstance(x, Value) and isinstance(y, Value) and x.kind is y.kind and x.unit == y.unit and x != y


def _placed_anew(a: Clause, b: Clause) -> bool:
    """As in "We meet at the library", "We meet at the pub now"."""
    if a.verb != b.verb or a.verb in {"be", "have", ""} or not _is_same_we(a, b) or a.past or b.past:
        return False
    old, new = _at_places(a), _at_places(b)
    rest = [[item for item in _content(c) if item not in places] for c, places in ((a, old), (b, new))]
    if len(old) != 1 or len(new) != 1 or old == new or any(unshared(*rest)):
        return False
    (x,), (y,) = old, new
    is_name = [set(item.split()) <= c.names for c, item in ((a, x), (b, y))]
    return a.prepositions.get(x) == b.prepositions.get(y) and is_name[0] == is_name[1]


def _is_same_we(a: Clause, b: Clause) -> bool:
    """Whether both have the same subject; "we" goes for "I"."""
    if a.possessors != b.possessors:
        return False
    return has_same_subject(a, b) or (bool(a.subject and b.subject) and {*a.subject, *b.subject} <= _FIRST)


def _content(clause: Clause) -> list[Item]:
    return [item for item in clause.rest if item not in TIMES and item not in _OWNERS and item not in PRONOUNS]


def _things(clause: Clause) -> set[str]:
    """The nouns of the subject."""
    return {item for item in _words(clause.subject) if item not in TIMES}


def _words(items: tuple[Item, ...] | list[Item]) -> set[str]:
    return {item for item in items if isinstance(item, str) and item not in _OWNERS and item not in PRONOUNS}


def _at_places(clause: Clause) -> set[str]:
    return {
        item
        for item in clause.rest
        if isinstance(item, str) and clause.prepositions.get(item) in _PLACES and item not in TIMES | _OWNERS
    }


def is_of_another(a: Clause, b: Clause, thing: set[str]) -> bool:
    """Returns whether the later clause is about somebody else's, or about something that has more in its name."""
    if a.possessors != b.possessors or set(b.bag) & {"he", "she", "you"} - set(a.bag):
        return True
    return any(_is_modified(words, thing) for words in _phrases(b, thing))


def _phrases(clause: Clause, thing: set[str]) -> Iterator[list[str]]:
    """The words of each noun phrase with one of the nouns, from the determiner on."""
    phrase: list[str] = []
    for word in (*clause.words, ""):
        if word in {"the", "my", "our", "a", "an", "their", "this"} or not word or word in PREPOSITIONS:
            if thing & set(phrase):
                yield phrase
            phrase = []
        else:
            phrase.append(word)


def _is_modified(phrase: list[str], thing: set[str]) -> bool:
    """Whether a word stands before the thing in its phrase that is none of its own: "the Harbour deadline"."""
    place = next(n for n, word in enumerate(phrase) if word in thing)
    before = [word for word in phrase[:place] if word not in {"new", "whole", "old", "i", "we", "they"}]
    return any(word not in thing for word in before[-1:]) and place == 1


def _is_of_others(clause: Clause) -> bool:
    return any(item in KIN for item in clause.subject)


_RULES: Final[tuple[Callable[[Clause, Clause], bool], ...]] = (
    _transferred, _moved_us, _placed, _painted, _found, _new_role, _taken_over, _instead, _switched,
    _scaled, _turned,
)  # fmt: skip
"""Whose later clause says by itself that something changed."""
_RULES_IF_NEW: Final[tuple[Callable[[Clause, Clause], bool], ...]] = (
    _timed_otherwise, _done_otherwise, _liked_otherwise, _counted_otherwise, _timed_anew,
    _placed_anew, _placed_since,
)  # fmt: skip
"""Whose later clause must say that it is new."""


def was_so(a: Clause, b: Clause) -> bool:
    """Returns whether the later clause puts the earlier one into the past: "I used to live in Lyon"."""
    if b.modality is not Modality.HABIT_PAST or not is_plain(a) or a.past or a.negated != b.negated:
        return False
    first, second = _content(a), _content(b)
    verb = b.verb if b.verb != "use" else next((item for item in second if isinstance(item, str)), "")
    return _is_same_we(a, b) and verb == a.verb and bool(first) and set(first) <= set(second)
