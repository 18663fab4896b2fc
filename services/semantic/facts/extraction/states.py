"""What somebody is: age, origin, diet, status, occupation. Each function reads one verb of a clause."""

from __future__ import annotations

from typing import Final

from services.common.knowledge.slots import denied
from services.semantic.facts.extraction import nouns
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.people import Verb, company_at, deep
from services.semantic.facts.extraction.possessions import diet_at
from services.semantic.facts.extraction.reader import Finding, Reader, bare, is_vague, without_duration
from services.semantic.facts.extraction.subjects import is_kin

_Findings = list[Finding]

_CREEDS: Final = word_set("hindu muslim christian catholic jewish buddhist sikh protestant republican democrat")
_STATES: Final = {
    **dict.fromkeys(nouns.DIETS, "follows_diet"),
    **dict.fromkeys(nouns.STATUSES, "relationship_status"),
    **dict.fromkeys(nouns.CONDITION_ADJECTIVES, "has_condition"),
    "pregnant": "expecting",
}
_APPROXIMATE: Final = word_set("about around roughly approximately like practically easily least nearly almost")
"""Before the speaker's age: who knows it does not guess it, so "I'm about 95 years old" is a figure of speech."""
_OWN_AGE_MAX: Final = 110
"""Who says to be older speaks in jest: "slept in a field, I am now 112 years old"."""
_FELT: Final = word_set("after feel felt feeling")
_JOINED: Final = word_set("and but so ;")


def being(reader: Reader, verb: Verb) -> _Findings:
    """What follows "is", "became", "got"."""
    found = _being_adjective(reader, verb)
    if found is not None:
        return found
    tree = reader.clause.tree
    origin = tree.preposition(verb.place, "from")
    if origin is not None and reader.names(origin) and not verb.is_past and not verb.is_negated:
        return [Finding("comes_from", reader.names(origin))]
    eaten = tree.preposition(verb.place, "on")
    if eaten is not None and not verb.is_past and (diets := diet_at(reader, eaten, is_negated=verb.is_negated)):
        return diets
    into = tree.preposition(verb.place, "into")
    if into is not None and not verb.is_past and not is_vague(reader.text(into)):
        return [Finding("dislikes" if verb.is_negated else "likes", reader.text(into))]
    attribute = tree.child(verb.place, "attr", "oprd", "dobj")
    return _being_noun(reader, verb, attribute) if attribute is not None else []


def _being_adjective(reader: Reader, verb: Verb) -> _Findings | None:
    tree, clause = reader.clause.tree, reader.clause
    place = tree.child(verb.place, "acomp", "oprd")
    if clause.is_bare and tree[verb.place].pos in {"ADJ", "NOUN"}:
        place = verb.place
    if place is None:
        number = tree.child(verb.place, "attr", "dobj", "npadvmod")
        if number is not None and tree[number].tag == "CD":
            place = number
        else:
            return None
    word = tree.word(place)
    if word in {"years", "old"} or tree[place].tag == "CD":
        return _age(reader, verb, place)
    if verb.is_past:
        return [Finding("used_to", f"be {reader.text(place)}")] if word in nouns.DIETS | nouns.STATUSES else []
    if word in {"allergic", "intolerant"}:
        value = reader.text(tree.preposition(place, "to", "of") or tree.preposition(verb.place, "to"))
        predicate = "allergic_to" if word == "allergic" else "intolerant_to"
        if value and not is_vague(value):
            return [Finding(denied(predicate) if verb.is_negated else predicate, without_duration(value))]
        return []
    if word == "free" and (diets := diet_at(reader, place, is_negated=verb.is_negated)):
        return diets
    if word in _STATES:
        predicate, word = _STATES[word], nouns.DIET_SPELLINGS.get(word, word)
        return [Finding(denied(predicate) if verb.is_negated else predicate, word)]
    if word == "retired":
        return [] if verb.is_negated else [Finding("works_as", "retired")]
    if word in {"free", "available", "busy"} and (
        tree.child(place, "prep", "npadvmod") or tree.child(verb.place, "prep")
    ):
        value = reader.after(clause.head)
        value = value if value.startswith(word) else f"{word} {reader.after(place)}"
        return [Finding("availability", f"not {value}" if verb.is_negated else value)]
    if tree[place].entity[2:] == "NORP" and word not in _CREEDS and not verb.is_negated:
        return [Finding("nationality", tree[place].text)]
    if word in {
        "keen",
        "fond",
        "obsessed",
        "crazy",
        "mad",
        "passionate",
        "hooked",
        "tired",
        "sick",
        "fed",
        "interested",
    }:
        value = reader.text(tree.preposition(place, "on", "of", "with", "about", "in"))
        against = word in {"tired", "sick", "fed"} or verb.is_negated
        return [] if is_vague(value) or reader.has("you") else [Finding("dislikes" if against else "likes", value)]
    return None if word in {"based"} else []


