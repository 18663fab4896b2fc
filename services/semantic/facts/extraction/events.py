"""What somebody did once. Each function reads one verb of a clause."""

from __future__ import annotations

from typing import Final

from services.semantic.facts.extraction import nouns
from services.semantic.facts.extraction.people import Verb
from services.semantic.facts.extraction.reader import Finding, Reader, bare, is_vague, tidy, without_duration

_Findings = list[Finding]

_EVENT_WORDS_MIN: Final = 3


def done(reader: Reader, verb: Verb) -> _Findings:
    """What somebody did once."""
    clause = reader.clause
    if verb.is_negated or verb.is_ahead or not (clause.is_past or clause.is_perfect or verb.is_past):
        return []
    tree = clause.tree
    target = tree.child(verb.place, "dobj")
    value = reader.text(target)
    lemma = tree.lemma(target) if target is not None else ""
    place = verb.place
    if verb.lemma in {"buy", "purchase", "order", "acquire"} and target is not None and not is_vague(value):
        return [Finding("bought", value)]
    if verb.lemma == "sell" and target is not None and tree.child(target, "poss", "det") is not None:
        return [Finding("sold", value)]
    if (
        verb.lemma in {"sprain", "break", "twist", "tear", "injure", "hurt", "fracture", "dislocate", "pull"}
        and lemma in nouns.BODY
    ):
        return [Finding("injured", value)]
    if verb.lemma == "apply" and (goal := tree.preposition(place, "for", "to")) is not None:
        return [] if is_vague(reader.text(goal)) else [Finding("applied_for", reader.text(goal))]
    if (
        verb.lemma in {"sign", "register", "enrol", "enroll", "enter"}
        and (goal := _goal(reader, place, target)) is not None
    ):
        return [] if is_vague(reader.text(goal)) else [Finding("signed_up_for", reader.text(goal))]
    if verb.lemma == "graduate" and (school := tree.preposition(place, "from", "at")) is not None:
        return [] if is_vague(reader.text(school)) else [Finding("graduated_from", reader.text(school))]
    if (
        verb.lemma
        in {
            "win",
            "run",
            "complete",
            "pass",
            "finish",
            "publish",
            "launch",
            "climb",
            "release",
            "found",
            "start",
            "open",
            "get",
        }
        and lemma in nouns.ACHIEVEMENTS
    ):
        return [Finding("achieved", value)]
    if verb.lemma == "promote":
        words = without_duration(reader.after(place)).split()
        until = next(
            (n for n, word in enumerate(words) if word in {"at", "on", "in", "last", "this", "after"}), len(words)
        )
        role = bare(" ".join(words[1:until])) if words[:1] == ["to"] else ""
        return [Finding("works_as", role)] if role and not is_vague(role) else [Finding("event", "promoted")]
    if verb.lemma in {"have", "get", "undergo", "survive"} and lemma in nouns.HAPPENINGS:
        return [Finding("event", value)]
    if verb.lemma == "bear":
        return _born(reader, place)
    if verb.lemma in {"grow", "raise"} and target is None and (origin := _origin(reader, place)) is not None:
        return (
            []
            if is_vague(reader.text(origin))
            else [Finding("comes_from", reader.names(origin) or reader.text(origin))]
        )
    return _gone(reader, verb, target) or event(reader, verb)


def _origin(reader: Reader, place: int) -> int | None:
    """Where somebody grew up; no day, as in "the rent was raised on March 1"."""
    tree = reader.clause.tree
    found = tree.preposition(place, "in", "on", "near")
    return None if found is None or tree[found].entity[2:] in {"DATE", "TIME"} else found


def _goal(reader: Reader, place: int, target: int | None) -> int | None:
    if target is not None and reader.clause.tree.lemma(place) == "enter":
        return target
    found = reader.clause.tree.preposition(place, "for", "in", "on")
    is_time = found is not None and reader.clause.tree[found].entity[2:] in {"DATE", "TIME"}
    return target if found is None or is_time else found


def _born(reader: Reader, place: int) -> _Findings:
    tree = reader.clause.tree
    found = []
    for child in tree.children(place, "prep"):
        target = tree.child(child, "pobj")
        name = reader.names(target) if target is not None else ""
        if name and tree[target or 0].entity[2:] not in {"DATE", "TIME"}:
            found.append(Finding("born_in", name))
    date = reader.dated(past=True)
    if date is not None and not found:
        found.append(Finding("birthday", reader.after(place).removeprefix("on ").removeprefix("in ")))
    return found


def _gone(reader: Reader, verb: Verb, target: int | None) -> _Findings:
    tree = reader.clause.tree
    if verb.lemma not in {
        "visit",
        "go",
        "travel",
        "fly",
        "be",
        "drive",
        "attend",
        "see",
        "return",
        "come",
        "spend",
        "take",
    }:
        return []
    if verb.lemma in {"visit", "attend"}:
        goal = target
    elif verb.lemma in {"return", "come"}:
        goal = tree.preposition(verb.place, "from")
    elif verb.lemma == "see":
        goal = target if target is not None and tree.lemma(target) in nouns.EVENTS else None
    elif verb.lemma == "spend":
        goal = next(
            (tree.child(b, "pobj") for b in tree.subtree(verb.place) if tree[b].dep == "prep" and tree.word(b) == "in"),
            None,
        )
    else:
        goal = next(
            (
                tree.child(b, "pobj")
                for b in tree.subtree(verb.place)
                if tree[b].dep == "prep" and tree.word(b) == "to" and b > verb.place
            ),
            None,
        )
    if goal is None:
        return []
    value = reader.text(goal)
    name = reader.names(goal)
    if name and tree[goal].entity[2:] not in {"PERSON", "DATE"}:
        return [Finding("visited", value)]
    return [Finding("attended", value)] if tree.lemma(goal) in nouns.EVENTS and not is_vague(value) else []


def event(reader: Reader, verb: Verb) -> _Findings:
    """Whatever happened on a day that is named."""
    date = reader.dated(past=True)
    if date is None or not reader.clause.is_past or verb.lemma in nouns.STATIVE - {"have", "try"}:
        return []
    if verb.lemma == "have" and reader.clause.tree.child(verb.place, "dobj") is None:
        return []
    value = reader.body
    rest = tidy(f"{value[: date.begin]} {value[date.end :]}").split()
    unclear = {"it", "them", "that", "this", "there", "so", "him", "her"}
    if len(value.split()) < _EVENT_WORDS_MIN or is_vague_deed(value) or rest[-1:] == [] or rest[-1] in unclear:
        return []
    if any(word.casefold() in nouns.TECHNICAL for word in rest):
        return []
    return [Finding("event", value)]


def is_vague_deed(value: str) -> bool:
    """Whether what was done was done to "it" or "them"."""
    words = value.lower().split()
    return (
        len(words) > 1
        and words[1] in {"it", "them", "this", "that", "these", "those", "him", "her"}
        and (len(words) < 3 or not words[2].endswith("ing"))
    )
