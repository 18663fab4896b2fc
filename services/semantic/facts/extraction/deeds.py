"""What somebody likes, plans, does and did. Each function reads one verb of a clause."""

from __future__ import annotations

from typing import Final

from services.common.knowledge.slots import denied
from services.semantic.facts.extraction import nouns
from services.semantic.facts.extraction.events import is_vague_deed
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.people import Verb
from services.semantic.facts.extraction.reader import Finding, Reader, is_vague, without_duration
from services.semantic.facts.extraction.words import FREQUENCY

_Findings = list[Finding]

_TASTES: Final = {
    **dict.fromkeys(["like", "love", "enjoy", "adore"], "likes"),
    **dict.fromkeys(["hate", "dislike", "detest", "loathe", "despise"], "dislikes"),
}


def taste(reader: Reader, verb: Verb) -> _Findings:
    """What somebody likes and dislikes."""
    if verb.is_ahead or reader.has("you", "your"):
        return []
    tree = reader.clause.tree
    if verb.lemma == "prefer":
        value = reader.after(verb.place)
        return (
            []
            if is_vague(value) or verb.is_negated or value.startswith(("not ", "if "))
            else [Finding("prefers", value)]
        )
    predicate = _TASTES[verb.lemma]
    if verb.is_negated:
        predicate = "dislikes" if predicate == "likes" else "likes"
        if verb.lemma not in {"like", "love", "enjoy"}:
            return []
    place = next(tree.children(verb.place, "dobj", "xcomp", "ccomp", "attr"), None)
    if place is None or tree.child(place, "nsubj") is not None:
        return []
    value = reader.text(place)
    if verb.is_past and not (reader.clause.is_perfect or reader.has("always", "never")):
        return []
    if not _is_taste(reader, place, value):
        return []
    return [Finding(predicate, without_duration(value))]


def _is_taste(reader: Reader, place: int, value: str) -> bool:
    tree = reader.clause.tree
    if is_vague(value) or value.lower().startswith(
        ("to think", "to say", "to know", "to see", "being here", "being able", "how ")
    ):
        return False
    if not value.lower().startswith("the "):
        return True
    return tree.lemma(place) in nouns.GENERAL or tree[place].tag in {"NNP", "NNPS"}


def cannot(reader: Reader, verb: Verb) -> _Findings:
    """What somebody cannot stand, do, or pay."""
    tree = reader.clause.tree
    if verb.lemma in {"stand", "bear", "abide"}:
        value = reader.text(next(tree.children(verb.place, "dobj", "xcomp"), None))
        return [] if is_vague(value) or reader.has("you") else [Finding("dislikes", value)]
    if verb.lemma in {"spend", "afford", "pay"} and any(tree[p].tag in {"CD", "$"} for p in reader.clause.places):
        return [Finding("has_budget", reader.after(verb.place))]
    if verb.lemma in {"live", "do", "start"} and any(tree.word(p) == "without" for p in reader.clause.places):
        value = reader.text(tree.preposition(verb.place, "without"))
        return [] if is_vague(value) or reader.has("you") else [Finding("likes", value)]
    value = reader.after(verb.place - 1)
    if verb.lemma in {
        "drive",
        "swim",
        "cook",
        "ride",
        "fly",
        "climb",
        "lift",
        "hear",
        "read",
        "work",
        "eat",
        "drink",
        "walk",
        "run",
    } and not is_vague(value):
        target = tree.child(verb.place, "dobj")
        if verb.lemma in {"eat", "drink"}:
            food = reader.text(target)
            return [] if is_vague(food) else [Finding(f"does_not_{verb.lemma}", food)]
        return [] if target is not None and is_vague(reader.text(target)) else [Finding("cannot", value)]
    return []


