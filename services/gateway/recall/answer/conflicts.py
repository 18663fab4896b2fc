"""Stage conflicts: candidates that contradict each other, and which of them stand.

Facts contradict each other where the semantic tier has linked them. Turns do where the facts made from them do, and
where the same speaker denies what they said before or gives it another value (see claims.py); notes by what they quote.
A note also loses where all turns lose that it was made from. A loser is marked, and ranked behind what stands, unless
the request drops it. This happens before the candidates are cut to the limit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2, supersessions_pb2
from services.common.settings_types import CountOrNone, Share
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.claims import Claim, claims_of
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import (
    Conflict,
    ConflictKind,
    ConflictReason,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    ScorePart,
)
from services.gateway.recall.superseded import Superseded, covering

PART: Final = "conflict"
"""The part of a score that puts a turn before one that it supersedes."""

_AGENTS: Final = frozenset((common_pb2.MESSAGE_ROLE_SYSTEM, common_pb2.MESSAGE_ROLE_TOOL))
_REASONS: Final = {
    ConflictPolicy.CONFIDENCE: ConflictReason.CONFIDENCE,
    ConflictPolicy.IMPORTANCE: ConflictReason.IMPORTANCE,
    ConflictPolicy.USER_OVERRIDE: ConflictReason.USER_CHOICE,
}


@dataclass(frozen=True, slots=True)
class ConflictSettings:
    """What becomes of memories that contradict each other."""

    policy: ConflictPolicy = ConflictPolicy.RECENCY  # where a request names none
    drops_superseded: bool = False  # leave out what loses; else it is marked
    turns_max: CountOrNone = 50  # best turns, and notes, whose texts are compared; 0 leaves it to facts
    candidates: CountOrNone = 10  # turns beyond the limit that take part
    turn_chars_max: CountOrNone = 2_000  # characters of a turn that are read
    confidence_unknown: Share = 0.5  # of a turn without a confidence


@dataclass(frozen=True, slots=True)
class Resolved:
    """Candidates whose contradictions are settled."""

    memories: tuple[RecalledMemory, ...]
    facts: tuple[RecalledFact, ...]
    notes: tuple[RecalledNote, ...]
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rival:
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
class _Loss:
    """One thing that another one supersedes."""

    kind: ConflictKind
    subject: str
    winner_id: str
    winner_kind: MemoryKind
    loser_id: str
    loser_kind: MemoryKind
    reason: ConflictReason


_Hit = TypeVar("_Hit", RecalledMemory, RecalledNote)
_Contradiction = tuple[ConflictKind, str]
"""How two things contradict each other, and about what."""


class ConflictResolution:
    """Finds contradictions among candidates and settles them. A pure function of these."""

    def __init__(self, settings: ConflictSettings | None = None) -> None:
        """Settles by the settings where a request does not say how."""
        self._settings = settings or ConflictSettings()

    def candidate_count(self, limit: int) -> int:
        """How many turns take part where `limit` are wanted."""
        return limit + self._settings.candidates

    def __call__(
        self,
        memories: tuple[RecalledMemory, ...],
        facts: tuple[RecalledFact, ...],
        choice: ConflictChoice | None = None,
        *,
        notes: tuple[RecalledNote, ...] = (),
        limit: int | None = None,
        superseded: Superseded | None = None,
    ) -> Resolved:
        """Settles the contradictions among candidates.

        Args:
            memories: Turns, best first.
            facts: Best first.
            choice: What the request says.
            notes: Best first.
            limit: How many turns are wanted; all where None.
            superseded: Statements that the semantic tier knows to hold no more, by turn.

        Returns:
            The best turns, the facts and the notes, without losers where these are dropped. A turn that stands is put
            before the best of those that it supersedes, with a part "conflict" in its score; so are notes. All others
            keep their order. Conflicts name at least one memory of the result.
        """
        chosen = choice or ConflictChoice()
        policy = chosen.policy or self._settings.policy
        among_facts = list(self._among_facts(facts, chosen, policy))
        # What turns say themselves counts before what was made of them.
        among_turns = [
            *self._among_turns(memories, chosen, policy),
            *_from_facts(memories, facts, among_facts),
        ]
        among_notes = [*self._among_notes(notes, chosen, policy), *_from_turns(notes, among_turns)]
        stored = superseded or {}
        losses = [
            *_without_circles([*_stored_turns(memories, stored, chosen), *among_turns]),
            *_stored_facts(facts, stored, chosen),
            *among_facts,
            *_without_circles([*_stored_notes(notes, stored, chosen), *among_notes]),
        ]
        if not losses:
            return Resolved(memories[:limit], facts, notes)
        pairs = [(loss.winner_id, loss.loser_id) for loss in losses]
        memories, notes = _lifted(memories, pairs, _raised_memory), _lifted(notes, pairs, _raised_note)
        if chosen.drops_superseded or self._settings.drops_superseded:
            gone = {loss.loser_id for loss in losses}
            facts = tuple(fact for fact in facts if fact.memory_id not in gone)
            notes = tuple(note for note in notes if note.memory_id not in gone)
            memories = tuple(
                replace(
                    memory,
                    fact_ids=tuple(i for i in memory.fact_ids if i not in gone),
                    note_ids=tuple(i for i in memory.note_ids if i not in gone),
                )
                for memory in memories
                if memory.memory_id not in gone
            )
        memories = memories[:limit]
        there = {hit.memory_id for hits in (memories, facts, notes) for hit in hits}
        reported = [loss for loss in losses if not there.isdisjoint((loss.winner_id, loss.loser_id))]
        return Resolved(memories, facts, notes, _conflicts(reported, policy))

    @staticmethod
    def _among_facts(facts: Sequence[RecalledFact], chosen: ConflictChoice, policy: ConflictPolicy) -> Iterator[_Loss]:
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

    def _among_notes(
        self, notes: Sequence[RecalledNote], chosen: ConflictChoice, policy: ConflictPolicy
    ) -> Iterator[_Loss]:
        """Contradictions between the turns that notes quote."""
        claimed: _Claimed = defaultdict(list)
        for rank, recalled in enumerate(notes[: self._settings.turns_max]):
            speaker, colon, said = recalled.note.content[: self._settings.turn_chars_max].partition(": ")
            claims = claims_of(said) if colon else ()
            if claims:
                rival = self._note(recalled, rank, chosen)
                for claim in claims:
                    claimed[speaker, claim.topic].append((rival, claim))
        yield from _settled_claims(claimed, MemoryKind.NOTE, policy)

    def _among_turns(
        self, memories: Sequence[RecalledMemory], chosen: ConflictChoice, policy: ConflictPolicy
    ) -> Iterator[_Loss]:
        """Contradictions between what speakers say of themselves, topic by topic."""
        claimed: _Claimed = defaultdict(list)
        for rank, memory in enumerate(memories[: self._settings.turns_max]):
            who = _claimant(memory.episode)
            if who is None:
                continue
            claims = claims_of(_said(memory.episode)[: self._settings.turn_chars_max])
            if claims:
                rival = self._turn(memory, rank, chosen)
                for claim in claims:
                    claimed[who, claim.topic].append((rival, claim))
        yield from _settled_claims(claimed, MemoryKind.EPISODE, policy)

    def _note(self, recalled: RecalledNote, rank: int, chosen: ConflictChoice) -> _Rival:
        note = recalled.note
        return _Rival(
            identifier=note.note_id,
            rank=rank,
            said_seconds=_seconds(note.time.seconds, note.time.nanos),
            confidence=self._settings.confidence_unknown,
            importance=note.importance,
            is_preferred=not chosen.preferred.isdisjoint((note.note_id, *note.derived_from)),
        )

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


def _stored_turns(memories: Sequence[RecalledMemory], stored: Superseded, chosen: ConflictChoice) -> Iterator[_Loss]:
    """Turns with a statement that is known to hold no more."""
    for memory in memories:
        for one in stored.get(memory.memory_id, ()):
            if not _prefers(chosen, [memory.memory_id, *memory.fact_ids], one):
                yield _stored_loss(one, memory.memory_id, MemoryKind.EPISODE)


def _stored_facts(facts: Sequence[RecalledFact], stored: Superseded, chosen: ConflictChoice) -> Iterator[_Loss]:
    """Facts from statements that are known to hold no more; they lose to a fact of the turn that stands, or to it."""
    for hit in facts:
        one = covering(stored, hit.fact.derived_from, hit.fact.text)
        if one is None or _prefers(chosen, [hit.memory_id, *hit.fact.derived_from], one):
            continue
        loss = _stored_loss(one, hit.memory_id, MemoryKind.FACT)
        of_winner = (other.memory_id for other in facts if one.superseded_by in other.fact.derived_from)
        winner_id = next((found for found in of_winner if found != hit.memory_id), "")
        yield replace(loss, winner_id=winner_id, winner_kind=MemoryKind.FACT) if winner_id else loss


def _stored_notes(notes: Sequence[RecalledNote], stored: Superseded, chosen: ConflictChoice) -> Iterator[_Loss]:
    """Notes on statements that are known to hold no more."""
    for recalled in notes:
        note = recalled.note
        one = covering(stored, note.derived_from, note.content)
        if one is not None and not _prefers(chosen, [note.note_id, *note.derived_from], one):
            yield _stored_loss(one, note.note_id, MemoryKind.NOTE)


def _stored_loss(one: supersessions_pb2.Supersession, loser_id: str, loser_kind: MemoryKind) -> _Loss:
    subject, winner_id = one.statement, one.superseded_by
    return _Loss(ConflictKind.VALUE, subject, winner_id, MemoryKind.EPISODE, loser_id, loser_kind, ConflictReason.LATER)


def _prefers(chosen: ConflictChoice, losers: Sequence[str], one: supersessions_pb2.Supersession) -> bool:
    """Whether the user has decided for the side that is marked."""
    return not chosen.preferred.isdisjoint(losers) and one.superseded_by not in chosen.preferred


_Claimed = dict[tuple[str, str], list[tuple[_Rival, Claim]]]
"""Claims with those who make them, by speaker and topic."""


def _settled_claims(claimed: _Claimed, memory_kind: MemoryKind, policy: ConflictPolicy) -> Iterator[_Loss]:
    for (who, topic), made in claimed.items():
        if len(made) > 1:
            subject = f"{who} {topic}" if who else topic
            contradict = _by_claims({rival.rank: claim for rival, claim in made}, subject)
            yield from _settled([rival for rival, _ in made], contradict, memory_kind, policy)


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
                yield _Loss(*found, winner.identifier, memory_kind, rival.identifier, memory_kind, reason)
                break
        else:
            standing.append(rival)


def _reason(winner: _Rival, loser: _Rival, policy: ConflictPolicy) -> ConflictReason:
    if winner.strength(policy) > loser.strength(policy):
        return _REASONS[policy]
    if winner.is_over != loser.is_over:
        return ConflictReason.STILL_VALID
    return ConflictReason.LATER if winner.said_seconds > loser.said_seconds else ConflictReason.RANK


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
    memories: Sequence[RecalledMemory], facts: Sequence[RecalledFact], among_facts: Iterable[_Loss]
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
        winner_id = next((other.memory_id for other in memories if other.memory_id in of_winner), "")
        yield replace(
            loss,
            winner_id=winner_id or loss.winner_id,
            winner_kind=MemoryKind.EPISODE if winner_id else MemoryKind.FACT,
            loser_id=identifier,
            loser_kind=MemoryKind.EPISODE,
        )


def _from_turns(notes: Sequence[RecalledNote], among_turns: Iterable[_Loss]) -> Iterator[_Loss]:
    """Notes that lose since all the turns lose that they were made from."""
    losses = {loss.loser_id: loss for loss in among_turns}
    for recalled in notes:
        sources = recalled.note.derived_from
        if sources and all(source in losses for source in sources):
            loss = losses[sources[0]]
            yield replace(loss, loser_id=recalled.memory_id, loser_kind=MemoryKind.NOTE)


def _without_circles(losses: Iterable[_Loss]) -> Iterator[_Loss]:
    """Each memory loses to another one once, and not to one that it supersedes in something else."""
    seen: set[tuple[str, str]] = set()
    for loss in losses:
        pair = (loss.winner_id, loss.loser_id)
        if pair not in seen and pair[::-1] not in seen:
            seen.add(pair)
            yield loss


def _lifted(
    hits: tuple[_Hit, ...], pairs: Iterable[tuple[str, str]], raised: Callable[[_Hit, _Hit], _Hit]
) -> tuple[_Hit, ...]:
    """The hits with each winner before its losers; the score of one that is lifted is that of the best of them."""
    order = list(hits)
    for winner_id, loser_id in pairs:
        places = {hit.memory_id: place for place, hit in enumerate(order)}
        winner, loser = places.get(winner_id), places.get(loser_id)
        if winner is None or loser is None or winner < loser:
            continue
        lifted = order.pop(winner)
        order.insert(loser, raised(lifted, order[loser]))
    return tuple(order)


def _raised_memory(memory: RecalledMemory, loser: RecalledMemory) -> RecalledMemory:
    ranked, score = memory.ranked, loser.ranked.score
    return replace(memory, ranked=replace(ranked, score=score, parts=_raised(ranked.parts, score - ranked.score)))


def _raised_note(note: RecalledNote, loser: RecalledNote) -> RecalledNote:
    return replace(note, score=loser.score, parts=_raised(note.parts, loser.score - note.score))


def _raised(parts: Sequence[ScorePart], by: float) -> tuple[ScorePart, ...]:
    before = dict(parts)
    before[PART] = before.get(PART, 0.0) + by
    return tuple(before.items())


def _conflicts(losses: Iterable[_Loss], policy: ConflictPolicy) -> tuple[Conflict, ...]:
    """The losses to one winner about one thing, together."""
    grouped: dict[tuple[ConflictKind, str, str, MemoryKind, MemoryKind, ConflictReason], list[str]] = defaultdict(list)
    for loss in losses:
        about = (loss.kind, loss.subject, loss.winner_id, loss.winner_kind, loss.loser_kind, loss.reason)
        grouped[about].append(loss.loser_id)
    return tuple(
        Conflict(kind, subject, winner_id, winner_kind, tuple(loser_ids), loser_kind, policy, reason)
        for (kind, subject, winner_id, winner_kind, loser_kind, reason), loser_ids in grouped.items()
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
