"""Cuts a sentence into clauses and says of each who it is about and how it is meant.

A clause ends where the next one begins: coordinated and subordinate clauses are clauses of their own, and what stands
apart ("boxes still everywhere") is left out. Only what the speaker states becomes facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from services.semantic.facts.extraction.modality import Modality, claimed, modality_of
from services.semantic.facts.extraction.subjects import SPEAKER, Subject, subject_at
from services.semantic.facts.extraction.tree import Tree
from services.semantic.facts.extraction.words import (
    BARE_DEEDS,
    BARE_STATES,
    CONDITIONS,
    FILLERS,
    FUTURE_MODALS,
    TIME_WORDS,
)


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: a verb with what belongs to it."""

    tree: Tree
    head: int  # place of its verb, or of its predicate where it has none
    subject: Subject
    places: tuple[int, ...]  # what is said of the subject, in order
    lead: tuple[int, ...]  # a time put first: "yesterday", "every Sunday"
    modality: Modality
    is_negated: bool
    is_past: bool
    is_perfect: bool
    is_progressive: bool
    is_future: bool
    is_bare: bool = False  # the verb is a bare participle or adjective: "Moved to Ghent!"

    @property
    def lemma(self) -> str:
        """Of its verb."""
        return self.tree.lemma(self.head)

    @property
    def is_about_past(self) -> bool:
        """Whether "on Friday" means the last one. "I have got a meeting" has the form of a past and speaks of now."""
        tree, head = self.tree, self.head
        has_got = self.is_perfect and not self.is_past and tree.word(head) == "got"
        return (self.is_past or self.is_perfect) and not (has_got and tree.child(head, "dobj") is not None)


_CLAUSAL: Final = frozenset(["VERB", "AUX"])
_FINITE: Final = frozenset(["VBD", "VBP", "VBZ", "MD"])
_BREAKS: Final = frozenset([";", "--", "-", "–", "—", "...", "…", "(", ":"])  # noqa: RUF001
_MAX_CLAUSES: Final = 24


def clauses_of(tree: Tree, known: Subject | None = None) -> Iterator[Clause]:
    """The clauses of a sentence, in order.

    Args:
        tree: The sentence.
        known: The one other person that the turn named before: "she" and "he" are taken for them.
    """
    asks = any(token.text.startswith("?") for token in tree.tokens[-4:])
    found: list[Clause] = []
    for root in tree.roots:
        _visit(tree, root, _Context(known, None, Modality.STATED), found)
    for clause in sorted(found[:_MAX_CLAUSES], key=lambda one: one.head):
        if asks and _is_asked(clause):
            yield replace(clause, modality=Modality.QUESTION)
        else:
            yield clause


@dataclass(frozen=True, slots=True)
class _Context:
    """What a clause takes over from the one that it belongs to."""

    known: Subject | None
    subject: Subject | None
    modality: Modality
    is_negated: bool = False
    is_past: bool = False


def _visit(tree: Tree, head: int, context: _Context, found: list[Clause]) -> None:
    if len(found) >= _MAX_CLAUSES:
        return
    own = tree.child(head, "nsubj", "nsubjpass")
    subject = subject_at(tree, own, context.known) if own is not None else context.subject
    bare = False
    if own is None and subject is None and tree[head].dep == "ROOT" and _is_bare(tree, head):
        subject, bare = SPEAKER, True
    modality = modality_of(tree, head, context.modality)
    negated = _is_negated(tree, head) or context.is_negated
    auxiliaries = [tree.word(child) for child in tree.children(head, "aux", "auxpass")]
    past = _is_past(tree, head, auxiliaries) or (context.is_past and own is None and tree[head].tag == "VBD")
    perfect = bool({"have", "has", "'ve", "had"} & set(auxiliaries)) or (
        "'s" in auxiliaries and tree[head].tag == "VBN" and tree.child(head, "auxpass") is None
    )
    if subject is not None and (tree[head].pos in _CLAUSAL or bare or own is not None):
        found.append(
            Clause(
                tree,
                head,
                subject,
                tuple(_said(tree, head, own)),
                tuple(_lead(tree, head, own)),
                modality,
                negated,
                is_past=past,
                is_perfect=perfect,
                is_progressive=tree[head].tag == "VBG",
                is_future=bool(FUTURE_MODALS & set(auxiliaries)),
                is_bare=bare,
            )
        )
    inherited = _Context(context.known, subject, modality, negated, past)
    for child in tree.children(head):
        _visit_child(tree, head, child, inherited, found)
    # Clauses deeper down: "the people who live there" say nothing of the speaker, but relatives are described so.
    for argument in tree.children(head, "nsubj", "dobj", "attr", "prep", "pobj", "dative"):
        for below in tree.subtree(argument):
            if tree[below].dep == "relcl" and _is_described(tree, below):
                antecedent = subject_at(tree, tree[below].head, context.known)
                _visit(tree, below, _Context(context.known, antecedent, modality), found)


