"""What loses a contradiction: to another candidate by a policy, with its sources, or to a later statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from mneme.semantic.v1 import facts_pb2, supersessions_pb2
from services.common.knowledge.slots import slot_of
from services.common.values.beside import is_beside
from services.common.values.restatement.frames import is_negation
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.claims import Claim
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import (
    ConflictKind,
    ConflictReason,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
)
from services.gateway.recall.superseded import Superseded, covering, quoted

POLICY_REASONS: Final = {
    ConflictPolicy.CONFIDENCE: ConflictReason.CONFIDENCE,
    ConflictPolicy.IMPORTANCE: ConflictReason.IMPORTANCE,
    ConflictPolicy.USER_OVERRIDE: ConflictReason.USER_CHOICE,
}
"""Why something stands, by the policies that look at something before time."""
Reasons: TypeAlias = Mapping[str, ConflictReason]
"""Why a stored pair stands as it does, by its id, where a policy settled it; of others the later side stands."""
_BY_TIME: Final[Reasons] = {}


@dataclass(frozen=True, slots=True)
class Rival:
    """A turn, fact or note, by what policies look at."""

    identifier: str
    rank: int  # place among the candidates of its kind, from 0
    said_seconds: float  # when it was said last, since the epoch
    confidence: float
    importance: float
    is_preferred: bool
    is_over: bool = False  # known to hold no more

    def strength(self, policy: ConflictPolicy) -> float:
        """What the policy looks at before time."""
        if policy is ConflictPolicy.CONFIDENCE:
            return self.confidence
        if policy is ConflictPolicy.IMPORTANCE:
            return self.importance
        return float(self.is_preferred) if policy is ConflictPolicy.USER_OVERRIDE else 0.0

    def order(self, policy: ConflictPolicy) -> tuple[float, bool, float, int]:
        """Sorts what stands first."""
        return (-self.strength(policy), self.is_over, -self.said_seconds, self.rank)


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that another one supersedes."""

    kind: ConflictKind
    subject: str
    winner_id: str
    winner_kind: MemoryKind
    loser_id: str
    loser_kind: MemoryKind
    reason: ConflictReason


Contradiction = tuple[ConflictKind, str]
"""How two things contradict each other, and about what."""


def stored_turns(
    memories: Sequence[RecalledMemory], stored: Superseded, chosen: ConflictChoice, reasons: Reasons = _BY_TIME
) -> Iterator[Loss]:
    """Turns with a statement that is known to hold no more."""
    for memory in memories:
        for one in stored.get(memory.memory_id, ()):
            if not _prefers(chosen, [memory.memory_id, *memory.fact_ids], one):
                yield _stored_loss(one, memory.memory_id, MemoryKind.EPISODE, reasons)


def stored_facts(
    facts: Sequence[RecalledFact], stored: Superseded, chosen: ConflictChoice, reasons: Reasons = _BY_TIME
) -> Iterator[Loss]:
    """Facts from statements that are known to hold no more; they lose to a fact of the turn that stands, or to it.

    Where a part of a turn is corrected the semantic tier knows which of its facts that is about.
    """
    for hit in facts:
        one = covering(stored, hit.fact.derived_from, hit.fact.text)
        if one is None or (not hit.fact.superseded_by and _leaves(hit.fact, one)):
            continue
        if _prefers(chosen, [hit.memory_id, *hit.fact.derived_from], one):
            continue
        loss = _stored_loss(one, hit.memory_id, MemoryKind.FACT, reasons)
        of_winner = (other.memory_id for other in facts if one.superseded_by in other.fact.derived_from)
        winner_id = next((found for found in of_winner if found != hit.memory_id), "")
        yield replace(loss, winner_id=winner_id, winner_kind=MemoryKind.FACT) if winner_id else loss


def _leaves(fact: facts_pb2.Fact, one: supersessions_pb2.Supersession) -> bool:
    """Whether a fact stands beside what superseded its sentence."""
    if one.reason == supersessions_pb2.SUPERSESSION_REASON_CORRECTED:
        return not one.whole_turn
    return is_beside(fact.text, one.statement, f"{one.standing_statement} {one.premise}", subject=fact.subject)


