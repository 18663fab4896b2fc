"""Who a clause is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from services.semantic.facts.extraction.lexicon import NO_NAMES, PETS, RELATIVES, word_set
from services.semantic.facts.extraction.tree import Tree

_KIN: Final = frozenset((*RELATIVES, *PETS, "kid", "children", "wife", "twin", "parent", "grandparent", "mum", "uni"))
MODIFIERS: Final = word_set(
    """
    best old older younger little big elder eldest youngest oldest twin half late close childhood former ex
    great
    """
)
_NO_PERSONS: Final = word_set(
    """
    GPE LOC ORG DATE TIME NORP LANGUAGE EVENT WORK_OF_ART PRODUCT
    """
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Who or what a clause is about."""

    kind: str  # "speaker", "relative", "other", "own" (a thing of the speaker), or "" for anything else
    name: str = ""  # of a person, where given
    relation: str = ""  # of a relative, with its qualifier: "older sister"; of a thing its name: "budget"
    is_plural: bool = False
    place: int = -1  # of its noun
    is_doubtful: bool = False  # the name may be that of a place or a company


SPEAKER: Final = Subject("speaker")


def subject_at(tree: Tree, place: int, known: Subject | None) -> Subject:
    """The subject whose noun stands at a place; of kind "" where it is nobody in particular."""
    token, word = tree[place], tree.word(place)
    together = [place, *tree.children(place, "conj")]
    if any(tree.word(one) in {"i", "we"} for one in together):
        return Subject("speaker", is_plural=word == "we" or len(together) > 1, place=place)
    if word in {"he", "she"} and known is not None:
        return known
    if word in {"who", "that", "which"} and token.dep in {"nsubj", "nsubjpass"}:
        return Subject("")
    kin_before = next((c for c in tree.children(place, "compound", "nmod", "amod") if _is_kin(tree, c)), None)
    own = _is_own(tree, place) or (kin_before is not None and _is_own(tree, kin_before))
    if own and _is_kin(tree, place):
        return _relative(tree, place, _name_of(tree, place))
    if own and kin_before is not None and token.tag in {"NNP", "NNPS"}:
        return _relative(tree, kin_before, token.text)
    if own and token.pos in {"NOUN", "PROPN"}:
        return Subject("own", relation=_noun(tree, place), is_plural=token.tag == "NNS", place=place)
    if token.tag == "NNP" and token.text not in NO_NAMES and token.text[:1].isupper():
        beside = tree.child(place, "appos")
        if beside is not None and _is_kin(tree, beside) and _is_own(tree, beside):
            return _relative(tree, beside, full_name(tree, place))
        is_alone = tree.child(place, "compound") is None
        doubtful = token.entity[2:] in {"GPE", "ORG"} and is_alone  # a name in a chat is often read as a place
        if (doubtful or token.entity[2:] not in _NO_PERSONS) and tree.child(
            place, "det", "poss", "amod", "conj"
        ) is None:
            return Subject("other", name=full_name(tree, place), place=place, is_doubtful=doubtful)
    return Subject("", relation=word, place=place)


def _is_own(tree: Tree, place: int) -> bool:
    return any(tree.word(one) in {"my", "our"} for one in tree.children(place, "poss"))


def _relative(tree: Tree, place: int, name: str) -> Subject:
    plural = tree[place].tag in {"NNS", "NNPS"} or tree.word(place) in {"parents", "children", "kids"}
    return Subject(
        "relative", name, _noun(tree, place), is_plural=plural or tree.child(place, "conj") is not None, place=place
    )


def _noun(tree: Tree, place: int) -> str:
    """A noun with what tells it from others of its kind."""
    before = [
        c for c in tree.children(place, "amod", "compound", "nmod", "nummod") if c < place and tree[c].tag != "NNP"
    ]
    kept = [c for c in before if not _is_kin(tree, place) or tree.word(c) in MODIFIERS]
    words = [tree.word(c) for c in kept] + [tree.word(place)]
    return " ".join(words).replace(" - ", "-")


def _name_of(tree: Tree, place: int) -> str:
    for child in tree.children(place, "appos", "oprd"):
        if tree[child].tag == "NNP" and tree[child].text not in NO_NAMES:
            return full_name(tree, child)
    for child in tree.children(place, "acl"):
        target = tree.child(child, "oprd", "dobj", "attr")
        if tree.word(child) in {"called", "named"} and target is not None:
            return full_name(tree, target)
    return ""


def full_name(tree: Tree, place: int) -> str:
    """The name that ends at a place, with the names before it."""
    parts = [c for c in tree.children(place, "compound", "flat") if tree[c].tag == "NNP" and c < place]
    return " ".join(tree[part].text for part in (*parts, place)).rstrip(".")


def is_kin(word: str) -> bool:
    """Whether a noun is a relative, somebody close, or a pet."""
    return word in _KIN or word.removesuffix("s") in _KIN


def _is_kin(tree: Tree, place: int) -> bool:
    return is_kin(tree.word(place)) or is_kin(tree.lemma(place))