def _visit_child(tree: Tree, head: int, child: int, inherited: _Context, found: list[Clause]) -> None:
    relation, token = tree[child].dep, tree[child]
    apart = replace(inherited, is_negated=False, is_past=False)
    if relation == "conj" and cuts(tree, child):
        shares = tree.child(child, "nsubj", "nsubjpass") is None and not tree.child(child, "aux")
        joined = any(tree.word(cc) in {"or", "nor"} for cc in tree.children(head, "cc"))
        modality = (
            inherited.modality if shares or not _ends_at_conjunct(tree, head, child, inherited) else Modality.STATED
        )
        _visit(tree, child, replace(inherited, modality=modality, is_negated=inherited.is_negated and joined), found)
    elif relation in {"ccomp", "parataxis"} and cuts(tree, child):
        _visit(tree, child, replace(apart, modality=_of_complement(tree, head, child, inherited), subject=None), found)
    elif relation == "advcl" and cuts(tree, child) and tree.child(child, "nsubj", "nsubjpass") is not None:
        marks = {tree.word(mark) for mark in tree.children(child, "mark", "advmod")}
        unreal = bool(marks & CONDITIONS) or ("when" in marks and tree[child].tag in {"VBP", "VBZ", "VBG"})
        is_denied = inherited.modality is Modality.DENIED
        modality = Modality.CONDITIONAL if unreal else Modality.DENIED if is_denied else Modality.STATED
        _visit(tree, child, replace(apart, modality=modality, subject=None), found)
    elif relation == "xcomp" and token.pos in _CLAUSAL:
        below = replace(inherited, is_negated=inherited.is_negated or _is_negated(tree, child))
        for conjunct in tree.children(child, "ccomp", "advcl"):
            _visit_child(tree, child, conjunct, below, found)


def _of_complement(tree: Tree, head: int, child: int, above: _Context) -> Modality:
    return claimed(tree, head, child, subject=above.subject, modality=above.modality, is_negated=above.is_negated)


def _ends_at_conjunct(tree: Tree, head: int, child: int, above: _Context) -> bool:
    """Whether a coordinated clause with a subject of its own is not meant as the one before it."""
    if above.modality is Modality.DENIED:
        contrasts = any(tree.word(one) in {"but", "yet"} for one in tree.children(head, "cc"))
        return contrasts and not any(tree.word(mark) == "that" for mark in tree.children(child, "mark"))
    return above.modality is Modality.HEDGED


def cuts(tree: Tree, place: int) -> bool:
    """Whether a branch is a clause of its own, or apart from the clause that it hangs on."""
    token = tree[place]
    has_subject = tree.child(place, "nsubj", "nsubjpass", "csubj") is not None
    comma = tree.word(place - 1) in {",", ";", "-", "--", ":"}
    if token.dep == "conj":
        head = tree[token.head]
        if has_subject and token.pos in {*_CLAUSAL, "ADJ", "NOUN"}:
            return True
        if token.pos == "ADV" and head.pos in _CLAUSAL:
            return True  # "and there on the table was the book": its verb comes later
        return (
            token.pos in _CLAUSAL
            and head.dep not in {"xcomp", "pcomp", "acl"}
            and head.pos in _CLAUSAL
            and token.tag != "VBG"
        )
    if token.dep in {"ccomp", "parataxis", "csubj"}:
        return has_subject or token.dep == "parataxis"
    if token.dep == "advcl":
        first = tree.subtree(place)[0]
        return has_subject or (first > 0 and tree.word(first - 1) in {",", "-", "--"} and tree.word(first) != "to")
    if token.dep == "relcl":
        first = tree.subtree(place)[0]
        return first > 0 and tree.word(first - 1) == ","
    if token.dep in {"intj", "meta", "dep", "mark"}:
        return token.dep != "dep" or token.pos in {"PUNCT", "SPACE", "INTJ", "VERB"} or comma
    return False


def _said(tree: Tree, head: int, own: int | None) -> list[int]:
    """The tokens of a clause behind its subject."""
    places = tree.subtree(
        head, lambda place: place == own or cuts(tree, place) or (tree[place].dep == "cc" and _joins(tree, place))
    )
    first_verb = min([head, *(a for a in tree.children(head, "aux", "auxpass", "neg"))])
    start = max(own + 1, 0) if own is not None and own < first_verb else first_verb
    own_end = max(tree.subtree(own)) if own is not None and own < first_verb else -1
    kept = [
        place
        for place in places
        if place > own_end and place >= min(start, first_verb) and not _is_filler(tree, place, head)
    ]
    kept = _until_break(tree, kept, head)
    while (
        kept
        and tree[kept[-1]].pos in {"PUNCT", "CCONJ", "SPACE", "SYM", "X", "INTJ"}
        and tree[kept[-1]].text not in {"%", "$", "€", '""'}
    ):
        kept.pop()
    while kept and tree[kept[0]].pos in {"PUNCT", "CCONJ", "SPACE"}:
        kept.pop(0)
    return kept