def _age(reader: Reader, verb: Verb, place: int) -> _Findings:
    tree = reader.clause.tree
    numbers = [p for p in tree.subtree(place) if tree[p].tag == "CD"]
    if (
        verb.is_negated
        or len(numbers) != 1
        or not tree.word(numbers[0]).isdigit()
        or not 0 < int(tree.word(numbers[0])) < 120
    ):
        return []
    if reader.clause.subject.kind == "speaker" and (
        int(tree.word(numbers[0])) > _OWN_AGE_MAX or _is_felt([tree.word(p) for p in range(numbers[0])])
    ):
        return []
    rest = [p for p in reader.clause.places if p > numbers[0] and tree[p].pos not in {"PUNCT", "SPACE"}]
    words = [tree.word(p) for p in rest]
    if words and words[0] not in {
        "years",
        "year",
        "now",
        "in",
        "on",
        "next",
        "this",
        "last",
        "yesterday",
        "today",
        "-",
    }:
        return []
    if verb.lemma == "turn" and (verb.is_progressive or verb.is_ahead):
        return [Finding("event_on", tree.word(numbers[0]))]
    if (
        words[:1] == ["in"]
        or (verb.is_past and verb.lemma == "be")
        or (words[:1] in (["years"], ["year"]) and not {"old", "of"} & set(words))
    ):
        return []
    return [Finding("age", tree.word(numbers[0]))]


def _is_felt(before: list[str]) -> bool:
    """Whether the words before an age of the speaker show that it is none: "after that hill I'm 95", "I feel 95"."""
    begin = max((place + 1 for place, word in enumerate(before) if word in _JOINED), default=0)
    return bool(_APPROXIMATE & set(before[-2:])) or not _FELT.isdisjoint(before[begin:])


def _being_noun(reader: Reader, verb: Verb, place: int) -> _Findings:
    tree = reader.clause.tree
    lemma, word = tree.lemma(place), tree.word(place)
    if (
        tree[place].entity[2:] == "NORP"
        and not verb.is_negated
        and tree[place].tag in {"NNP", "JJ"}
        and tree.child(place, "det") is None
    ):
        return [Finding("nationality", tree[place].text)]
    if lemma in {
        "fan",
        "lover",
        "person",
        "enthusiast",
        "fanatic",
        "nerd",
        "geek",
        "buff",
        "drinker",
        "eater",
        "addict",
    }:
        return _fan(reader, verb, place)
    if lemma in nouns.DIETS | nouns.DIET_SPELLINGS.keys():
        value = nouns.DIET_SPELLINGS.get(lemma, lemma)
        return [Finding(denied("follows_diet") if verb.is_negated else "follows_diet", value)]
    if lemma == "member":
        value = reader.text(tree.preposition(place, "of"))
        return [] if is_vague(value) else [Finding(denied("member_of") if verb.is_negated else "member_of", value)]
    if lemma == "student":
        school = reader.names(deep(reader, verb.place, "at"))
        return [Finding("studies_at", school)] if school and not verb.is_past else []
    if is_kin(lemma) and verb.lemma != "be":
        return []
    if lemma in nouns.JOBS or lemma.endswith(("ologist", "ician", "grapher")):
        if verb.is_negated or tree.child(place, "poss") is not None or tree[place].tag == "NNS":
            return []
        role = bare(reader.text(place, without=frozenset({"at", "for", "in", "with", "by", "on", "from"})))
        role = role.removeprefix("new ")
        found = [Finding("worked_as" if verb.is_past and verb.lemma == "be" else "works_as", role)]
        company = company_at(reader, deep(reader, verb.place, "at", "for", "with"))
        if company and not is_vague(company) and not verb.is_past:
            found.append(Finding("works_at", company))
        return found
    if word in {
        "aunt",
        "uncle",
        "father",
        "mother",
        "dad",
        "mum",
        "mom",
        "parent",
        "grandmother",
        "grandfather",
        "grandma",
        "grandpa",
        "godmother",
        "godfather",
    }:
        return [Finding("plans_to", f"be {reader.text(place)}")] if verb.is_ahead else []
    return []


def _fan(reader: Reader, verb: Verb, place: int) -> _Findings:
    tree = reader.clause.tree
    value = reader.text(tree.preposition(place, "of", "for"))
    if not value:
        kinds = [
            c
            for c in tree.children(place, "compound", "nmod", "amod")
            if tree.word(c)
            not in {
                "big",
                "huge",
                "massive",
                "real",
                "total",
                "such",
                "good",
                "bad",
                "nice",
                "great",
                "happy",
                "night",
                "kind",
                "different",
                "busy",
                "people",
                "lifelong",
                "old",
                "new",
                "only",
                "first",
                "best",
                "young",
                "wonderful",
                "amazing",
                "strong",
            }
        ]
        value = " ".join(tree.word(c) if tree[c].tag != "NNP" else tree[c].text for c in kinds)
        if tree.lemma(place) == "person" and value in {"morning", "night", "evening", "dog", "cat", "city", "people"}:
            value = value if value == "city" else value + "s"
    if not value or is_vague(value):
        return []
    return [Finding("dislikes" if verb.is_negated else "likes", value)]
