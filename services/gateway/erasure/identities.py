"""Of whom and of what the turns are that a query chose: namesakes, other things of the kind, what it excepts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.scope import Scope
from services.gateway.erasure.exceptions import is_kept, read_kept
from services.gateway.erasure.followups import Line
from services.gateway.erasure.model import ErasureSettings, Planned
from services.gateway.erasure.namesakes import Person, Verdict, persons_of, verdicts
from services.gateway.erasure.naming import is_name
from services.gateway.erasure.queries import Wanted
from services.gateway.erasure.relations import mentions
from services.gateway.erasure.same_matter import Thing, same_matter, thing_of
from services.gateway.erasure.store import LoggedTurns
from services.gateway.erasure.wording import Chosen, has, words_of
from services.gateway.grants.model import MemoryKind

_STAYS: Final = {Verdict.ANOTHER: Chosen.ANOTHER, Verdict.UNSURE: Chosen.UNSURE}


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a query means of what its words chose."""

    memories: list[Planned]
    left: list[Planned]  # turns that have what it names, and stay
    apart: frozenset[str] = frozenset()  # ids of turns of another one: no follow-ups

    def beside(self, others: Sequence[Planned]) -> Narrowed:
        """The same, with turns that are known to be of something else."""
        turns = [replace(one, reason=Chosen.ANOTHER) for one in others if one.kind is MemoryKind.EPISODE]
        return replace(self, left=[*self.left, *turns], apart=self.apart | {one.memory_id for one in turns})


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, in plain words and as it was read."""

    text: str
    wanted: Wanted
    kept: tuple[str, ...] = ()  # what it says must stay


class Identities:
    """Asks the log what the conversations say of whom and of what a turn is."""

    def __init__(self, turns: LoggedTurns, settings: ErasureSettings) -> None:
        """Reads the log."""
        self._turns = turns
        self._settings = settings

    async def narrowed(
        self,
        tenant_id: str,
        user_id: str,
        asked: Asked,
        found: Sequence[Planned],
        chosen: Sequence[Planned],
        *,
        reader: Scope | None,
    ) -> Narrowed:
        """Leaves what is of another person or thing than the query means, and adds what is of the same thing.

        Args:
            tenant_id: Whose.
            user_id: Whose.
            asked: The query.
            found: All that has words of the query.
            chosen: What its words choose.
            reader: Limits what is read of the log.
        """
        narrowed = Narrowed(list(chosen), [])
        persons = persons_of(asked.text, asked.wanted, asked.kept)
        if persons:
            about = [p for p in found if any(_names(p.text, person) for person in persons)]
            lines = await self._lines(tenant_id, user_id, about, reader, before=self._settings.follow_up_turns)
            narrowed = of_persons(persons, about, narrowed.memories, lines, self._settings.follow_up_turns)
        thing = thing_of(asked.text, asked.wanted)
        if thing is not None:
            of_kind = [p for p in found if p.kind is MemoryKind.EPISODE and has(list(words_of(p.text)), thing.head)]
            lines = await self._lines(tenant_id, user_id, of_kind, reader, before=0)
            narrowed = of_thing(thing, of_kind, narrowed, lines)
        return without_kept(asked.kept, narrowed)

    async def _lines(
        self, tenant_id: str, user_id: str, planned: Sequence[Planned], reader: Scope | None, *, before: int
    ) -> list[Line]:
        """The turns in their conversations, and those before them."""
        ids = [one.memory_id for one in planned if one.kind is MemoryKind.EPISODE]
        if not ids:
            return []
        limit = (before + 1) * (self._settings.memories_max + 1)
        around = await self._turns.turns_around(
            tenant_id, user_id, ids, before=before, behind=0, reader=reader, limit=limit
        )
        return [line for _, line in around]


def _names(text: str, person: Person) -> bool:
    """Whether a text has the name, and not the word that it is too: "Hope it rains"."""
    words = list(words_of(text))
    is_word = not any(is_name(words, place, tuple(person.names)) for place in range(len(words)))
    return bool(mentions(text, person.names)) and not is_word


def of_persons(
    persons: Sequence[Person],
    about: Sequence[Planned],
    chosen: Sequence[Planned],
    lines: Sequence[Line],
    distance: int,
) -> Narrowed:
    """Returns what is of one of the persons, or of nobody of the name."""
    found: dict[str, list[Verdict]] = {}
    turns = {p.memory_id: p.text for p in about if p.kind is MemoryKind.EPISODE}
    for person in persons:
        of_turns = verdicts(person, turns, lines, distance)
        is_alone = Verdict.ANOTHER not in of_turns.values() and Verdict.UNSURE not in of_turns.values()
        for one, verdict in of_turns.items():
            found.setdefault(one, []).append(verdict)
        for planned in about:
            if planned.kind is not MemoryKind.EPISODE and mentions(planned.text, person.names):
                verdict = _of_derived(person, planned, of_turns, is_alone=is_alone)
                found.setdefault(planned.memory_id, []).append(verdict)
    memories, left = list[Planned](), list[Planned]()
    for planned in chosen:
        of_planned = found.get(planned.memory_id, [Verdict.MEANT])
        if Verdict.MEANT in of_planned:
            memories.append(planned)
        elif planned.kind is MemoryKind.EPISODE:
            left.append(replace(planned, reason=_STAYS[of_planned[0]]))
    apart = frozenset(one for one, of_one in found.items() if Verdict.MEANT not in of_one)
    return Narrowed(memories, left, apart)


def _of_derived(person: Person, planned: Planned, of_turns: Mapping[str, Verdict], *, is_alone: bool) -> Verdict:
    """Of whom a fact or a note is: of whom its turns are. What turns that go gave rise to goes with them anyway."""
    of_sources = {of_turns[one] for one in planned.sources if one in of_turns}
    if of_sources:
        return Verdict.MEANT if of_sources == {Verdict.MEANT} else Verdict.ANOTHER
    if is_alone:
        return Verdict.MEANT if _is_of_no_other(person, planned) else Verdict.ANOTHER
    (verdict,) = verdicts(person, {planned.memory_id: planned.text}, (), 0).values()
    has_said = any(mentions(planned.text, person.names))
    return verdict if has_said or not person.asked else Verdict.UNSURE


def _is_of_no_other(person: Person, planned: Planned) -> bool:
    return Verdict.ANOTHER not in verdicts(person, {planned.memory_id: planned.text}, (), 0).values()


def of_thing(thing: Thing, of_kind: Sequence[Planned], narrowed: Narrowed, lines: Sequence[Line]) -> Narrowed:
    """Returns what is of the thing that a query names, and not of another one of its kind."""
    texts = {p.memory_id: p.text for p in of_kind}
    left_already = {p.memory_id for p in narrowed.left}
    matter = same_matter(thing, {p.memory_id for p in narrowed.memories}, texts, lines)
    memories = [p for p in narrowed.memories if p.memory_id not in matter.another]
    left = [replace(p, reason=Chosen.ANOTHER) for p in narrowed.memories if p.memory_id in matter.another]
    ids = {p.memory_id for p in memories}
    further = [p for p in of_kind if p.memory_id not in ids | left_already]
    memories += [replace(p, reason=Chosen.WORDS) for p in further if p.memory_id in matter.same]
    left += [replace(p, reason=Chosen.UNSURE) for p in further if p.memory_id in matter.unsure]
    return Narrowed(memories, [*narrowed.left, *left], narrowed.apart | matter.apart)


def without_kept(kept: Collection[str], narrowed: Narrowed) -> Narrowed:
    """Returns what goes without what the query says must stay."""
    wanted = read_kept(tuple(kept))
    staying = [p for p in narrowed.memories if is_kept(wanted, p.text)]
    ids = {p.memory_id for p in staying}
    left = [replace(p, reason=Chosen.EXCEPTED) for p in staying if p.kind is MemoryKind.EPISODE]
    memories = [p for p in narrowed.memories if p.memory_id not in ids]
    return Narrowed(memories, [*narrowed.left, *left], narrowed.apart)
