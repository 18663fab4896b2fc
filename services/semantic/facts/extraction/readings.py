"""Reads a clause: which predicates it states, with which objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from services.semantic.facts.extraction import deeds, events, nouns, people, possessions, states
from services.semantic.facts.extraction.birthdays import date_of_birthday, day_of
from services.semantic.facts.extraction.clauses import Clause
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.people import Verb
from services.semantic.facts.extraction.reader import Finding, Reader, bare, is_vague

_Read = Callable[[Reader, Verb], list[Finding]]

_BY_VERB: Final[Mapping[str, tuple[_Read, ...]]] = {
    **dict.fromkeys(["live", "reside", "settle", "stay", "base"], (people.home,)),
    **dict.fromkeys(["move", "relocate"], (people.home, deeds.coming, events.event)),
    **dict.fromkeys(["work", "employ", "intern", "consult"], (people.work, deeds.habit, events.event)),
    **dict.fromkeys(["join", "start", "begin"], (people.join, events.done, deeds.coming)),
    **dict.fromkeys(
        ["quit", "leave", "lose", "resign", "retire", "fire", "lay"], (people.leave, deeds.coming, events.event)
    ),
    **dict.fromkeys(["be", "become", "turn", "feel"], (states.being, events.done)),
    **dict.fromkeys(
        ["have", "get", "adopt", "rescue", "foster", "own", "drive", "rent", "suffer", "accept", "hold", "land"],
        (possessions.having, deeds.coming, events.done),
    ),
    **dict.fromkeys(["eat", "drink", "smoke"], (possessions.diet, deeds.habit, events.event)),
    **dict.fromkeys(["follow", "keep"], (possessions.followed, deeds.doing, deeds.coming, events.done)),
    "earn": (possessions.earned, events.event),
    **dict.fromkeys(
        ["like", "love", "enjoy", "adore", "hate", "dislike", "detest", "loathe", "despise", "prefer"], (deeds.taste,)
    ),
    **dict.fromkeys(
        ["book", "arrange", "schedule", "organise", "organize", "plan"],
        (lambda r, v: deeds.plan(r, v, None), deeds.doing, events.event),
    ),
}
_BE: Final = frozenset(["'m", "'re", "'s", "am", "is", "are", "was", "were", "be"])
_OTHER: Final = (deeds.doing, deeds.coming, events.done)
_CONTROL: Final = word_set(
    """
    want like love dream hope plan intend decide try aim need promise vow wish expect due suppose
    """
)
_STARTING: Final = frozenset(["start", "begin", "keep", "continue", "get"])
_ENDING: Final = frozenset(["stop", "quit", "give", "cease"])


def read(reader: Reader) -> list[Finding]:
    """The predicates of a clause of a person; none where it states nothing worth keeping."""
    clause = reader.clause
    tree, place = clause.tree, clause.head
    verb = _verb_of(clause)
    if clause.is_bare and tree[place].pos in {"ADJ", "NOUN", "PROPN"}:
        return states.being(reader, replace(verb, lemma="be", is_past=False))
    if verb.lemma == "promote":
        return events.done(reader, verb)
    inner = next((c for c in tree.children(place, "xcomp") if tree[c].tag.startswith("VB")), None)
    chained = _chained(reader, verb, inner) if inner is not None else None
    if chained is not None:
        return chained
    auxiliaries = {tree.word(child) for child in tree.children(place, "aux")}
    if auxiliaries & {"can", "ca", "could"} and not clause.is_past:
        if clause.is_negated or tree.word(place - 1) == "only":
            return deeds.cannot(reader, verb)
        if verb.lemma not in {"speak", "play", "stand"}:
            return []
    if "must" in auxiliaries:
        return deeds.plan(reader, replace(verb, lemma="must"), place)
    if clause.is_future:
        return _to_come(reader, verb)
    return _special(reader, verb) or _by_verb(reader, verb)


def _verb_of(clause: Clause) -> Verb:
    tree, place = clause.tree, clause.head
    lemma = "be" if tree.word(place) in _BE else tree.lemma(place)
    if (
        lemma == "get"
        and clause.is_perfect
        and tree[place].tag in {"VBN", "VBD"}
        and tree.child(place, "dobj") is not None
    ):
        lemma = "have"  # "I've got a dog"
    return Verb(
        place,
        lemma,
        is_past=clause.is_past and not clause.is_perfect,
        is_ahead=clause.is_future,
        is_progressive=clause.is_progressive,
        is_negated=clause.is_negated,
    )


def _to_come(reader: Reader, verb: Verb) -> list[Finding]:
    found: list[Finding] = []
    if verb.lemma in {"move", "relocate"}:
        found = people.home(reader, verb)
    elif verb.lemma in {"join", "start"}:
        found = people.join(reader, verb)
    return found or _promised(reader, verb)


def _special(reader: Reader, verb: Verb) -> list[Finding]:
    """What is read in another way than by the verb alone."""
    clause = reader.clause
    tree, place = clause.tree, clause.head
    particles = {tree.word(c) for c in tree.children(place, "prt")}
    is_passive = tree.child(place, "auxpass") is not None
    if verb.lemma == "bear" or (verb.lemma == "raise" and is_passive):
        return events.done(reader, replace(verb, is_past=True))
    if verb.lemma == "base" and (is_passive or clause.is_bare):
        return people.home(reader, replace(verb, is_past=clause.is_past and is_passive))
    if marriage := _married(reader, verb):
        return marriage
    if verb.lemma == "get":
        return _got(reader, verb)
    if tree.word(place) in nouns.DIETS and not verb.is_past and tree.child(place, "aux", "auxpass") is not None:
        return possessions.diet_at(reader, place, is_negated=verb.is_negated)  # "I'm veggie", read as a participle
    if (verb.lemma, "off") == ("go", next(iter(particles), "")):
        value = reader.text(tree.child(place, "dobj"))
        return [] if is_vague(value) else [Finding("dislikes", value)]
    if verb.lemma == "give" and "up" in particles and not verb.is_negated:
        value = reader.text(tree.child(place, "dobj"))
        if value == "smoking":
            return [Finding("does_not_smoke", "smoking")]
        return [] if is_vague(value) else [Finding("avoids", value)]
    return []


def _by_verb(reader: Reader, verb: Verb) -> list[Finding]:
    if reader.body.endswith(" for a living") and not verb.is_negated and not verb.is_past:
        return [Finding("works_as", reader.after(verb.place - 1).removesuffix(" for a living"))]
    for one in _BY_VERB.get(verb.lemma, _OTHER):
        if found := one(reader, verb):
            return found
    return []


def _chained(reader: Reader, verb: Verb, inner: int) -> list[Finding] | None:
    """What a verb before another one says of it: "used to smoke", "want to learn", "stopped working at"."""
    tree, lemma = reader.clause.tree, tree_lemma(reader, inner)
    below = Verb(inner, lemma, is_negated=verb.is_negated, is_progressive=tree[inner].tag == "VBG")
    infinitive = any(tree.word(c) == "to" for c in tree.children(inner, "aux"))
    if verb.lemma == "use" and infinitive:
        return _used_to(reader, below)
    if verb.lemma in {"go", "gon"} and infinitive and verb.is_progressive:
        ahead = replace(below, is_ahead=True)
        found = (
            people.home(reader, ahead)
            if lemma in {"move", "live", "relocate"}
            else people.join(reader, ahead)
            if lemma in {"join"}
            else []
        )
        if lemma == "be":
            found = states.being(reader, ahead)
        return found or deeds.plan(reader, replace(verb, lemma="go", is_negated=verb.is_negated), inner)
    if verb.lemma in {"plan", "intend", "decide", "hope"} and lemma in {"move", "relocate"} and not verb.is_negated:
        return people.home(reader, replace(below, is_ahead=True)) or deeds.plan(reader, verb, inner)
    if verb.lemma in {"like", "love", "enjoy", "hate", "prefer", "dislike"}:
        would = any(tree.word(c) in {"would", "'d"} for c in tree.children(verb.place, "aux"))
        return deeds.plan(reader, verb, inner) if would else deeds.taste(reader, verb)
    if verb.lemma in {"have", "need"} and infinitive:
        return deeds.plan(reader, replace(verb, lemma="have"), inner)
    if verb.lemma in _CONTROL:
        return deeds.plan(reader, verb, inner)
    if verb.lemma in _ENDING:
        return [] if verb.is_negated or verb.is_ahead else possessions.quitting(reader, below)
    if verb.lemma in _STARTING and not verb.is_negated and not infinitive:
        if lemma in nouns.EMPLOYED:
            return people.work(reader, below)
        return deeds.doing(reader, below) or events.done(reader, verb) or events.event(reader, verb)
    if verb.lemma == "teach" and "self" in reader.body:
        return [Finding("learning", reader.after(inner))]
    return None


def tree_lemma(reader: Reader, place: int) -> str:
    """The lemma of a verb of the clause."""
    lemma = reader.clause.tree.lemma(place)
    return "be" if reader.clause.tree.word(place) == "be" else lemma


def _used_to(reader: Reader, inner: Verb) -> list[Finding]:
    tree = reader.clause.tree
    past = replace(inner, is_past=True)
    found: list[Finding] = []
    if inner.lemma == "live":
        found = people.home(reader, past)
    elif inner.lemma in nouns.EMPLOYED:
        found = people.work(reader, past)
    elif inner.lemma == "be":
        attribute = tree.child(inner.place, "attr")
        found = states.being(reader, past) if attribute is not None else []
    value = reader.after(inner.place - 1)
    return found or (
        [] if is_vague(value) or len(value) < 3 or reader.clause.is_negated else [Finding("used_to", value)]
    )


def _promised(reader: Reader, verb: Verb) -> list[Finding]:
    """A deed to come on a day that is named."""
    date = reader.dated(past=False)
    words = reader.after(verb.place - 1).split()
    unsaid = {
        "be",
        "need",
        "have",
        "try",
        "let",
        "see",
        "check",
        "ask",
        "assume",
        "say",
        "admit",
        "think",
        "post",
        "know",
        "tell",
    }
    if date is None or not date.is_future or verb.is_negated or verb.lemma in unsaid - {"be"} or len(words) < 2:
        return []
    inner = reader.undated(" ".join(words))
    is_state = (
        verb.lemma == "be"
        and not reader.clause.is_progressive
        and not any(w in words for w in ("away", "abroad", "at", "in"))
    )
    return [] if is_state or events.is_vague_deed(inner) else [Finding("plans_to", inner)]


def _married(reader: Reader, verb: Verb) -> list[Finding]:
    words = {reader.clause.tree.word(p) for p in reader.clause.places}
    if verb.is_negated or not words & {"married", "engaged", "divorced", "expecting", "baby", "separated", "split"}:
        return []
    get = verb.lemma in {"get", "marry", "divorce", "engage", "separate", "be"}
    ahead = reader.clause.is_progressive or reader.clause.is_future
    if get and "married" in words and ahead:
        return [Finding("getting_married", reader.after(verb.place) if verb.lemma == "get" else "married")]
    if get and verb.lemma != "be":
        status = next((w for w in ("married", "engaged", "divorced", "separated") if w in words), "")
        if status and not ahead:
            return [Finding("relationship_status", status)]
    if verb.lemma == "expect" and ahead and "baby" in words:
        return [Finding("expecting", reader.text(reader.clause.tree.child(verb.place, "dobj")))]
    return []


def _got(reader: Reader, verb: Verb) -> list[Finding]:
    tree = reader.clause.tree
    participle = next((tree.word(c) for c in tree.children(verb.place, "acomp", "xcomp", "ccomp", "oprd")), "")
    if participle == "promoted":
        role = reader.text(
            next(
                (
                    tree.child(b, "pobj")
                    for b in tree.subtree(verb.place)
                    if tree[b].dep == "prep" and tree.word(b) == "to"
                ),
                None,
            )
        )
        return [Finding("works_as", bare(role))] if role and not is_vague(role) else [Finding("event", "promoted")]
    if participle in {"fired", "laid"}:
        return [Finding("left_job", "job")]
    return []


# ------------------------------------------------------------------------------- things of the speaker

_LEADS: Final = re.compile(r"(?:on|in|at|next|this|tomorrow|today)\b", re.IGNORECASE)


def own_thing(reader: Reader) -> list[Finding]:
    """What "my ... is" states: a name, a birthday, a budget, a favourite."""
    clause = reader.clause
    tree, noun = clause.tree, clause.subject.relation
    if tree.lemma(clause.head) != "be" and tree.word(clause.head) not in {"'s", "is", "are", "was"}:
        return []
    if clause.is_negated or clause.is_past or reader.has("you", "your"):
        return []
    value = reader.after(clause.head)
    for word in ("favourite ", "favorite "):
        if noun.startswith(word) or f" {word}" in noun:
            what = noun.split(word)[-1]
            return _favourite(reader, what, value)
    predicate = nouns.PERSONAL.get(noun)
    if noun in nouns.PAY and not any(character.isdigit() for character in value):
        return []
    if (
        predicate
        and not is_vague(value)
        and not value.lower().startswith(("so ", "very ", "too ", "to be ", "going ", "getting ", "boring"))
    ):
        verb = "are" if clause.subject.is_plural else "is"
        return [Finding(predicate, value, f"{reader.who}'s {noun} {verb} {value}")]
    if noun == "date" and reader.clause.tree.word(clause.subject.place + 2) == "birth":
        return [Finding("birthday", value, f"{reader.who} was born on {value}")]
    date = reader.dated(past=False)
    last = noun.split()[-1]
    if date is None or last not in nouns.DATED:
        return []
    text = f"{reader.who}'s {noun} is {'' if _LEADS.match(value) else 'on '}{value}"
    if last == "birthday":
        return [Finding("birthday", day_of(date), f"{text} ({day_of(date)})")]
    return [Finding("event_on", f"{noun} {date.iso}", text)]


def birthday_of(reader: Reader) -> list[Finding]:
    """What "Tom's birthday is on April 4" states, of a reader whose `who` is the person."""
    date = date_of_birthday(reader)
    if date is None:
        return []
    value = reader.after(reader.clause.head)
    text = f"{reader.who}'s birthday is {'' if _LEADS.match(value) else 'on '}{value}"
    return [Finding("birthday", day_of(date), f"{text} ({day_of(date)})")]


def favourite_of(reader: Reader) -> list[Finding]:
    """What "green is my favourite colour" states."""
    clause = reader.clause
    tree = clause.tree
    place = tree.child(clause.head, "attr")
    if place is None or clause.is_negated or clause.is_past or clause.subject.place < 0:
        return []
    words = [tree.word(c) for c in tree.children(place)]
    if not {"my", "our"} & set(words) or not {"favourite", "favorite"} & set(words):
        return []
    value = " ".join(tree[p].text for p in tree.subtree(clause.subject.place))
    kinds = [tree.word(c) for c in tree.children(place, "compound")] + [tree.word(place)]
    return _favourite(reader, " ".join(kinds), value)


def _favourite(reader: Reader, what: str, value: str) -> list[Finding]:
    if (
        is_vague(value)
        or what in {"part", "thing", "bit", "one", "ones", ""}
        or value.lower().startswith(("when ", "to ", "the one", "probably the", "how ", "not "))
    ):
        return []
    verb = "are" if what.endswith("s") and not what.endswith("ss") else "is"
    key = re.sub(r"[^a-z0-9]+", "_", what)
    return [Finding(f"favourite_{key}", value, f"{reader.who}'s favourite {what} {verb} {value}")]
