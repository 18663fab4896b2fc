"""Who somebody is: home, work, people, limits. Each function reads one verb of a clause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.common.knowledge.slots import denied
from services.semantic.facts.extraction import nouns
from services.semantic.facts.extraction.reader import Finding, Reader, bare, is_vague, without_duration


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of a clause, with its tense: not always the clause's own."""

    place: int
    lemma: str
    is_past: bool = False  # over: "lived", "used to live"
    is_ahead: bool = False  # lies ahead: "will", "going to", "plan to"
    is_progressive: bool = False
    is_negated: bool = False


_Findings = list[Finding]

_NO_PLACES: Final = frozenset({"ORG", "PERSON", "DATE", "TIME"})
_FOR_GOOD: Final = frozenset({"good", "permanently", "forever"})
_LASTING: Final = frozenset({"for", "until", "till", "during", "while", "over"})


def home(reader: Reader, verb: Verb) -> _Findings:
    """Where somebody lives, lived, moves."""
    tree = reader.clause.tree
    if verb.lemma in {"move", "relocate"}:
        return _move(reader, verb)
    if verb.lemma == "stay":
        return _stay(reader, verb)
    target = tree.preposition(verb.place, "in", "near", "at", "on", "with", "outside", "around", "between")
    if target is None:
        return []
    name = reader.names(target)
    if name and _is_technical(name):
        return []
    if name and tree.word(tree[target].head) != "with":
        predicate = "lived_in" if verb.is_past else "moving_to" if verb.is_ahead else "lives_in"
        return [Finding(denied(predicate) if verb.is_negated else predicate, name)]
    value = without_duration(reader.text(target))
    if (
        verb.is_past
        or verb.is_ahead
        or verb.is_negated
        or is_vague(value)
        or tree.child(target, "det", "poss", "nummod") is None
    ):
        return []
    return [Finding("home_is", value)]


def _stay(reader: Reader, verb: Verb) -> _Findings:
    """Who stays in a place lives there; who is staying in one, or stays for a time, is on a visit as often as at home.

    Who stays with somebody or at a firm says nothing of a home.
    """
    tree = reader.clause.tree
    target = tree.preposition(verb.place, "in")
    name = reader.names(target)
    if not name or _is_technical(name) or (target is not None and tree[target].entity[2:] in _NO_PLACES):
        return []
    is_beside = tree.preposition(verb.place, "with", "at") is not None
    if not reader.has(*_FOR_GOOD) and (verb.is_progressive or is_beside or _is_for_a_time(reader, verb.place, target)):
        return [Finding("visited", name)] if verb.is_past and not (verb.is_negated or verb.is_progressive) else []
    predicate = "lived_in" if verb.is_past else "moving_to" if verb.is_ahead else "lives_in"
    return [Finding(denied(predicate) if verb.is_negated else predicate, name)]


def _is_for_a_time(reader: Reader, place: int, target: int | None) -> bool:
    """Whether a clause says how long or when, other than since when."""
    tree = reader.clause.tree
    for child in tree.children(place, "prep", "npadvmod", "advcl"):
        marks = {tree.word(child), *(tree.word(mark) for mark in tree.children(child, "mark"))}
        times = [p for p in tree.subtree(child) if p != target]
        is_timed = any(tree[p].entity[2:] in {"DATE", "TIME"} for p in times)
        if marks & _LASTING or (is_timed and "since" not in marks):
            return True
    return reader.has("tonight", "overnight", "temporarily", "briefly") or bool(reader.clause.lead)


def _move(reader: Reader, verb: Verb) -> _Findings:
    tree = reader.clause.tree
    goal, origin = deep(reader, verb.place, "to"), deep(reader, verb.place, "from")
    name = reader.names(goal)
    is_no_place = goal is not None and tree[goal].entity[2:] in {"DATE", "TIME"}
    passive = tree.child(verb.place, "auxpass") is not None
    if verb.is_negated or passive or is_no_place or not name or _is_technical(name):
        return []
    arrived = reader.clause.is_past or reader.clause.is_perfect or tree[verb.place].tag in {"VBD", "VBN"}
    if verb.is_ahead or verb.is_progressive or not arrived:
        return [Finding("moving_to", name)]
    found = [Finding("lives_in", name)]
    before = reader.names(origin)
    if before:
        found.append(Finding("lived_in", before, f"{reader.who} used to live in {before}"))
    return found


def deep(reader: Reader, place: int, *words: str) -> int | None:
    """The object of a preposition of the verb, or of one on the way to it: "moved from Leeds to York"."""
    tree = reader.clause.tree
    for below in tree.subtree(place):
        if below in reader.kept and tree[below].dep == "prep" and tree.word(below) in words and below > place:
            return tree.child(below, "pobj")
    return None


def _is_technical(name: str) -> bool:
    return name.split(" ", maxsplit=1)[0].casefold() in nouns.TECHNICAL


