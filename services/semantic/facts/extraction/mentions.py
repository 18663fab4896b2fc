"""Names of relatives and pets that a sentence mentions: "my sister Anna", "our dog is called Rex"."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from services.semantic.facts.extraction.lexicon import NO_NAMES
from services.semantic.facts.extraction.subjects import MODIFIERS, is_kin
from services.semantic.facts.extraction.tree import Tree

_BETWEEN: Final = frozenset([",", "'s", "name", "is", "named", "called"])
_NAMING: Final = frozenset(["is", "named", "called"])
_OWN: Final = frozenset(["my", "our"])
_TITLES: Final = frozenset(["dr", "dr.", "mr", "mr.", "mrs", "mrs.", "ms", "ms.", "prof", "prof.", "professor"])


def named_relatives(tree: Tree, *, denied: Collection[int] = ()) -> Iterator[tuple[str, str, str]]:
    """The relation with its qualifier, the bare relation, and the name, in order.

    Args:
        tree: The sentence.
        denied: Places of clauses that are denied: a name that is given there is none.
    """
    for place in range(1, len(tree)):
        word = tree.word(place)
        if not is_kin(word):
            continue
        first = place - 1
        while first > 0 and tree.word(first) in MODIFIERS | {"-"}:
            first -= 1
        if tree.word(first) not in _OWN:
            continue
        after, links = place + 1, list[str]()
        while after < len(tree) and len(links) < 4 and tree.word(after) in _BETWEEN:
            links.append(tree.word(after))
            after += 1
        if links and after - 1 in denied and set(links) != {","}:
            continue
        name = _name(
            tree,
            after,
            is_announced=bool(_NAMING & set(links)) and ("name" in links or "called" in links or "named" in links),
        )
        if name and not (set(links) <= {"'s"} and links):
            described = " ".join(tree.word(one) for one in range(first + 1, place + 1)).replace(" - ", "-")
            yield described, word, name
            second = (
                _name(tree, after + 2, is_announced=False)
                if word.endswith("s") and tree.word(after + 1) in {"and", "&"}
                else ""
            )
            if second:
                yield described, word, second


def _name(tree: Tree, place: int, *, is_announced: bool) -> str:
    if place >= len(tree):
        return ""
    token = tree[place]
    if tree.word(place) in _TITLES:  # no name by itself
        name = _name(tree, place + 1, is_announced=True)
        return f"{token.text} {name}" if name else ""
    is_name = token.text[:1].isupper() and token.text not in NO_NAMES and token.text[1:2].islower()
    is_entity = token.entity[2:] in {"DATE", "NORP", "LANGUAGE"} and not is_announced
    # The parser takes the dot of "with my friend Jan." for that of a short form.
    return token.text.rstrip(".") if is_name and not is_entity and (is_announced or token.pos == "PROPN") else ""
