"""Memories that contradict each other and of which neither stands, by the policy or for the semantic tier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mneme.semantic.v1 import supersessions_pb2
from services.common.values.restatement.frames import is_negation
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.losses import Loss
from services.gateway.recall.choices import ConflictPolicy
from services.gateway.recall.model import (
    Conflict,
    ConflictKind,
    ConflictReason,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
)
from services.gateway.recall.superseded import Superseded, overlaps


@dataclass(frozen=True, slots=True)
class Standoff:
    """Memories of one kind that contradict each other."""

    kind: ConflictKind
    subject: str
    memory_kind: MemoryKind
    memory_ids: tuple[str, ...]

    def conflict(self, policy: ConflictPolicy) -> Conflict:
        """What is reported of it."""
        neither = ConflictReason.NEITHER
        kind = self.memory_kind
        return Conflict(self.kind, self.subject, "", kind, (), kind, policy, neither, self.memory_ids)


@dataclass(slots=True)
class Standoffs:
    """Those of a recall; collects what would have lost."""

    reduced: Superseded  # pairs of which neither stands, by the turns of either side
    reduces_all: bool  # by the policy
    sources: Mapping[str, Sequence[str]]  # turns by the memory that was made from them
    found: list[Standoff] = field(default_factory=list)

    def without(self, losses: Iterable[Loss]) -> list[Loss]:
        """The losses of which one side stands. Of two of one time, with nothing else between them, neither does."""
        left: list[Loss] = []
        for loss in losses:
            is_tie = loss.reason is ConflictReason.RANK
            if not self.reduces_all and not is_tie and not self._is_reduced(loss):
                left.append(loss)
            elif loss.winner_kind is loss.loser_kind:
                both = (loss.loser_id, loss.winner_id)
                self.found.append(Standoff(loss.kind, loss.subject, loss.loser_kind, both))
            else:
                self.found.append(Standoff(loss.kind, loss.subject, loss.loser_kind, (loss.loser_id,)))
        return left

    def _is_reduced(self, loss: Loss) -> bool:
        if not self.reduced:
            return False
        losers = self.sources.get(loss.loser_id, (loss.loser_id,))
        winners = frozenset(self.sources.get(loss.winner_id, (loss.winner_id,)))
        return any(
            not winners.isdisjoint((one.memory_id, one.superseded_by))
            for turn_id in losers
            for one in self.reduced.get(turn_id, ())
        )

    def conflicts(self, policy: ConflictPolicy, there: frozenset[str]) -> tuple[Conflict, ...]:
        """Those of which a memory is in the result, each pair once."""
        by_ids: dict[frozenset[str], Standoff] = {}
        for one in self.found:
            by_ids.setdefault(frozenset(one.memory_ids), one)
        return tuple(one.conflict(policy) for one in by_ids.values() if not there.isdisjoint(one.memory_ids))


def reduced_turns(memories: Sequence[RecalledMemory], reduced: Superseded) -> Iterator[Standoff]:
    """Turns with a statement that another one contradicts.

    The other turn is named where it is a candidate, or where it is the later one: who sees the earlier one sees that.
    """
    there = {memory.memory_id for memory in memories}
    for memory in memories:
        for one in reduced.get(memory.memory_id, ()):
            is_earlier = one.memory_id == memory.memory_id
            if is_earlier or one.memory_id not in there:
                both = (one.memory_id, one.superseded_by) if is_earlier else (one.superseded_by,)
                yield Standoff(_kind(one), _said(one, memory.memory_id), MemoryKind.EPISODE, both)


def reduced_facts(facts: Sequence[RecalledFact], reduced: Superseded) -> Iterator[Standoff]:
    """Facts from statements of which neither stands."""
    made = [(hit.memory_id, tuple(hit.fact.derived_from), hit.fact.text) for hit in facts]
    return _made_of_reduced(made, reduced, MemoryKind.FACT)


def reduced_notes(notes: Sequence[RecalledNote], reduced: Superseded) -> Iterator[Standoff]:
    """Notes on statements of which neither stands."""
    made = [(hit.memory_id, tuple(hit.note.derived_from), hit.note.content) for hit in notes]
    return _made_of_reduced(made, reduced, MemoryKind.NOTE)


def _made_of_reduced(
    made: Iterable[tuple[str, Sequence[str], str]], reduced: Superseded, memory_kind: MemoryKind
) -> Iterator[Standoff]:
    """The memories of each pair that say what its sides say, together."""
    by_pair: dict[str, tuple[ConflictKind, str, list[str]]] = {}
    for memory_id, sources, text in made if reduced else ():
        found = _contested(reduced, sources, text)
        if found is not None:
            one, said = found
            by_pair.setdefault(one.supersession_id, (_kind(one), said, []))[2].append(memory_id)
    for kind, said, memory_ids in by_pair.values():
        yield Standoff(kind, said, memory_kind, tuple(memory_ids))


def _contested(
    reduced: Superseded, sources: Sequence[str], text: str
) -> tuple[supersessions_pb2.Supersession, str] | None:
    """The pair and the side of it that a text repeats; None where it rests on a turn that nothing contradicts."""
    found: tuple[supersessions_pb2.Supersession, str] | None = None
    for source in sources:
        sides = ((one, _said(one, source)) for one in reduced.get(source, ()))
        found = next((side for side in sides if overlaps(side[1], text)), None)
        if found is None:
            return None
    return found


def _said(one: supersessions_pb2.Supersession, turn_id: str) -> str:
    """What a side of a pair says: only who sees that turn may read it."""
    return one.statement if one.memory_id == turn_id else one.standing_statement


def _kind(one: supersessions_pb2.Supersession) -> ConflictKind:
    return ConflictKind.NEGATION if is_negation(one.statement, one.standing_statement) else ConflictKind.VALUE
