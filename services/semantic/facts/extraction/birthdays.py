"""Birthdays of somebody else than the speaker: "Tom's birthday is on April 4", "my sister's birthday is in June"."""

from __future__ import annotations

from dataclasses import replace

from services.semantic.facts.extraction.clauses import Clause
from services.semantic.facts.extraction.dates import ResolvedDate
from services.semantic.facts.extraction.reader import Reader
from services.semantic.facts.extraction.subjects import Subject, full_name, subject_at
from services.semantic.facts.extraction.tree import Tree

_PERSONS = frozenset({"relative", "other"})


def whose_birthday(clause: Clause, known: Subject | None) -> Subject | None:
    """Whose birthday a clause is about, where it is about one.

    Args:
        clause: A clause about anything.
        known: The one other person that the turn named before: "his birthday" is theirs.
    """
    tree = clause.tree
    own = tree.child(clause.head, "nsubj")
    if own is None:
        return None
    if tree.word(own) == "birthday":
        return _owner(tree, own, known)
    # "My friend Tom's birthday" is parsed as the friend, that is, a birthday of Tom.
    beside = next((place for place in tree.children(own, "appos") if tree.word(place) == "birthday"), None)
    name = None if beside is None else tree.child(beside, "poss")
    return (
        None
        if name is None or clause.subject.kind != "relative"
        else replace(clause.subject, name=full_name(tree, name))
    )


def _owner(tree: Tree, place: int, known: Subject | None) -> Subject | None:
    owner = tree.child(place, "poss")
    if owner is None:
        return None
    if tree.word(owner) in {"his", "her"}:
        return known
    found = subject_at(tree, owner, known)
    return found if found.kind in _PERSONS and not found.is_plural else None


def day_of(date: ResolvedDate) -> str:
    """A birthday as an object: without its year, unless the speaker gives it."""
    return date.iso if date.is_explicit or len(date.iso) < 7 else date.iso[5:]


def date_of_birthday(reader: Reader) -> ResolvedDate | None:
    """When a birthday is, where a clause states it."""
    clause = reader.clause
    if clause.is_negated or clause.is_past or reader.has("you", "your") or not _is_copula(clause):
        return None
    return reader.dated(past=False)


def _is_copula(clause: Clause) -> bool:
    return clause.tree.lemma(clause.head) == "be" or clause.tree.word(clause.head) in {"'s", "is"}