def work(reader: Reader, verb: Verb) -> _Findings:
    """What somebody works as, at and on."""
    tree = reader.clause.tree
    place = verb.place
    company = company_at(reader, deep(reader, place, "at", "for", "by"))
    role = bare(
        without_duration(reader.text(deep(reader, place, "as"), without=frozenset({"at", "for", "in", "with", "on"})))
    )
    if _is_technical(company or "x") or is_vague(company or "x"):
        company = ""
    if verb.is_negated:
        return [Finding("left_job", company)] if company else []
    found = []
    if company:
        predicate = "worked_at" if verb.is_past else "starts_job" if verb.is_ahead else "works_at"
        found.append(Finding(predicate, company))
    if role and not is_vague(role):
        found.append(Finding("worked_as" if verb.is_past else "works_as", role))
    if found or verb.is_past or verb.is_ahead:
        return found
    sources = {"in": "works_in", "from": "works_from", "on": "working_on"}
    for word, predicate in sources.items():
        value = without_duration(reader.text(tree.preposition(place, word)))
        if (
            value
            and not is_vague(value)
            and not _is_technical(value)
            and not (word == "on" and value[:3] in {"the", "mon", "tue"})
        ):
            return [Finding(predicate, value)]
    return []


def company_at(reader: Reader, place: int | None) -> str:
    """An employer: a name, or "a hospital"."""
    if place is None:
        return ""
    tree = reader.clause.tree
    name = reader.names(place)
    if name:
        return name if tree[place].entity[2:] not in {"DATE", "TIME"} else ""
    if (
        tree.child(place, "det", "poss") is None
        or tree[place].pos != "NOUN"
        or tree.lemma(place) in {"living", "while", "moment", "year"}
    ):
        return ""
    return without_duration(reader.text(place, without=frozenset({"as", "since", "for", "in", "on", "with"})))


def join(reader: Reader, verb: Verb) -> _Findings:
    """A job, or a club, that somebody joins or starts."""
    tree = reader.clause.tree
    target = tree.child(verb.place, "dobj")
    at = company_at(reader, tree.preposition(verb.place, "at", "with"))
    if verb.lemma in {"start", "begin"}:
        if at and (target is None or tree.lemma(target) in {"job", "work", "position", "role"}):
            arrived = verb.is_past or reader.clause.is_perfect
            return [Finding("works_at" if arrived else "starts_job", at), *role_of(reader, verb.place)]
        if (
            (target is None or tree[target].entity or tree.word(target)[:1].isdigit())
            and not verb.is_past
            and reader.date is not None
            and reader.date.is_future
            and len(reader.body.split()) <= 8
        ):
            return [Finding("start_date", "")]
        return []
    name = company_at(reader, target)
    if not name or is_vague(name) or verb.is_negated:
        return []
    role = role_of(reader, verb.place)
    if role:
        return [Finding("works_at", name), *role]
    if verb.is_ahead or verb.is_progressive:
        return [Finding("starts_job" if reader.names(target) else "member_of", name)]
    return [Finding("member_of", reader.text(target))]


def role_of(reader: Reader, place: int) -> _Findings:
    """The role that "as" leads to."""
    role = bare(reader.text(deep(reader, place, "as"), without=frozenset({"at", "for", "in"})))
    return [Finding("works_as", role)] if role and not is_vague(role) else []


def leave(reader: Reader, verb: Verb) -> _Findings:
    """A job that somebody leaves or loses."""
    tree = reader.clause.tree
    if verb.is_negated or verb.is_ahead or verb.is_progressive:
        return []
    if verb.lemma in {"fire", "redundant"} or (verb.lemma == "lay" and reader.has("off")):
        return [Finding("left_job", company_at(reader, tree.preposition(verb.place, "from", "by", "at")) or "job")]
    if verb.lemma in {"resign", "retire"}:
        company = company_at(reader, tree.preposition(verb.place, "from"))
        if verb.lemma == "retire":
            return [Finding("works_as", "retired"), *([Finding("left_job", company)] if company else [])]
        return [Finding("left_job", company or "job")]
    target = tree.child(verb.place, "dobj")
    if target is None:
        is_whole = tree[verb.place].dep != "conj"
        return (
            [Finding("left_job", "job")]
            if verb.lemma == "quit" and is_whole and tree.child(verb.place, "xcomp") is None
            else []
        )
    if tree.lemma(target) in {"job", "position", "role", "notice"}:
        company = company_at(reader, deep(reader, verb.place, "at", "with"))
        role = bare(reader.text(deep(reader, target, "as")))
        return [Finding("left_job", company or role or "job")]
    if tree.lemma(target) in {"smoking", "drinking"}:
        return [
            Finding(
                "does_not_smoke" if tree.lemma(target) == "smoking" else "does_not_drink",
                "smoking" if tree.lemma(target) == "smoking" else "alcohol",
            )
        ]
    name = reader.names(target)
    is_company = name and tree[target].entity[2:] not in {"GPE", "LOC", "PERSON", "DATE", "TIME"}
    return (
        [Finding("left_job", name)]
        if is_company and verb.lemma in {"leave", "quit"} and not _is_technical(name)
        else []
    )
