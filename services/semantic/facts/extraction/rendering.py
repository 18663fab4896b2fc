"""Writes tokens of the first person in the third."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.semantic.facts.extraction.person import conjugated
from services.semantic.facts.extraction.tree import Tree

_PRONOUNS: Final = {
    "i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "we": "they", "us": "them",
    "our": "their", "ours": "theirs", "ourselves": "themselves",
}  # fmt: skip
_SHORT: Final = {
    "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "ca": "can", "wo": "will", "sha": "shall", "n't": "not",
    "nt": "not", "gon": "going", "wan": "want", "na": "to", "got ta": "have to", "im": "am",
}  # fmt: skip
_BE_HAVE: Final = {"am": "is", "are": "is", "were": "was", "have": "has", "do": "does"}
_AFTER_THEY: Final = {"am": "are", "was": "were", "is": "are", "has": "have"}
_PERFECT: Final = frozenset(["VBN", "VBD"])
_NO_SPACE_BEFORE: Final = frozenset(["n't", "'m", "'re", "'ve", "'ll"])


def render(tree: Tree, places: Sequence[int], *, conjugate: frozenset[int] = frozenset()) -> str:
    """The tokens as text: contractions in full, the speaker as "they".

    Args:
        tree: The sentence.
        places: Its tokens to write, in order.
        conjugate: Those among them that are verbs of the first person whose subject becomes a name.
    """
    pieces: list[str] = []
    before = -1
    for place in places:
        token = tree[place]
        if token.pos == "SPACE":
            continue
        word = _word(tree, place, is_conjugated=place in conjugate)
        if pieces and _is_apart(tree, before, place, word):
            pieces.append(" ")
        pieces.append(word)
        before = place
    return "".join(pieces).replace("can not", "cannot")


def _is_apart(tree: Tree, before: int, place: int, word: str) -> bool:
    if before + 1 == place and tree[before].end == tree[place].start:
        # Contractions were written together and are in full now; hyphens, possessives and punctuation stay.
        return tree.word(place) in _NO_SPACE_BEFORE | {"na", "not"} or (
            tree.word(place) in {"'s", "'d"} and word not in {"'s"}
        )
    return word not in {",", ".", ";", ":", "'s", ")", "%"}


def _word(tree: Tree, place: int, *, is_conjugated: bool) -> str:
    token = tree[place]
    lower = token.text.lower()
    if token.pos == "PRON" and lower in _PRONOUNS:
        return _PRONOUNS[lower]
    full = _short(tree, place, lower)
    if is_conjugated:
        return _BE_HAVE.get(full) or (conjugated(full) if token.tag in {"VBP", "VB"} and full not in _MODALS else full)
    if place and tree.word(place - 1) in {"i", "we"} and token.pos in {"AUX", "VERB"}:
        return _AFTER_THEY.get(full, full)
    return full if full != lower else token.text


_MODALS: Final = frozenset(["will", "would", "can", "could", "should", "must", "may", "might", "shall"])


def _short(tree: Tree, place: int, lower: str) -> str:
    if lower == "'s" and tree[place].pos in {"AUX", "VERB"}:
        return "has" if _perfect_follows(tree, place) else "is"
    if lower == "'d":
        return "had" if _perfect_follows(tree, place) or tree.word(place + 1) == "better" else "would"
    if lower == "na" and tree.word(place - 1) not in {"gon", "wan"}:
        return lower
    return _SHORT.get(lower, lower)


def _perfect_follows(tree: Tree, place: int) -> bool:
    for after in range(place + 1, min(place + 4, len(tree))):
        if tree[after].pos != "ADV":
            return tree[after].tag in _PERFECT and tree[place].dep == "aux"
    return False
