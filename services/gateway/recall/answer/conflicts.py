"""Stage conflicts: turns and facts of an answer that contradict each other, and which of them stand.

Facts contradict each other where the semantic tier says so. Turns do where facts made from them do, and where the same
speaker denies what they said before or gives it another value (see claims.py). What loses is marked, and ranked behind
what stands; evidence is not thrown away unless that is asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2
from services.common.settings_types import CountOrNone, Share
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.claims import Claim, claims_of
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import Conflict, ConflictKind, RankedEpisode, RecalledMemory

PART: Final = "conflict"
"""The part of a score that puts a turn before one that it supersedes."""

_AGENTS: Final = frozenset((common_pb2.MESSAGE_ROLE_SYSTEM, common_pb2.MESSAGE_ROLE_TOOL))
_REASONS: Final = {
    ConflictPolicy.CONFIDENCE: "believed more",
    ConflictPolicy.IMPORTANCE: "more important",
    ConflictPolicy.USER_OVERRIDE: "chosen by the user",
}
_LATER: Final = "said later"
_NO_DIFFERENCE: Final = "both said at one time: ranked better"


@dataclass(frozen=True, slots=True)
class ConflictSettings:
    """What becomes of memories that contradict each other."""

    policy: ConflictPolicy = ConflictPolicy.RECENCY  # where a request names none
    drops_superseded: bool = False  # leave out what loses; else it is marked
    turns_max: CountOrNone = 50  # best turns whose texts are compared; 0 leaves it to facts
    turn_chars_max: CountOrNone = 2_000  # characters of a turn that are read
    confidence_unknown: Share = 0.5  # of a turn whose speaker told none


@dataclass(frozen=True, slots=True)
class Resolved:
    """An answer whose contradictions are settled."""

    memories: tuple[RecalledMemory, ...]
    facts: tuple[facts_pb2.ScoredFact, ...]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rival:
    """A turn or a fact, by what policies look at."""

    identifier: str
    rank: int  # place in the answer, from 0
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
class _Loss:
    """One thing that another one supersedes."""

    kind: ConflictKind
    memory_kind: MemoryKind
    subject: str
    winner_id: str
    loser_id: str
    reason: str


_Contradiction = tuple[ConflictKind, str]
"""How two things contradict each other, and about what."""


class ConflictResolution:
    """Finds contradictions in an answer and settles them. Needs nothing but the answer, and calls nobody."""

    def __init__(self, settings: ConflictSettings | None = None) -> None:
        """Settles by the settings where a request does not say how."""
        self._settings = settings or ConflictSettings()

    def __call__(
        self,
        memories: tuple[RecalledMemory, ...],
        facts: tuple[facts_pb2.ScoredFact, ...],
        choice: ConflictChoice | None = None,
    ) -> Resolved:
        """Settles the contradictions of an answer.

        Args:
            memories: Turns, best first.
            facts: Best first.
            choice: What the request says.

        Returns:
            The same turns and facts, unless what loses is dropped: each turn that stands is put before the best of
            those that it supersedes, with a part "conflict" in its score; all others keep their order.
        """
        chosen = choice or ConflictChoice()
        policy = chosen.policy or self._settings.policy
        among_facts = list(self._among_facts(facts, chosen, policy))
        lost = {loss.loser_id for loss in among_facts}
        # What turns say themselves counts before what was made of them.
        among_turns = [
            *self._among_turns(memories, chosen, policy),
            *_from_facts(memories, facts, among_facts),
        ]
        losses = [*_without_circles(among_turns), *among_facts]
        if not losses:
            return Resolved(memories, facts)
        memories = _lifted(memories, [(loss.winner_id, loss.loser_id) for loss in losses])
        if chosen.drops_superseded or self._settings.drops_superseded:
            gone = {loss.loser_id for loss in losses}
            facts = tuple(hit for hit in facts if hit.fact.fact_id not in gone)
            memories = tuple(
                replace(memory, fact_ids=tuple(fact_id for fact_id in memory.fact_ids if fact_id not in lost))
                for memory in memories
                if memory.ranked.episode_id not in gone
            )
        return Resolved(memories, facts, _conflicts(losses, policy))

    @staticmethod
    def _among_facts(
        facts: Sequence[facts_pb2.ScoredFact], chosen: ConflictChoice, policy: ConflictPolicy
    ) -> Iterator[_Loss]:
        rivals = [
            _Rival(
                identifier=hit.fact.fact_id,
                rank=rank,
                said_seconds=_seconds(hit.fact.last_confirmed_time.seconds, hit.fact.last_confirmed_time.nanos),
                confidence=hit.fact.confidence,
                importance=hit.fact.importance,
                is_preferred=not chosen.preferred.isdisjoint((hit.fact.fact_id, *hit.fact.derived_from)),
                is_over=hit.fact.HasField("valid_to_time"),
            )
            for rank, hit in enumerate(facts)
            if hit.fact.contradictions
        ]

        one_valued = _one_valued([facts[rival.rank].fact for rival in rivals])

        def contradict(one: _Rival, other: _Rival) -> _Contradiction | None:
            return _facts_contradict(facts[one.rank].fact, facts[other.rank].fact, one_valued)

        return _settled(rivals, contradict, MemoryKind.FACT, policy)

    def _among_turns(
        self, memories: Sequence[RecalledMemory], chosen: ConflictChoice, policy: ConflictPolicy
    ) -> Iterator[_Loss]:
        """Contradictions between what speakers say of themselves, topic by topic."""
        claimed: dict[tuple[str, str], list[tuple[_Rival, Claim]]] = defaultdict(list)
        for rank, memory in enumerate(memories[: self._settings.turns_max]):
            who = _claimant(memory.episode)
            if who is None:
                continue
            claims = claims_of(_said(memory.episode)[: self._settings.turn_chars_max])
            if claims:
                rival = self._turn(memory, rank, chosen)
                for claim in claims:
                    claimed[who, claim.topic].append((rival, claim))
        for (who, topic), told in claimed.items():
            if len(told) > 1:
                subject = f"{who} {topic}" if who else topic
                contradict = _by_claims({rival.rank: claim for rival, claim in told}, subject)
                yield from _settled([rival for rival, _ in told], contradict, MemoryKind.EPISODE, policy)

    def _turn(self, memory: RecalledMemory, rank: int, chosen: ConflictChoice) -> _Rival:
        said = memory.episode
        return _Rival(
            identifier=memory.ranked.episode_id,
            rank=rank,
            said_seconds=_seconds(said.time.seconds, said.time.nanos),
            confidence=said.confidence if said.HasField("confidence") else self._settings.confidence_unknown,
            importance=said.importance,
            is_preferred=not chosen.preferred.isdisjoint((memory.ranked.episode_id, *memory.fact_ids)),
        )


def _by_claims(claims: dict[int, Claim], subject: str) -> Callable[[_Rival, _Rival], _Contradiction | None]:
    def contradict(one: _Rival, other: _Rival) -> _Contradiction | None:
        if one.rank == other.rank or not claims[one.rank].contradicts(claims[other.rank]):
            return None
        return (ConflictKind.VALUE if claims[one.rank].value else ConflictKind.NEGATION), subject

    return contradict


def _settled(
    rivals: Sequence[_Rival],
    contradict: Callable[[_Rival, _Rival], _Contradiction | None],
    memory_kind: MemoryKind,
    policy: ConflictPolicy,
) -> Iterator[_Loss]:
    """What loses: whatever contradicts something that stands and is better by the policy."""
    standing: list[_Rival] = []
    for rival in sorted(rivals, key=lambda rival: rival.order(policy)):
        for winner in standing:
            found = contradict(winner, rival)
            if found is not None:
                reason = _reason(winner, rival, policy)
                yield _Loss(found[0], memory_kind, found[1], winner.identifier, rival.identifier, reason)
                break
        else:
            standing.append(rival)


def _reason(winner: _Rival, loser: _Rival, policy: ConflictPolicy) -> str:
    if winner.strength(policy) > loser.strength(policy):
        return _REASONS[policy]
    if winner.is_over != loser.is_over:
        return "the other holds no more"
    return _LATER if winner.said_seconds > loser.said_seconds else _NO_DIFFERENCE


def _one_valued(facts: Sequence[facts_pb2.Fact]) -> frozenset[tuple[str, str]]:
    """Subjects and predicates that have one value at a time: two facts of each exclude each other, says the tier."""
    return frozenset(
        (one.subject, one.predicate)
        for one in facts
        for other in facts
        if other.fact_id in one.contradictions and one.subject == other.subject and one.predicate == other.predicate
    )


def _facts_contradict(
    one: facts_pb2.Fact, other: facts_pb2.Fact, one_valued: frozenset[tuple[str, str]]
) -> _Contradiction | None:
    """By the links of the semantic tier. These join neighbours in time; others of one attribute are joined here."""
    is_linked = other.fact_id in one.contradictions or one.fact_id in other.contradictions
    attribute = (one.subject, one.predicate)
    shares_attribute = attribute == (other.subject, other.predicate) and attribute in one_valued
    if not is_linked and not (shares_attribute and _differ(one.object, other.object)):
        return None
    if one.predicate != other.predicate:
        return ConflictKind.NEGATION, f"{one.subject} {_words(one.predicate)} {one.object}".strip()
    return ConflictKind.VALUE, f"{one.subject} {_words(one.predicate)}".strip()


def _from_facts(
    memories: Sequence[RecalledMemory], facts: Sequence[facts_pb2.ScoredFact], among_facts: Iterable[_Loss]
) -> Iterator[_Loss]:
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
        turns = (other.ranked.episode_id for other in memories if other.ranked.episode_id in of_winner)
        yield replace(
            loss,
            memory_kind=MemoryKind.EPISODE,
            winner_id=next(turns, loss.winner_id),
            loser_id=identifier,
        )


def _without_circles(losses: Iterable[_Loss]) -> Iterator[_Loss]:
    """Each turn loses to another one once, and not to one that it supersedes in something else."""
    seen: set[tuple[str, str]] = set()
    for loss in losses:
        pair = (loss.winner_id, loss.loser_id)
        if pair not in seen and pair[::-1] not in seen:
            seen.add(pair)
            yield loss


def _lifted(memories: Sequence[RecalledMemory], pairs: Iterable[tuple[str, str]]) -> tuple[RecalledMemory, ...]:
    """The turns with each winner before its losers; the score of one that is lifted is that of the best of them."""
    order = list(memories)
    for winner_id, loser_id in pairs:
        places = {memory.ranked.episode_id: place for place, memory in enumerate(order)}
        winner, loser = places.get(winner_id), places.get(loser_id)
        if winner is None or loser is None or winner < loser:
            continue
        lifted = order.pop(winner)
        ranked = _raised(lifted.ranked, order[loser].ranked.score)
        order.insert(loser, replace(lifted, ranked=ranked))
    return tuple(order)


def _raised(ranked: RankedEpisode, score: float) -> RankedEpisode:
    before = dict(ranked.parts)
    before[PART] = before.get(PART, 0.0) + score - ranked.score
    return replace(ranked, score=score, parts=tuple(before.items()))


def _conflicts(losses: Iterable[_Loss], policy: ConflictPolicy) -> tuple[Conflict, ...]:
    """The losses to one winner about one thing, together."""
    grouped: dict[tuple[ConflictKind, MemoryKind, str, str, str], list[str]] = defaultdict(list)
    for loss in losses:
        grouped[loss.kind, loss.memory_kind, loss.subject, loss.winner_id, loss.reason].append(loss.loser_id)
    return tuple(
        Conflict(kind, memory_kind, subject, winner_id, tuple(loser_ids), policy, reason)
        for (kind, memory_kind, subject, winner_id, reason), loser_ids in grouped.items()
    )


def _claimant(episode: episodic_pb2.Episode) -> str | None:
    """Who speaks of themselves: a name, or "" for a user without one; None for an agent: its words claim nothing."""
    if episode.role in _AGENTS:
        return None
    return episode.speaker if episode.speaker or episode.role == common_pb2.MESSAGE_ROLE_USER else None


def _said(episode: episodic_pb2.Episode) -> str:
    """What the speaker said: of a query with its response, the query."""
    return episode.query or episode.response


def _differ(one: str, other: str) -> bool:
    words, others = set(one.casefold().split()), set(other.casefold().split())
    return not (words <= others or others <= words)


def _words(predicate: str) -> str:
    return predicate.replace("_", " ")


def _seconds(seconds: int, nanos: int) -> float:
    return seconds + nanos / 1e9