def plan(reader: Reader, verb: Verb, inner: int | None) -> _Findings:
    """What somebody wants, plans and promises to do; `inner` is the verb of what is planned."""
    tree = reader.clause.tree
    if verb.is_negated:
        return []
    if inner is None:
        place = tree.child(verb.place, "dobj") or tree.preposition(verb.place, "on", "for", "to")
        value = reader.text(place)
        if (
            verb.lemma in {"plan", "book", "arrange", "schedule", "organise", "organize"}
            and place is not None
            and not is_vague(value)
        ):
            date = reader.dated(past=False)
            if verb.lemma == "plan" or date is None or date.is_future:
                return [Finding("plans_to", reader.undated(reader.after(verb.place)))]
        return []
    value = reader.undated(reader.after(inner - 1))
    if (
        is_vague(value)
        or is_vague_deed(value)
        or tree.lemma(inner) in {"say", "know", "hear", "see", "think", "admit", "be able"} - nouns.PLANNED
    ):
        return []
    lemma = tree.lemma(inner)
    date = reader.dated(past=False)
    ahead = date is not None and date.is_future
    if verb.lemma in {"want", "like", "love", "dream", "hope", "wish"}:
        wanted = (
            lemma in nouns.PLANNED
            and len(value.split()) > 1
            and not (value.startswith(("see ", "do ", "be ", "have a ")) and not value.startswith(("be a ", "be an ")))
        )
        return [Finding("wants_to", value)] if wanted or ahead else []
    if verb.lemma in {"try", "aim", "work"}:
        aims = {
            "lose",
            "gain",
            "save",
            "quit",
            "give",
            "stop",
            "eat",
            "get",
            "improve",
            "run",
            "exercise",
            "sleep",
            "drink",
            "read",
            "build",
            "learn",
            "become",
            "find",
        }
        return [Finding("goal", value)] if lemma in aims and len(value.split()) > 1 else []
    if verb.lemma in {"need", "must", "have", "suppose"}:
        return [Finding("must", value)] if ahead else []
    if verb.lemma in {"promise", "vow"}:
        return [Finding("promised", value)]
    if verb.lemma in {"go", "will"}:
        known = lemma in nouns.PLANNED - {"see", "do", "have", "be", "try", "make", "get", "stop", "give", "take", "go"}
        return (
            [Finding("plans_to", value)]
            if (ahead and len(value.split()) > 1) or (known and len(value.split()) > 1 and verb.lemma == "go")
            else []
        )
    return [Finding("plans_to", value)] if len(value.split()) > 1 else []


def coming(reader: Reader, verb: Verb) -> _Findings:
    """What is said to happen on a day to come: "I'm flying to Rome tomorrow"."""
    date = reader.dated(past=False)
    if (
        date is None
        or not date.is_future
        or reader.clause.is_past
        or reader.clause.is_perfect
        or verb.is_negated
        or verb.lemma not in nouns.MOVING
    ):
        return []
    value = reader.after(verb.place - 1)
    return [] if is_vague(value) or is_vague_deed(value) or len(value.split()) < 2 else [Finding("plans_to", value)]


