"""A clause with what its predicates are read from: objects, prepositions, dates, the text in the third person."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from services.semantic.facts.extraction.clauses import Clause, cuts
from services.semantic.facts.extraction.dates import ResolvedDate, find_date
from services.semantic.facts.extraction.lexicon import word_set
from services.semantic.facts.extraction.rendering import render
from services.semantic.facts.extraction.words import TAIL, TIMES_SET, VAGUE

_TRAILING: Final = word_set(
    """
    and or but with to in on at for of from by the a an my our too either though now already yet again then
    recently lately currently today finally anymore really so just lol haha please , ; : . ! - also instead
    unfortunately somehow
    """
)
_STATES: Final = frozenset(["base", "marry", "engage", "divorce", "retire"])
_DURATION_ENDS: Final = frozenset(["years", "months", "weeks", "days", "year", "month", "week", "ages"])


@dataclass(frozen=True, slots=True)
class Finding:
    """A predicate that was read, with its object."""

    predicate: str
    object: str
    text: str = ""  # of the fact, where it is not the clause in the third person
    body: str = ""  # what the fact says of the subject, where it is not all that the clause says


@dataclass(frozen=True)
class Reader:
    """One clause, said at a time by somebody."""

    clause: Clause
    who: str  # its subject as a text names it
    said: datetime

    @functools.cached_property
    def kept(self) -> frozenset[int]:
        """The places that belong to the clause."""
        return frozenset(self.clause.places)

    @functools.cached_property
    def body(self) -> str:
        """What is said of the subject, in the third person, without its tail."""
        clause, tree = self.clause, self.clause.tree
        conjugate = frozenset[int]()
        if not clause.subject.is_plural or clause.subject.kind == "speaker":
            verbs = [p for p in clause.places if tree[p].pos in {"AUX", "VERB"} or tree.word(p) in {"'s", "'d"}]
            first = verbs[:1] if verbs and verbs[0] <= clause.head else []
            conjugate = frozenset([*first, *self._coordinated()])
        text = tidy(render(tree, clause.places, conjugate=conjugate))
        if clause.lead:
            lead = render(tree, clause.lead)
            is_name = tree[clause.lead[0]].tag == "NNP" or lead.isupper()
            text = f"{text} {lead if is_name else lead[:1].lower() + lead[1:]}"
        if clause.is_bare:
            text = f"{text[:1].lower()}{text[1:]}"
            is_state = tree[clause.head].tag in {"JJ", "VBG", "NN", "NNP"} or tree.lemma(clause.head) in _STATES
            text = f"is {text}" if is_state and not clause.is_perfect else text
            text = f"was {text}" if tree.word(clause.head) == "born" else text
        return text

    @functools.cached_property
    def date(self) -> ResolvedDate | None:
        """The time that it names, read in the direction of its tense."""
        return self.dated(past=self.clause.is_about_past)

    def dated(self, *, past: bool) -> ResolvedDate | None:
        """The time that it names.

        Args:
            past: Whether "on Friday" is the last one.
        """
        return find_date(self.body, self.said, past=past, goals=self._goals)

    def text(self, place: int | None, *, without: frozenset[str] = frozenset()) -> str:
        """A part of the clause as an object: without dates, articles' pronouns and what trails after it.

        Args:
            place: Its head.
            without: Prepositions whose branches are left out.
        """
        if place is None:
            return ""
        tree = self.clause.tree

        def is_cut(child: int) -> bool:
            return (
                cuts(tree, child)
                or (tree[child].dep == "prep" and tree.word(child) in without)
                or (tree[child].dep == "npadvmod" and child > place)
            )

        places = [p for p in tree.subtree(place, is_cut) if p in self.kept]
        return self.undated(tidy(render(tree, places)))

    def undated(self, text: str) -> str:
        """A text without the date that it ends with."""
        found = find_date(text, self.said, past=True)
        return tidy(text[: found.begin]) if found is not None and found.end >= len(text) and found.begin > 0 else text

    def names(self, place: int | None) -> str:
        """The proper name at a place, with what belongs to it; empty where there is none."""
        if place is None or not _is_name(self.clause, place):
            return ""
        tree, found = self.clause.tree, [place]
        before = place - 1
        while before >= 0 and (_is_name(self.clause, before) or tree.word(before) in {"&", "'s", "-", "of"}):
            found.insert(0, before)
            before -= 1
        while found and tree.word(found[0]) in {"&", "'s", "-", "of"}:
            found.pop(0)
        if before >= 0 and tree.word(before) == "the":
            found.insert(0, before)
        after = place + 1
        while after < len(tree) and after in self.kept:
            joins = tree.word(after) in {"&", ",", "of", "and", "'s", "-"} and tree[after].text != "And"
            follows = after + 1 < len(tree) and _is_name(self.clause, after + 1) and tree[after + 1].dep != "nsubj"
            if _is_name(self.clause, after) or (joins and follows and tree.word(after) != "and"):
                found.append(after)
            else:
                break
            after += 1
        return tidy(render(tree, found))

    def has(self, *words: str) -> bool:
        """Whether one of these words is said."""
        return any(self.clause.tree.word(place) in words for place in self.clause.places)

    def after(self, place: int) -> str:
        """All that is said behind a place."""
        rest = [p for p in self.clause.places if p > place]
        return tidy(render(self.clause.tree, rest))

    @functools.cached_property
    def _goals(self) -> frozenset[str]:
        """The prepositions that lead to a time that a verb of the clause sets: "moved the interview to May 14"."""
        tree, clause = self.clause.tree, self.clause
        verbs = [clause.head, *self._coordinated(), *tree.children(clause.head, "xcomp")]
        lemmas = {tree.lemma(verb) for verb in verbs}
        return frozenset(word for word, setting in TIMES_SET.items() if lemmas & setting)

    def _coordinated(self) -> list[int]:
        """Verbs that share the subject within the clause: "gets in late and goes home"."""
        tree, clause = self.clause.tree, self.clause
        return [c for c in tree.children(clause.head, "conj") if c in self.kept and tree[c].tag == "VBP"]


def _is_name(clause: Clause, place: int) -> bool:
    token = clause.tree[place]
    if not token.text[:1].isupper() or token.text in {"I", "I'm"}:
        return False
    return token.tag in {"NNP", "NNPS"} or (place > 0 and token.pos in {"NOUN", "ADJ", "PROPN", "X", "VERB", "INTJ"})


def tidy(text: str) -> str:
    """A text without the words that trail after what it says."""
    while True:
        shorter = text.rstrip(" ,.;:!-")
        lower = shorter.lower()
        for tail in TAIL:
            if lower.endswith(" " + tail):
                shorter = shorter[: -len(tail) - 1]
                break
        else:
            head, _, last = shorter.rpartition(" ")
            keeps = last.lower() in {"anymore", "today"} or (last.lower() == "to" and head.lower().endswith("used"))
            if head and last.lower() in _TRAILING and not keeps:
                shorter = head
        if shorter == text:
            return text
        text = shorter


def is_vague(text: str) -> bool:
    """Whether an object says nothing outside of its conversation."""
    words = text.lower().split()
    if not words or '""' in text:
        return True
    return words[0] in VAGUE or words[-1] in {
        "it",
        "them",
        "these",
        "those",
        "that",
        "this",
        "there",
        "here",
        "him",
        "her",
        "one",
        "ones",
    }


def without_duration(text: str) -> str:
    """An object without "for five years now" and "anymore"."""
    words = text.split()
    if words and words[-1].lower() in {"anymore"}:
        words.pop()
    if len(words) > 3 and words[-1].lower() in _DURATION_ENDS and "for" in words[-5:]:
        words = words[: len(words) - 1 - words[::-1].index("for")]
    return tidy(" ".join(words))


def bare(text: str) -> str:
    """A text without its article or possessive."""
    first, _, rest = text.partition(" ")
    return rest if rest and first.lower() in {"a", "an", "the", "my", "our", "their", "his", "her", "some"} else text