def stored_notes(
    notes: Sequence[RecalledNote],
    stored: Superseded,
    chosen: ConflictChoice,
    reasons: Reasons = _BY_TIME,
    *,
    quotable: Superseded | None = None,
) -> Iterator[Loss]:
    """Notes on statements that are known to hold no more, and those that quote one of `quotable`."""
    for recalled in notes:
        note = recalled.note
        found = quoted(stored if quotable is None else quotable, note.content)
        one = covering(stored, note.derived_from, note.content) or found
        if one is not None and not _prefers(chosen, [note.note_id, *note.derived_from], one):
            yield _stored_loss(one, note.note_id, MemoryKind.NOTE, reasons)


def _stored_loss(one: supersessions_pb2.Supersession, loser_id: str, loser_kind: MemoryKind, reasons: Reasons) -> Loss:
    denies = bool(one.standing_statement) and is_negation(one.statement, one.standing_statement)
    kind = ConflictKind.NEGATION if denies else ConflictKind.VALUE
    reason = reasons.get(one.supersession_id, ConflictReason.LATER)
    return Loss(kind, one.statement, one.superseded_by, MemoryKind.EPISODE, loser_id, loser_kind, reason)


def _prefers(chosen: ConflictChoice, losers: Sequence[str], one: supersessions_pb2.Supersession) -> bool:
    """Whether the user has decided for the side that is marked."""
    return not chosen.preferred.isdisjoint(losers) and one.superseded_by not in chosen.preferred


Claimed = dict[tuple[str, str], list[tuple[Rival, Claim]]]
"""Claims with those who make them, by speaker and topic."""


def settled_claims(claimed: Claimed, memory_kind: MemoryKind, policy: ConflictPolicy) -> Iterator[Loss]:
    """What loses among the claims of one speaker on one topic."""
    for (who, topic), made in claimed.items():
        if len(made) > 1:
            subject = f"{who} {topic}" if who else topic
            contradict = _by_claims({rival.rank: claim for rival, claim in made}, subject)
            yield from settled([rival for rival, _ in made], contradict, memory_kind, policy)


def _by_claims(claims: dict[int, Claim], subject: str) -> Callable[[Rival, Rival], Contradiction | None]:
    def contradict(one: Rival, other: Rival) -> Contradiction | None:
        if one.rank == other.rank or not claims[one.rank].contradicts(claims[other.rank]):
            return None
        return (ConflictKind.VALUE if claims[one.rank].value else ConflictKind.NEGATION), subject

    return contradict


def settled(
    rivals: Sequence[Rival],
    contradict: Callable[[Rival, Rival], Contradiction | None],
    memory_kind: MemoryKind,
    policy: ConflictPolicy,
) -> Iterator[Loss]:
    """What loses: whatever contradicts something that stands and is better by the policy."""
    standing: list[Rival] = []
    for rival in sorted(rivals, key=lambda rival: rival.order(policy)):
        for winner in standing:
            found = contradict(winner, rival)
            if found is not None:
                reason = _reason(winner, rival, policy)
                yield Loss(*found, winner.identifier, memory_kind, rival.identifier, memory_kind, reason)
                break
        else:
            standing.append(rival)


def _reason(winner: Rival, loser: Rival, policy: ConflictPolicy) -> ConflictReason:
    if winner.strength(policy) > loser.strength(policy):
        return POLICY_REASONS[policy]
    if winner.is_over != loser.is_over:
        return ConflictReason.STILL_VALID
    return ConflictReason.LATER if winner.said_seconds > loser.said_seconds else ConflictReason.RANK


def linked_facts(facts: Sequence[facts_pb2.Fact]) -> Mapping[str, str]:
    """Facts of one subject and predicate that the tier has linked, directly or by way of others: the same id for each.

    Only by way of links: that somebody has three pianos and not two says nothing of the boat that they have.
    """
    chains = {fact.fact_id: fact.fact_id for fact in facts}
    by_id = {fact.fact_id: fact for fact in facts}
    for one in facts:
        for other in map(by_id.get, one.contradictions):
            if other is not None and one.object and _attribute(one) == _attribute(other):
                former, chain = chains[other.fact_id], chains[one.fact_id]
                chains.update({fact_id: chain for fact_id, found in chains.items() if found == former})
    return chains


