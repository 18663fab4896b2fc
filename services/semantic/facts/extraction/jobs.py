"""A job that one clause tells of with its place: two facts, each with the part of the clause that is about it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from services.semantic.facts.extraction.people import company_at
from services.semantic.facts.extraction.reader import Finding, Reader, tidy
from services.semantic.facts.extraction.rendering import render

_ROLES: Final = frozenset({"works_as", "worked_as"})
_EMPLOYERS: Final = frozenset({"works_at", "worked_at", "starts_job"})
_BEFORE_EMPLOYERS: Final = frozenset({"at", "for", "by", "with", "from"})


def parted(reader: Reader, findings: Sequence[Finding]) -> list[Finding]:
    """The findings of a clause; a job and its employer without each other, so that no two facts say the same.

    Of "I'm a nurse at Nova" they are "is a nurse" and "works at Nova". Other findings are returned as they are.
    """
    role = next((one for one in findings if one.predicate in _ROLES), None)
    employer = next((one for one in findings if one.predicate in _EMPLOYERS), None)
    if role is None or employer is None or role.text or employer.text:
        return list(findings)
    bodies = _bodies(reader, employer.object)
    if bodies is None:
        return list(findings)
    of_role, of_employer = bodies
    return [
        replace(one, body=of_role) if one is role else replace(one, body=of_employer) if one is employer else one
        for one in findings
    ]


def _bodies(reader: Reader, company: str) -> tuple[str, str] | None:
    """What the clause says of the job, and what of the employer; None where they cannot be told apart."""
    tree, clause = reader.clause.tree, reader.clause
    at = next((p for p in clause.places if _leads_to(reader, p, company)), None)
    as_ = next((p for p in clause.places if tree.word(p) == "as" and tree.child(p, "pobj") is not None), None)
    attribute = tree.child(clause.head, "attr")
    if as_ is not None:
        of_role = set(tree.subtree(as_, lambda place: place == at or _is_dated(reader, place)))
        if at is None:  # "joined Nova as a nurse"
            described = [p for p in sorted(of_role) if p in reader.kept]
            return f"{_works(reader)} {tidy(render(tree, described))}", _without(reader, of_role)
        of_employer = set(tree.subtree(at, lambda place: place == as_ or _is_dated(reader, place)))
        return _without(reader, of_employer), _without(reader, {*of_role, *_aside(reader, of_role | of_employer)})
    if at is None or attribute is None or clause.is_negated:
        return None
    of_employer = set(tree.subtree(at, lambda place: _is_dated(reader, place)))
    of_role = set(tree.subtree(attribute, lambda place: place == at or _is_dated(reader, place)))
    first = {*_aside(reader, of_role | of_employer), *of_role}
    rest = [p for p in clause.places if p > clause.head and p not in first]
    return _without(reader, of_employer), f"{_works(reader)} {tidy(render(tree, rest))}"


def _leads_to(reader: Reader, place: int, company: str) -> bool:
    tree = reader.clause.tree
    if tree[place].dep not in {"prep", "agent"} or tree.word(place) not in _BEFORE_EMPLOYERS:
        return False
    target = tree.child(place, "pobj")
    return target is not None and company_at(reader, target) == company


def _is_dated(reader: Reader, place: int) -> bool:
    """Whether a branch says since when, or when: both facts have it."""
    tree = reader.clause.tree
    target = tree.child(place, "pobj") if tree[place].dep == "prep" else None
    return target is not None and tree[target].entity[2:] in {"DATE", "TIME"}


def _without(reader: Reader, left_out: Collection[int]) -> str:
    places = tuple(place for place in reader.clause.places if place not in left_out)
    return Reader(replace(reader.clause, places=places), reader.who, reader.said).body


def _aside(reader: Reader, parts: Collection[int]) -> list[int]:
    """What follows both parts behind a comma: it is said once."""
    tree, last = reader.clause.tree, max(parts)
    behind = [place for place in reader.clause.places if place > last]
    comma = next((place for place in behind if tree.word(place) == ","), None)
    return [] if comma is None else [place for place in behind if place >= comma]


def _works(reader: Reader) -> str:
    clause = reader.clause
    is_many = clause.subject.is_plural and clause.subject.kind != "speaker"
    if clause.is_perfect:
        return "have worked" if is_many else "has worked"
    if clause.is_past and clause.lemma == "be":
        return "worked"
    return "work" if is_many else "works"
