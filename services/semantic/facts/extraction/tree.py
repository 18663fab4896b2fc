"""A sentence as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from services.common.parsing.model import Token

_OF_NOUNS: Final = frozenset({"det", "poss", "amod", "compound", "nummod"})


def repaired(tokens: Sequence[Token]) -> Sequence[Token]:
    """The tokens with verbs that were read as something else.

    "Leila's getting married" and "my birthday's on April 4" have a verb, no possessive; "I live in Ghent and work at
    Nova" has two.
    """
    found = _with_copula(_with_verbs(tokens))
    for place in range(1, len(found) - 1):
        token, before, after = found[place], found[place - 1], found[place + 1]
        verb = after.head if after.dep in {"aux", "auxpass"} else place + 1
        if (
            token.tag == "POS"
            and before.dep == "poss"
            and after.tag in {"VBG", "VBN"}
            and before.head in {place + 1, verb}
        ):
            found[place] = replace(token, pos="AUX", tag="VBZ", lemma="be", dep="aux", head=verb)
            found[place - 1] = replace(before, dep="nsubj", head=verb)
    return found


def _with_verbs(tokens: Sequence[Token]) -> list[Token]:
    """A bare noun that is coordinated with a verb of the present is a verb."""
    described = {token.head for token in tokens if token.dep in _OF_NOUNS}
    return [
        replace(token, pos="VERB", tag="VBP", lemma=token.text.lower())
        if token.dep == "conj" and token.tag == "NN" and place not in described and _tag(tokens, token.head) == "VBP"
        else token
        for place, token in enumerate(tokens)
    ]


def _tag(tokens: Sequence[Token], place: int) -> str:
    return tokens[place].tag if 0 <= place < len(tokens) else ""


def _with_copula(found: list[Token]) -> list[Token]:
    """A possessive of the noun that a sentence is made of is a verb: "my birthday's on April 4"."""
    for place in range(1, len(found) - 1):
        before = found[place - 1]
        if found[place].tag != "POS" or found[place].text != "'s":
            continue
        is_date = found[place + 1].entity.endswith("DATE") and before.text.lower() == "birthday"
        root = before.head if before.dep == "poss" and is_date else place - 1
        if not 0 <= root < len(found) or found[root].dep != "ROOT" or found[place + 1].pos == "PUNCT":
            continue
        for below in range(place + 1, len(found)):
            if found[below].head == root and (root == place - 1 or found[below].pos == "PUNCT"):
                dep = "attr" if found[below].dep == "appos" else found[below].dep
                found[below] = replace(found[below], head=place, dep=dep)
        if root != place - 1:
            found[root] = replace(found[root], head=place, dep="attr")
        found[place - 1] = replace(before, head=place, dep="nsubj")
        found[place] = replace(found[place], pos="AUX", tag="VBZ", lemma="be", dep="ROOT", head=place)
        break
    return found


class Tree:
    """A parsed sentence with its children by head."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        """Index the children; a head outside of the sentence makes its token a root."""
        self.tokens = tokens = repaired(tokens)
        self._children: list[list[int]] = [[] for _ in tokens]
        self.roots: list[int] = []
        for place, token in enumerate(tokens):
            if token.head == place or not 0 <= token.head < len(tokens):
                self.roots.append(place)
            else:
                self._children[token.head].append(place)

    def __getitem__(self, place: int) -> Token:
        """The token at a place."""
        return self.tokens[place]

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.tokens)

    def lemma(self, place: int) -> str:
        """The lemma in lower case."""
        return self.tokens[place].lemma.lower()

    def word(self, place: int) -> str:
        """The word in lower case; empty outside of the sentence."""
        return self.tokens[place].text.lower() if 0 <= place < len(self.tokens) else ""

    def children(self, place: int, *relations: str) -> Iterator[int]:
        """The children with one of these relations, or all of them, in order."""
        for child in self._children[place]:
            if not relations or self.tokens[child].dep in relations:
                yield child

    def child(self, place: int, *relations: str) -> int | None:
        """The first child with one of these relations."""
        return next(self.children(place, *relations), None)

    def subtree(self, place: int, cut: Callable[[int], bool] = lambda _: False) -> list[int]:
        """The token and all below it, in order, without the branches that are cut."""
        found, open_places = [], [place]
        while open_places:
            current = open_places.pop()
            found.append(current)
            open_places.extend(child for child in self._children[current] if not cut(child))
        return sorted(found)

    def preposition(self, place: int, *words: str) -> int | None:
        """The object of the first of these prepositions that the token governs."""
        for child in self.children(place, "prep", "agent", "prt", "dative", "advmod"):
            if self.word(child) in words:
                target = self.child(child, "pobj", "pcomp")
                if target is not None:
                    return target
        return None