def facts_contradict(one: facts_pb2.Fact, other: facts_pb2.Fact, chains: Mapping[str, str]) -> Contradiction | None:
    """By the links of the semantic tier. These join neighbours in time; others of one chain are joined here.

    Facts of two scopes, which the tier links where readers of the earlier one see the later one, are compared by slot.
    """
    if one.scope != other.scope and (found := _by_slot(one, other)) is not None:
        return found
    is_linked = other.fact_id in one.contradictions or one.fact_id in other.contradictions
    is_in_chain = chains[one.fact_id] == chains[other.fact_id]
    if not is_linked and not (is_in_chain and _differ(one.object, other.object)):
        return None
    if not (one.predicate and other.predicate):
        return ConflictKind.VALUE, one.text
    if _attribute(one) != _attribute(other):
        return ConflictKind.NEGATION, f"{one.subject} {_words(one.predicate)} {one.object}".strip()
    return ConflictKind.VALUE, f"{one.subject} {_words(one.predicate)}".strip()


def _by_slot(one: facts_pb2.Fact, other: facts_pb2.Fact) -> Contradiction | None:
    """Two values of a slot that takes one, or yes and no of the same."""
    if not (one.object and other.object) or one.subject.casefold() != other.subject.casefold():
        return None
    first, second = slot_of(one.predicate), slot_of(other.predicate)
    if not first.name or first.name != second.name:
        return None
    if first.is_denied != second.is_denied:
        is_same = one.object.casefold() == other.object.casefold()
        subject = f"{one.subject} {_words(first.name)} {one.object}".strip()
        return (ConflictKind.NEGATION, subject) if is_same else None
    if first.takes_one and not first.is_denied and _differ(one.object, other.object):
        return ConflictKind.VALUE, f"{one.subject} {_words(first.name)}".strip()
    return None


def from_facts(
    memories: Sequence[RecalledMemory], facts: Sequence[RecalledFact], among_facts: Iterable[Loss]
) -> Iterator[Loss]:
    """Turns that lose since all the facts lose that were made from them."""
    sources = {hit.fact.fact_id: frozenset(hit.fact.derived_from) for hit in facts}
    losses = {loss.loser_id: loss for loss in among_facts}
    for memory in memories:
        identifier = memory.ranked.episode_id
        lost = [losses[fact_id] for fact_id in memory.fact_ids if fact_id in losses]
        if not lost or len(lost) < len(memory.fact_ids):
            continue
        loss = lost[0]
        of_winner = sources[loss.winner_id] - sources[loss.loser_id]
        winner_id = next((other.memory_id for other in memories if other.memory_id in of_winner), "")
        yield replace(
            loss,
            winner_id=winner_id or loss.winner_id,
            winner_kind=MemoryKind.EPISODE if winner_id else MemoryKind.FACT,
            loser_id=identifier,
            loser_kind=MemoryKind.EPISODE,
        )


def from_turns(notes: Sequence[RecalledNote], among_turns: Iterable[Loss]) -> Iterator[Loss]:
    """Notes that lose since all the turns lose that they were made from."""
    losses = {loss.loser_id: loss for loss in among_turns}
    for recalled in notes:
        sources = recalled.note.derived_from
        if sources and all(source in losses for source in sources):
            loss = losses[sources[0]]
            yield replace(loss, loser_id=recalled.memory_id, loser_kind=MemoryKind.NOTE)


def without_circles(losses: Iterable[Loss]) -> Iterator[Loss]:
    """Each memory loses to another one once, and not to one that it supersedes in something else."""
    seen: set[tuple[str, str]] = set()
    for loss in losses:
        pair = (loss.winner_id, loss.loser_id)
        if pair not in seen and pair[::-1] not in seen:
            seen.add(pair)
            yield loss


def _attribute(fact: facts_pb2.Fact) -> tuple[str, str]:
    return fact.subject.casefold(), _words(fact.predicate).casefold()


def _differ(one: str, other: str) -> bool:
    words, others = set(one.casefold().split()), set(other.casefold().split())
    return not (words <= others or others <= words)


def _words(predicate: str) -> str:
    return predicate.replace("_", " ")