def doing(reader: Reader, verb: Verb) -> _Findings:
    """What somebody does these days: learns, plays, builds, visits regularly."""
    tree = reader.clause.tree
    target = tree.child(verb.place, "dobj")
    value = without_duration(reader.text(target))
    lemma = verb.lemma
    if verb.is_past or verb.is_ahead:
        return []
    finding: tuple[str, str] | None = None
    if lemma == "speak" and target is not None and tree[target].text[:1].isupper():
        finding = ("speaks", value)
    elif lemma == "teach" and target is not None:
        finding = ("teaches", reader.after(verb.place))
    elif lemma in {"study", "major"}:
        return _studying(reader, verb)
    elif lemma in {"learn", "practise", "practice"} and (
        target is not None or tree.child(verb.place, "xcomp") is not None
    ):
        finding = ("learning", reader.after(verb.place))
    elif lemma == "play" and target is not None and _is_played(reader, target):
        finding = ("plays", value)
    elif lemma in {"carry", "take"} and target is not None and _is_medication(reader, target):
        finding = ("carries_medication", value)
    elif lemma == "avoid":
        finding = ("avoids", value)
    elif lemma in {"volunteer", "train", "prepare"}:
        words = ("for",) if lemma != "volunteer" else ("at", "for", "with", "in")
        place = tree.preposition(verb.place, *words)
        name = "volunteers_at" if lemma == "volunteer" else "trains_for"
        finding = (name, without_duration(reader.text(place))) if place is not None else None
    elif lemma in {
        "build",
        "develop",
        "write",
        "lead",
        "run",
        "renovate",
        "restore",
        "design",
        "launch",
        "organise",
        "organize",
        "create",
        "make",
        "set",
    }:
        if (
            verb.is_progressive
            and target is not None
            and tree.child(target, "det", "poss") is not None
            and tree.word(target) not in _TASKS
        ):
            finding = ("working_on", value)
    elif lemma == "use" and "pronouns" in reader.body:
        finding = ("has_pronouns", value.removesuffix(" pronouns"))
    elif lemma in {"go", "know"} and tree.preposition(verb.place, "by", "as") is not None:
        name = reader.names(tree.preposition(verb.place, "by", "as"))
        finding = ("preferred_name", name) if name else None
    if finding is not None:
        predicate, found = finding
        return [] if is_vague(found) else [Finding(denied(predicate) if verb.is_negated else predicate, found)]
    return habit(reader, verb)


_TASKS: Final = word_set(
    """
    function script query regex loop test method class bug error mistake list joke time lunch dinner tea cake
    code
    """
)


def _is_played(reader: Reader, target: int) -> bool:
    """An instrument or a sport: a known one, or any other with "the"."""
    tree = reader.clause.tree
    has_article = any(tree.word(child) == "the" for child in tree.children(target, "det"))
    other = {"game", "role", "part", "music", "song", "lottery", "fool", "card", "video", "market", "piece"}
    return tree.lemma(target) in nouns.INSTRUMENTS or (has_article and tree.lemma(target) not in other)


def _is_medication(reader: Reader, target: int) -> bool:
    words = {reader.clause.tree.lemma(p) for p in reader.clause.tree.subtree(target)}
    return bool(
        words
        & {
            "inhaler",
            "epipen",
            "insulin",
            "medication",
            "medicine",
            "antihistamine",
            "pill",
            "tablet",
            "antidepressant",
            "statin",
            "antibiotic",
            "thinner",
            "metformin",
            "ibuprofen",
        }
    )


def _studying(reader: Reader, verb: Verb) -> _Findings:
    tree = reader.clause.tree
    found = []
    subject = reader.text(
        tree.child(verb.place, "dobj") or tree.preposition(verb.place, "in"), without=frozenset({"at", "for", "in"})
    )
    school = ""
    for below in tree.subtree(verb.place):
        if tree[below].dep == "prep" and tree.word(below) == "at":
            school = reader.names(tree.child(below, "pobj"))
    if subject and not is_vague(subject) and not verb.is_negated:
        found.append(Finding("studies", subject))
    elif school and not verb.is_negated:
        found.append(Finding("studies_at", school))
    return found


def habit(reader: Reader, verb: Verb) -> _Findings:
    """What somebody does regularly."""
    tree, clause = reader.clause.tree, reader.clause
    if (
        verb.lemma not in nouns.HABITS
        or verb.is_negated
        or verb.is_progressive
        or clause.is_perfect
        or clause.is_future
    ):
        return []
    words = [tree.word(p) for p in (*clause.lead, *clause.places)]
    often = bool(FREQUENCY & set(words)) or any(w.endswith("days") and w != "days" for w in words)
    if not often:
        return []
    value = reader.body.split(" ", 1)
    finding = " ".join([tree.lemma(verb.place), *value[1:]]) if value else ""
    return [] if is_vague(reader.after(verb.place)) else [Finding("habit", finding)]
