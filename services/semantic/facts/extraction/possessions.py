"""What somebody has and does not take: people, pets, conditions, things. Each function reads one verb of a clause."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from services.common.knowledge.slots import denied
from services.semantic.facts.extraction import nouns
from services.semantic.facts.extraction.people import Verb, company_at, deep, role_of, work
from services.semantic.facts.extraction.reader import Finding, Reader, bare, is_vague, without_duration
from services.semantic.facts.extraction.subjects import is_kin

_Findings = list[Finding]

_SUM: Final = re.compile(
    r"(?:about |around |roughly )?"
    r"(?:[€$£] ?\d|\d[\d,.]{0,15}k?\b(?: (?:euros?|dollars?|pounds?|quid)\b|€| (?:a|an|per) (?:hour|month|year)\b))"
)
"""A sum of money, or what is paid for a time."""


def having(reader: Reader, verb: Verb) -> _Findings:
    """What follows "have", "got", "adopted"."""
    tree = reader.clause.tree
    place = tree.child(verb.place, "dobj")
    if place is None:
        return []
    lemma, noun = tree.lemma(place), tree.word(place)
    value = without_duration(reader.text(place)).removeprefix("any ")
    if lemma in {"couple", "lot", "pair", "number"}:
        below = tree.preposition(place, "of")
        lemma, noun = (tree.lemma(below), tree.word(below)) if below is not None else (lemma, noun)
    if is_vague(value):
        return []
    past = verb.is_past and verb.lemma == "have"
    if lemma in nouns.CHILDREN and tree.child(place, "poss") is None and not past:
        if verb.is_ahead or (verb.lemma != "have" and lemma not in {"baby", "twin", "son", "daughter"}):
            return []
        return (
            [Finding(denied("has_children") if verb.is_negated else "has_children", value)]
            if lemma != "baby" or not reader.clause.is_future
            else []
        )
    if lemma in nouns.PETS_NOUNS and verb.lemma in {"have", *nouns.GOT} and not verb.is_ahead:
        predicate = "used_to" if past else "has_pet"
        return [Finding(denied(predicate) if verb.is_negated else predicate, f"have {value}" if past else value)]
    if (
        verb.lemma == "have"
        and is_kin(lemma)
        and tree.child(place, "det", "nummod") is not None
        and not past
        and not verb.is_negated
    ):
        return [Finding(f"has_{lemma.replace('-', '_').replace(' ', '_')}", value)]
    if verb.lemma in {"have", "suffer"} and (allergy := _allergy(reader, verb, place)):
        return allergy
    if (
        lemma in {"phd", "master", "masters", "degree", "mba", "doctorate", "diploma"}
        and not verb.is_negated
        and not verb.is_ahead
        and not verb.is_progressive
    ):
        return [Finding("has_degree", bare(value))]
    if lemma == "budget" and not verb.is_negated:
        return [Finding("has_budget", value)]
    if lemma in {"job", "position", "role", "offer"} and not verb.is_negated:
        company = company_at(reader, deep(reader, verb.place, "at", "with", "from", "for"))
        found = (
            [Finding("starts_job" if verb.is_ahead else "works_at", company)]
            if company and not is_vague(company)
            else []
        )
        return [*found, *role_of(reader, verb.place)]
    return _owning(reader, verb, place, value)


def _allergy(reader: Reader, verb: Verb, place: int) -> _Findings:
    tree = reader.clause.tree
    lemma = tree.lemma(place)
    if lemma in {"allergy", "intolerance"}:
        kinds = [
            tree.word(c)
            for c in tree.children(place, "compound", "nmod", "amod")
            if tree.word(c) not in {"severe", "bad", "mild", "food", "serious", "slight"}
        ]
        value = " ".join(kinds) or reader.text(tree.preposition(place, "to"))
        predicate = "allergic_to" if lemma == "allergy" else "intolerant_to"
        return [Finding(denied(predicate) if verb.is_negated else predicate, value)] if value else []
    words = {tree.word(p) for p in tree.subtree(place)}
    if (
        lemma in nouns.CONDITIONS
        or tree.word(place) in nouns.CONDITIONS
        or "blood pressure" in " ".join(tree.word(p) for p in tree.subtree(place))
    ):
        if verb.is_past or (lemma in {"pressure", "condition"} and not words & {"blood", "heart", "skin", "medical"}):
            return []
        value = bare(without_duration(reader.text(place))).removeprefix("no ")
        return [Finding(denied("has_condition") if verb.is_negated else "has_condition", value)]
    return []


def _owning(reader: Reader, verb: Verb, place: int, value: str) -> _Findings:
    tree = reader.clause.tree
    lemma = tree.lemma(place)
    date = reader.dated(past=False)
    ahead = date is not None and date.is_future and not reader.clause.is_past
    if ahead and lemma in nouns.APPOINTMENTS and not verb.is_negated:
        return [Finding("has_appointment", value)]
    if verb.is_past and lemma in nouns.HAPPENINGS and not verb.is_negated:
        return [Finding("event", value)]
    owned = (
        lemma in nouns.OWNED
        and tree.child(place, "det", "nummod", "poss") is not None
        and tree[place].tag in {"NN", "NNS", "NNP"}
    )
    if (
        owned
        and verb.lemma in {"have", "own", "drive", "rent", "run"}
        and not verb.is_past
        and not verb.is_ahead
        and not ahead
    ):
        return [Finding(denied("owns") if verb.is_negated else "owns", value)]
    return []


def followed(reader: Reader, verb: Verb) -> _Findings:
    """The diet that "follow" or "keep" leads to: "I follow a vegan diet", "we keep kosher"."""
    if verb.is_past or verb.is_ahead:
        return []
    below = reader.clause.tree.children(verb.place, "dobj", "acomp", "oprd", "advmod", "xcomp", "attr")
    found = (diet_at(reader, place, is_negated=verb.is_negated) for place in below)
    return next((diets for diets in found if diets), [])


def diet_at(reader: Reader, place: int | None, *, is_negated: bool) -> _Findings:
    """The diet at a place: "vegan", "a vegan diet", "a gluten-free diet"."""
    if place is None:
        return []
    tree = reader.clause.tree
    words = [tree.word(p) for p in tree.subtree(place) if p in reader.kept]
    spoken = " ".join(words).replace(" - ", "-").split()
    if tree.lemma(place) != "diet" and spoken[-1:] and spoken[-1] not in nouns.DIETS:
        return []
    name = next((word for word in spoken if word in nouns.DIETS), "")
    value = nouns.DIET_SPELLINGS.get(name, name)
    return [Finding(denied("follows_diet") if is_negated else "follows_diet", value)] if value else []


def earned(reader: Reader, verb: Verb) -> _Findings:
    """What somebody earns."""
    value = reader.after(verb.place)
    is_plain = not (verb.is_past or verb.is_ahead or verb.is_negated)
    return [Finding("owns", value)] if is_plain and _SUM.match(value) else []


def diet(reader: Reader, verb: Verb) -> _Findings:
    """What somebody does not eat, drink or smoke, and the diet that "eat" names."""
    if verb.lemma == "eat" and (found := followed(reader, verb)):
        return found
    if not verb.is_negated or verb.is_past or verb.is_ahead:
        return []
    tree = reader.clause.tree
    target = tree.child(verb.place, "dobj")
    value = reader.text(target).removeprefix("any ").removesuffix(" anymore")
    if verb.lemma == "smoke":
        return [Finding("does_not_smoke", "smoking")]
    if verb.lemma == "drink" and (target is None or not value):
        return [Finding("does_not_drink", "alcohol")]
    return [] if is_vague(value) else [Finding(f"does_not_{verb.lemma}", value)]


def quitting(reader: Reader, inner: Verb) -> _Findings:
    """What somebody stopped: "stopped drinking coffee", "quit smoking"."""
    if inner.lemma in {"eat", "drink", "smoke"}:
        return diet(reader, replace(inner, is_negated=True, is_past=False, is_ahead=False))
    if inner.lemma in nouns.EMPLOYED:
        return work(reader, replace(inner, is_negated=True, is_past=False))
    return []