def _until_break(tree: Tree, kept: list[int], head: int) -> list[int]:
    """The tokens up to a dash, semicolon, bracket or ellipsis after the verb."""
    for number, place in enumerate(kept):
        if place > head and tree.word(place) in _BREAKS and not _is_before_sum(tree, place):
            glued = (
                tree[place].start == tree[place - 1].end
                and place + 1 < len(tree)
                and tree[place + 1].start == tree[place].end
            )
            if not glued:
                return kept[:number]
    return kept


def _is_before_sum(tree: Tree, place: int) -> bool:
    """Whether a colon leads to a figure, which belongs to what it stands behind: "I got a raise: 2,050 now"."""
    after = tree.word(place + 1)
    return tree.word(place) == ":" and (after[:1].isdigit() or after in {"€", "$", "£"})


def _joins(tree: Tree, place: int) -> bool:
    """Whether a conjunction only leads to what was cut."""
    head = tree[place].head
    after = [child for child in tree.children(head, "conj") if child > place]
    return not after or cuts(tree, after[0])


def _is_filler(tree: Tree, place: int, head: int) -> bool:
    token = tree[place]
    if token.dep == "advmod" and token.text.lower() in FILLERS and tree[token.head].pos in {"VERB", "AUX"}:
        return True
    return token.dep in {"intj", "mark", "preconj"} and token.head == head and token.text.lower() != "to"


def _lead(tree: Tree, head: int, own: int | None) -> list[int]:
    """A time that is put before the subject."""
    if own is None:
        return []
    begin = min(tree.subtree(own))
    for child in tree.children(head, "npadvmod", "prep", "advmod"):
        places = tree.subtree(child)
        if child < begin and max(places) < begin and len(places) <= 6:
            text = " ".join(tree.word(place) for place in places)
            if any(word in text for word in TIME_WORDS):
                return places
    return []


def _is_bare(tree: Tree, head: int) -> bool:
    """Whether a sentence without a subject tells of the speaker: "Moved to Ghent!", "Allergic to nuts."."""
    token = tree[head]
    first = next(
        (n for n, one in enumerate(tree.tokens) if one.pos not in {"PUNCT", "SPACE", "ADV", "INTJ", "CCONJ"}), head
    )
    if first < head and not all(
        tree[place].dep in {"aux", "auxpass", "neg", "advmod", "punct", "intj"} for place in range(first, head)
    ):
        return False
    if token.pos == "ADJ" or token.tag in {"NN", "NNP"}:
        return tree.word(head) in BARE_STATES
    helpers = {tree.word(child) for child in tree.children(head, "aux")}
    if token.tag == "VBN" and not helpers:
        return tree.lemma(head) in BARE_DEEDS
    return (token.tag in {"VBD", "VBG"} and not helpers) or (
        token.tag in {"VBD", "VBN", "VBG"} and bool(helpers & {"been", "have"})
    )


def _is_negated(tree: Tree, head: int) -> bool:
    for child in tree.children(head, "neg"):
        if tree.word(child) not in {"no"}:
            return True
    for child in tree.children(head, "advmod"):
        if tree.word(child) == "longer" and tree.word(child - 1) == "no":
            return True
        if tree.word(child) in {"hardly", "barely", "rarely", "seldom"}:
            return True
    target = tree.child(head, "dobj", "attr")
    return target is not None and any(
        tree.word(child) in {"no", "zero"} for child in tree.children(target, "det", "neg")
    )


def _is_past(tree: Tree, head: int, auxiliaries: list[str]) -> bool:
    if tree[head].tag == "VBD" or {"was", "were", "did", "had", "got"} & set(auxiliaries):
        return True
    return tree[head].tag == "VBN" and not auxiliaries


def _is_described(tree: Tree, place: int) -> bool:
    """Whether a relative clause says something of what it follows: "my sister, who lives in Oslo"."""
    own = tree.child(place, "nsubj", "nsubjpass")
    return own is not None and tree.word(own) in {"who", "that", "which"}


def _is_asked(clause: Clause) -> bool:
    """Whether a clause of a question is what is asked, and not a statement before it."""
    tree = clause.tree
    last = max(clause.places, default=clause.head)
    rest = [place for place in range(last + 1, len(tree)) if tree[place].pos not in {"PUNCT", "SPACE"}]
    auxiliary = tree.child(clause.head, "aux")
    own = tree.child(clause.head, "nsubj", "nsubjpass")
    inverted = own is not None and (own > clause.head or (auxiliary is not None and auxiliary < own))
    asked = any(tree.tokens[place].tag in {"WP", "WRB", "WDT"} for place in tree.children(clause.head))
    return (
        not rest
        or inverted
        or asked
        or not any(tree.word(place) == "," for place in range(last, min(last + 3, len(tree))))
    )
