"""Which turns with a name are of the one whom a query means: "our neighbour Martha", and not "my grandmother Martha".

A turn that says who its Martha is decides for itself. One that does not is of the Martha whom the same conversation
spoke of last. Where that is open too and the user knows another Martha, it stays: what is erased is gone for good.
Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from services.gateway.erasure.followups import Line
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.relations import Described, canonical, fits, is_another, mentions, relations_in
from services.gateway.erasure.wording import OFFICES

_SOMEBODY: Final = "Xyz"
"""Stands for a name where a query says who stays without one: "not the one from accounting"."""


_DOCTORS: Final = frozenset(canonical(word) for word in ("doctor", "dentist", "vet", "therapist", "surgeon", "teacher"))
"""Who may be called by a title where the query leaves it out."""


class Verdict(Enum):
    """Of whom a turn is."""

    MEANT = "meant"
    ANOTHER = "another"
    UNSURE = "unsure"
    OPEN = "open"  # it says nothing of who that is


@dataclass(frozen=True, slots=True)
class Person:
    """The one whom a query means, and those of the name who stay."""

    names: frozenset[str]
    asked: Described
    kept: tuple[Described, ...] = ()
    full: re.Pattern[str] | None = None  # the whole name, where it has several words

    def __bool__(self) -> bool:
        """Whether the query says more than the name."""
        return bool(self.names and (self.asked or any(self.kept)))


def persons_of(query: str, wanted: Wanted, kept: Sequence[str]) -> list[Person]:
    """Reads whom a query means, where it says more than a name of them or who of the name stays.

    Args:
        query: In plain words, without what must stay.
        wanted: The query as it was read, by the name of a role too.
        kept: What the query says must stay.
    """
    names = [frozenset(name) - OFFICES for name in wanted.names or [(owner,) for owner in wanted.owners]]
    staying = [(phrase, name) for phrase in kept for name in names]
    found = [
        Person(
            name,
            _joined(mentions(query, name)),
            tuple(_kept(phrase, name) for phrase, of in staying if of == name),
            _full_name(whole),
        )
        for name, whole in zip(names, wanted.names or [(owner,) for owner in wanted.owners], strict=True)
    ]
    roles = frozenset(filter(None, map(canonical, wanted.topics))) if wanted.about_name else frozenset[str]()
    if roles and len(found) == 1 and not found[0].asked:
        # The name is that of a role: "my brother-in-law".
        found = [replace(found[0], asked=Described(roles, words=wanted.topics))]
    return [person for person in found if person]


def _full_name(name: Sequence[str]) -> re.Pattern[str] | None:
    """Somebody of the whole name is the one who is meant, whoever else has a part of it."""
    parts = [re.escape(part) for part in name if part not in OFFICES]
    whole = r"\s".join(parts)
    return re.compile(rf"(?<![\w-]){whole}(?![\w-])", re.IGNORECASE) if len(parts) > 1 else None


def _kept(phrase: str, names: Collection[str]) -> Described:
    opening = phrase.casefold().split()
    if opening[:2] in (["the", "one"], ["the", "other"]):
        tail = phrase.split()[2:]
        return _joined(
            mentions(" ".join([_SOMEBODY, *(tail[1:] if tail[:1] == ["one"] else tail)]), {_SOMEBODY.lower()})
        )
    return _joined(mentions(phrase, names) or mentions(f"{phrase} {_SOMEBODY}", {_SOMEBODY.lower()}))


def _joined(found: Sequence[Described]) -> Described:
    joined = Described()
    for one in found:
        joined = joined.joined(one)
    return joined


def verdicts(person: Person, texts: Mapping[str, str], lines: Sequence[Line], distance: int) -> dict[str, Verdict]:
    """Returns of whom each text with the name is.

    Args:
        person: Whom the query means.
        texts: Those with the name, by id; ids of turns are those of their lines.
        lines: The turns among them and turns before them, of any conversations.
        distance: How far before a turn another one without the name says who that is.
    """
    said = {one: of_one for one, text in texts.items() if (of_one := mentions(text, person.names))}
    asked = _with_what_else_is_said(person.asked, [one for of_one in said.values() for one in of_one])
    by_itself = {one: _verdict(asked, person.kept, of_one) for one, of_one in said.items()}
    for one, verdict in by_itself.items():
        if verdict is Verdict.OPEN and person.full is not None and person.full.search(texts[one]) is not None:
            by_itself[one] = Verdict.MEANT
    # Without another one of the name, everybody of it is the one who is meant.
    is_alone = not any(verdict in {Verdict.ANOTHER, Verdict.UNSURE} for verdict in by_itself.values())
    # A relation without the name may be anybody's, where the one who is meant is known and no other.
    near = 0 if is_alone and Verdict.MEANT in by_itself.values() else distance
    found = dict(by_itself)
    for conversation in _conversations(lines):
        for line in conversation:
            if by_itself.get(line.turn_id) is Verdict.OPEN:
                found[line.turn_id] = _by_conversation(line, conversation, found, asked, person.kept, near)
    alone = Verdict.MEANT if is_alone or not person.asked else Verdict.UNSURE
    return {one: alone if verdict is Verdict.OPEN else verdict for one, verdict in found.items()}


def _with_what_else_is_said(asked: Described, said: Sequence[Described]) -> Described:
    """Who is meant, by what else a mention of them says: "Martha next door is my friend"."""
    if not asked:
        return asked
    for one in said:
        if fits(asked, one):
            asked = replace(asked, relations=asked.relations | one.relations, origin=asked.origin | one.origin)
    return asked


def _verdict(asked: Described, kept: Sequence[Described], said: Sequence[Described]) -> Verdict:
    if any(fits(one, mention) for one in kept for mention in said):
        return Verdict.ANOTHER
    known = [mention for mention in (_titled(asked, one) for one in said) if mention]
    if not known:
        return Verdict.OPEN
    if not asked or any(fits(asked, mention) for mention in known):
        return Verdict.MEANT
    return Verdict.ANOTHER if any(is_another(asked, mention) for mention in known) else Verdict.UNSURE


def _titled(asked: Described, said: Described) -> Described:
    """A mention with a title alone is of somebody else where the one who is meant has none: "Dr Martha"."""
    if not said.title or said or not asked or asked.title == said.title or asked.relations & _DOCTORS:
        return said
    return replace(said, relations=frozenset({said.title}))


def _conversations(lines: Sequence[Line]) -> list[list[Line]]:
    found: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda line: line.position):
        found.setdefault(line.conversation_id, []).append(line)
    return list(found.values())


def _by_conversation(
    line: Line,
    conversation: Sequence[Line],
    found: Mapping[str, Verdict],
    asked: Described,
    kept: Sequence[Described],
    distance: int,
) -> Verdict:
    """By the nearest turn before it that says who that is; else by those behind it, where they agree."""
    if asked.relations & relations_in(line.text):
        return Verdict.MEANT  # "Our neighbour has a dog, Martha walks it at six"
    for earlier in reversed([one for one in conversation if one.position < line.position]):
        verdict = found.get(earlier.turn_id)
        if verdict is not None and verdict is not Verdict.OPEN:
            return verdict
        if verdict is None and line.position - earlier.position <= distance and not earlier.is_assistant:
            relations = relations_in(earlier.text)
            if len(relations) == 1:
                verdict = _verdict(asked, kept, [Described(relations)])
                return Verdict.UNSURE if verdict is Verdict.ANOTHER else verdict
    behind = {found.get(one.turn_id, Verdict.OPEN) for one in conversation if one.position > line.position}
    return Verdict.MEANT if behind - {Verdict.OPEN} == {Verdict.MEANT} else Verdict.OPEN
