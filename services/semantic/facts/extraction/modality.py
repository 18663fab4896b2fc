"""How a clause is meant: stated, denied to have been said, hedged, reported, on a condition, or asked."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from services.semantic.facts.extraction.subjects import Subject
from services.semantic.facts.extraction.tree import Tree
from services.semantic.facts.extraction.words import (
    CONDITIONAL_MODALS,
    CONDITIONS,
    FALSE,
    HEDGED_MODALS,
    HEDGES,
    OWN_HEDGES,
    OWN_UNREAL,
    SAYING,
    TRUE,
)

_SEEMING: Final = frozenset({"seem", "look", "feel", "sound"})
_DENYING: Final = frozenset({"deny", "dispute", "refute"})
_BE: Final = frozenset({"be", "'s", "is", "was"})
_HAVE: Final = frozenset({"have", "has", "'ve", "had"})
_APART: Final = frozenset({",", ";", ":", "-", "--"})
_NO_COMPLEMENT: Final = frozenset({"nsubj", "neg", "aux", "advmod", "punct", "ccomp", "intj", "cc", "conj"})


class Modality(StrEnum):
    """How a clause is meant."""

    STATED = "stated"
    DENIED = "denied"
    """What the speaker says that they did not say, or that is not so: it states neither the clause nor its opposite."""
    HEDGED = "hedged"
    REPORTED = "reported"
    CONDITIONAL = "conditional"
    QUESTION = "question"


def modality_of(tree: Tree, head: int, inherited: Modality) -> Modality:
    """How a clause is meant, by its own words.

    Args:
        tree: The sentence.
        head: The place of its verb.
        inherited: How the clause that it belongs to is meant: what is not stated makes nothing stated.
    """
    if inherited is not Modality.STATED:
        return inherited
    auxiliaries = {tree.word(child) for child in tree.children(head, "aux")}
    if auxiliaries & CONDITIONAL_MODALS and not _is_wish(tree, head, auxiliaries):
        return Modality.CONDITIONAL
    if any(tree.word(child) == "according" for child in tree.children(head, "prep")):
        return Modality.REPORTED
    for child in tree.children(head, "advcl"):
        if any(tree.word(mark) in {"if", "unless"} for mark in tree.children(child, "mark")) and not _is_polite(
            tree, child
        ):
            return Modality.CONDITIONAL
    if auxiliaries & HEDGED_MODALS:
        return Modality.HEDGED
    for child in tree.children(head, "advmod", "intj"):
        if tree.word(child) in HEDGES:
            return Modality.HEDGED
    if any(tree.word(mark) in CONDITIONS for mark in tree.children(head, "mark")):
        return Modality.CONDITIONAL
    first = tree.word(0)
    return (
        Modality.CONDITIONAL
        if first in {"if", "unless", "suppose", "imagine"} and head < 8 and tree[head].dep != "ROOT"
        else Modality.STATED
    )


def _is_wish(tree: Tree, head: int, auxiliaries: set[str]) -> bool:
    """Whether "would like" or "would love" wants something, instead of depending on something."""
    return bool(auxiliaries & {"would", "'d"}) and tree.lemma(head) in {"like", "love", "prefer", "rather"}


def _is_polite(tree: Tree, place: int) -> bool:
    return tree.lemma(place) in {"be", "mind", "remember", "ask", "wonder", "care"} and len(tree.subtree(place)) <= 5


def claimed(
    tree: Tree, head: int, child: int, *, subject: Subject | None, modality: Modality, is_negated: bool
) -> Modality:
    """How the complement of a verb is meant.

    Args:
        tree: The sentence.
        head: The place of the verb.
        child: The place of the complement's verb.
        subject: Who or what the verb is said of.
        modality: How the verb's own clause is meant.
        is_negated: Whether that clause is negated.
    """
    verb = tree.lemma(head)
    by_speaker = subject is None or subject.kind == "speaker"
    if modality is not Modality.STATED and not by_speaker:
        return Modality.REPORTED
    if _is_denied(tree, head, child, by_speaker=by_speaker, is_negated=is_negated):
        return Modality.DENIED
    marks = {tree.word(mark) for mark in tree.children(child, "mark")}
    if verb in SAYING or (verb in {"be", *_SEEMING} and marks & {"if", "like"}):
        if by_speaker:
            return _said_by_speaker(verb, marks, modality)
        impersonal = (
            subject is not None and subject.kind == "" and tree.word(tree.child(head, "nsubj") or head) in {"it"}
        )
        return Modality.STATED if impersonal and verb == "turn" else Modality.REPORTED
    if marks & CONDITIONS:
        return Modality.CONDITIONAL
    if modality is Modality.STATED and by_speaker and is_negated and child > head:
        return Modality.HEDGED
    is_of_others = not by_speaker and subject is not None and bool(subject.kind)
    if is_of_others and child > head and verb not in {"be", "turn", "mean", "know", "have"}:
        return Modality.REPORTED
    return modality


def _said_by_speaker(verb: str, marks: set[str], modality: Modality) -> Modality:
    if verb in OWN_UNREAL:
        return Modality.CONDITIONAL
    if verb in OWN_HEDGES or verb in {"hear", "be", *_SEEMING}:
        return Modality.HEDGED
    return Modality.CONDITIONAL if marks & CONDITIONS else modality


def _is_denied(tree: Tree, head: int, child: int, *, by_speaker: bool, is_negated: bool) -> bool:
    """Whether the speaker denies to have said a clause, or that it is true: "I never said that I hate my boss"."""
    if child < head or _is_apart(tree, child):
        return False
    verb = tree.lemma(head)
    if verb in _BE or tree.word(head) in _BE:
        return _is_called_untrue(tree, head, is_negated=is_negated)
    if not by_speaker:
        return False
    if verb in _DENYING:
        return not is_negated
    return is_negated and verb in SAYING and not _is_secret(tree, head)


def _is_apart(tree: Tree, place: int) -> bool:
    """Whether a clause only follows another one: "I never said that, I live in Ghent"."""
    first = tree.subtree(place)[0]
    introduces = tree.word(first) == "that" and tree.word(first + 1) not in _APART
    return (first > 0 and tree.word(first - 1) in _APART and not introduces) or tree.word(first + 1) in _APART


def _is_called_untrue(tree: Tree, head: int, *, is_negated: bool) -> bool:
    """Whether "it is not true that", "it's not that" or "it's a lie that" says of a clause that it is not so."""
    own = tree.child(head, "nsubj")
    if own is None or tree.word(own) != "it":
        return False
    complements = [child for child in tree.children(head) if tree[child].dep not in _NO_COMPLEMENT]
    if not complements:
        return is_negated
    return any(tree.word(place) in (TRUE if is_negated else FALSE) for place in complements)


def _is_secret(tree: Tree, head: int) -> bool:
    """Whether what is not told is so: "I haven't told my boss that I'm leaving"; to "you" it was not said at all."""
    if tree.lemma(head) != "tell" or not any(tree.word(child) in _HAVE for child in tree.children(head, "aux")):
        return False
    listener = tree.child(head, "dobj", "dative")
    return listener is not None and tree.word(listener) != "you"
