"""Stage conflicts: candidates that contradict each other, and which of them stand.

Facts contradict each other where the semantic tier has linked them. Turns do where the facts made from them do, and
where the same speaker denies what they said before or gives it another value (see claims.py); notes by what they quote.
A note also loses where all turns lose that it was made from. A loser is marked, and ranked behind what stands, unless
the request drops it. This happens before the candidates are cut to the limit. Of pairs that the semantic tier has
reduced, and of all with the policy REDUCE, neither side loses: they are reported (standoffs.py).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import supersessions_pb2
from services.common.settings_types import CountOrNone, Share
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.answer.claims import claims_of
from services.gateway.recall.answer.lifting import lifted, lifted_turns
from services.gateway.recall.answer.losses import (
    Claimed,
    Contradiction,
    Loss,
    Rival,
    facts_contradict,
    from_facts,
    from_turns,
    linked_facts,
    settled,
    settled_claims,
    stored_facts,
    stored_notes,
    stored_turns,
    without_circles,
)
from services.gateway.recall.answer.overruling import by_policy
from services.gateway.recall.answer.standoffs import Standoffs, reduced_facts, reduced_notes, reduced_turns
from services.gateway.recall.answer.validity import are_apart, said_seconds, seconds_of, was_given_up
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.recall.model import (
    CoarseResult,
    Conflict,
    ConflictKind,
    ConflictReason,
    DerivedLimits,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    RecallQuery,
)
from services.gateway.recall.superseded import Superseded, until_seconds

_CONTRADICTIONS: Final = frozenset(
    (supersessions_pb2.SUPERSESSION_REASON_UPDATED, supersessions_pb2.SUPERSESSION_REASON_CONTRADICTED)
)
_AGENTS: Final = frozenset((common_pb2.MESSAGE_ROLE_SYSTEM, common_pb2.MESSAGE_ROLE_TOOL))


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
        derived_limits: DerivedLimits | None = None,
        superseded: Superseded | None = None,
        reduced: Superseded | None = None,
        until: float | None = None,
        now: float = math.inf,
    ) -> Resolved:
        """Settles the contradictions among candidates.

        Args:
            memories: Turns, best first.
            facts: Best first.
            choice: What the request says.
            notes: Best first.
            limit: How many turns are wanted; all where None.
            derived_limits: How many facts and notes are; all where None.
            superseded: Statements that the semantic tier knows to hold no more, by turn.
            reduced: Pairs of statements of which neither stands, by the turns of either side.
            until: The time as of which is asked, in seconds since the epoch: what was said later decides nothing, and
                what ends later has not ended. The present where None.
            now: The present, or the time to come as of which is asked: facts that begin later say nothing against those
                that have begun, and what ends later holds. Where it is not given, all that has an end has ended.

        Returns:
            The best turns, the facts and the notes, without losers where these are dropped. A turn that stands is put
            before the best of those that it supersedes, with a part "conflict" in its score; so are facts and notes.
            All others keep their order, and so do those that contradict each other without a winner. Conflicts name at
            least one memory of the result.
        """
        chosen = choice or ConflictChoice()
        policy = chosen.policy or self._settings.policy
        turns = [self._turn(memory, rank, chosen) for rank, memory in enumerate(_said_by(memories, until))]
        pairs_stored = by_policy(superseded or {}, reduced or {}, turns, policy)
        made = _sources(facts, notes) if pairs_stored.settled else {}
        open_ones = partial(pairs_stored.without_settled, sources=made)
        among_facts = open_ones(self._among_facts(facts, chosen, policy, until, now))
        # What turns say themselves counts before what was made of them.
        among_turns = [
            *open_ones(self._among_turns(_said_by(memories, until), chosen, policy)),
            *from_facts(memories, facts, among_facts),
        ]
        of_their_own = open_ones(self._among_notes(_noted_by(notes, until), chosen, policy))
        among_notes = [*of_their_own, *from_turns(notes, among_turns)]
        neither = self._standoffs(memories, facts, notes, policy, pairs_stored.reduced)
        among_facts, among_turns, among_notes = map(neither.without, (among_facts, among_turns, among_notes))
        stored, reasons = pairs_stored.superseded, pairs_stored.reasons
        # The first loss between two memories counts. What the semantic tier marks goes by time: another policy, which
        # the caller or the operator chose, comes before it. Facts themselves say more precisely what it is about.
        by_time = policy is ConflictPolicy.RECENCY
        of_notes = stored_notes(notes, stored, chosen, reasons, quotable=superseded or {})
        losses = [
            *_in_order(stored_turns(memories, stored, chosen, reasons), among_turns, first=by_time),
            *_in_order(stored_facts(facts, stored, chosen, reasons), among_facts, first=False),
            *_in_order(of_notes, among_notes, first=by_time),
        ]
        pairs = [(loss.winner_id, loss.loser_id) for loss in losses]
        memories, facts, notes = lifted_turns(memories, pairs), lifted(facts, pairs), lifted(notes, pairs)
        gone: set[str] = set()
        if chosen.drops_superseded or self._settings.drops_superseded:
            gone = {loss.loser_id for loss in losses}
            memories = tuple(memory for memory in memories if memory.memory_id not in gone)
            facts = tuple(fact for fact in facts if fact.memory_id not in gone)
            notes = tuple(note for note in notes if note.memory_id not in gone)
        memories = memories[:limit]
        if derived_limits is not None:
            gone.update(fact.memory_id for fact in facts[derived_limits.facts :])
            gone.update(note.memory_id for note in notes[derived_limits.notes :])
            facts, notes = facts[: derived_limits.facts], notes[: derived_limits.notes]
        memories = tuple(memory.without(gone) for memory in memories) if gone else memories
        if not losses and not neither.found:
            return Resolved(memories, facts, notes)
        there = frozenset(hit.memory_id for hits in (memories, facts, notes) for hit in hits)
        reported = [loss for loss in losses if not there.isdisjoint((loss.winner_id, loss.loser_id))]
        return Resolved(memories, facts, notes, (*_conflicts(reported, policy), *neither.conflicts(policy, there)))

    def of_recall(
        self,
        query: RecallQuery,
        coarse: CoarseResult,
        memories: tuple[RecalledMemory, ...],
        facts: tuple[RecalledFact, ...],
        notes: tuple[RecalledNote, ...],
        derived_limits: DerivedLimits | None = None,
    ) -> Resolved:
        """Settles the contradictions among the candidates of a recall."""
        return self(
            memories,
            facts,
            query.conflicts,
            notes=notes,
            limit=query.limit,
            derived_limits=derived_limits,
            superseded=coarse.superseded,
            reduced=coarse.reduced,
            until=until_seconds(query.as_of) if query.is_past else None,
            now=query.as_of.timestamp(),
        )

    def without_reduced(self, coarse: CoarseResult, choice: ConflictChoice) -> CoarseResult:
        """What the tiers returned, with the marks of contradictions as pairs of which neither stands, by the policy.

        What was corrected never held, whatever the policy; what rests on a premise holds as the premise does.
        """
        if (choice.policy or self._settings.policy) is not ConflictPolicy.REDUCE or not coarse.superseded:
            return coarse
        reduced = {turn_id: list(found) for turn_id, found in coarse.reduced.items()}
        for one in (one for found in coarse.superseded.values() for one in found if one.reason in _CONTRADICTIONS):
            for turn_id in (one.memory_id, one.superseded_by):
                reduced.setdefault(turn_id, []).append(one)
        corrected = {
            turn_id: [one for one in found if one.reason == supersessions_pb2.SUPERSESSION_REASON_CORRECTED]
            for turn_id, found in coarse.superseded.items()
        }
        return replace(
            coarse, superseded={turn_id: found for turn_id, found in corrected.items() if found}, reduced=reduced
        )

    @staticmethod
    def _standoffs(
        memories: Sequence[RecalledMemory],
        facts: Sequence[RecalledFact],
        notes: Sequence[RecalledNote],
        policy: ConflictPolicy,
        reduced: Superseded,
    ) -> Standoffs:
        found = Standoffs(
            reduced,
            reduces_all=policy is ConflictPolicy.REDUCE,
            sources=_sources(facts, notes) if reduced else {},
        )
        if reduced:
            found.found += [
                *reduced_turns(memories, reduced),
                *reduced_facts(facts, reduced),
                *reduced_notes(notes, reduced),
            ]
        return found

    @staticmethod
    def _among_facts(
        facts: Sequence[RecalledFact], chosen: ConflictChoice, policy: ConflictPolicy, until: float | None, now: float
    ) -> Iterator[Loss]:
        last, held = (math.inf, now) if until is None else (until, until)
        is_of_several_scopes = any(hit.fact.scope != facts[0].fact.scope for hit in facts)
        rivals = [
            Rival(
                identifier=hit.fact.fact_id,
                rank=rank,
                said_seconds=said_seconds(hit.fact, last, held),
                confidence=hit.confidence,
                importance=hit.fact.importance,
                is_preferred=not chosen.preferred.isdisjoint((hit.fact.fact_id, *hit.fact.derived_from)),
                is_over=hit.fact.HasField("valid_to_time") and hit.fact.valid_to_time.seconds <= held,
            )
            for rank, hit in enumerate(facts)
            if (hit.fact.contradictions or is_of_several_scopes)
            and hit.fact.first_observed_time.seconds <= last
            and not was_given_up(hit.fact)
        ]

        chains = linked_facts([facts[rival.rank].fact for rival in rivals])

        def contradict(one: Rival, other: Rival) -> Contradiction | None:
            first, second = facts[one.rank].fact, facts[other.rank].fact
            if are_apart(first, second, held):
                return None
            return facts_contradict(first, second, chains)

        return settled(rivals, contradict, MemoryKind.FACT, policy)

    def _among_notes(
        self, notes: Sequence[RecalledNote], chosen: ConflictChoice, policy: ConflictPolicy
    ) -> Iterator[Loss]:
        """Contradictions between the turns that notes quote."""
        claimed: Claimed = defaultdict(list)
        for rank, recalled in enumerate(notes[: self._settings.turns_max]):
            speaker, colon, said = recalled.note.content[: self._settings.turn_chars_max].partition(": ")
            claims = claims_of(said) if colon else ()
            if claims:
                rival = self._note(recalled, rank, chosen)
                for claim in claims:
                    claimed[speaker, claim.topic].append((rival, claim))
        yield from settled_claims(claimed, MemoryKind.NOTE, policy)

    def _among_turns(
        self, memories: Sequence[RecalledMemory], chosen: ConflictChoice, policy: ConflictPolicy
    ) -> Iterator[Loss]:
        """Contradictions between what speakers say of themselves, topic by topic."""
        claimed: Claimed = defaultdict(list)
        for rank, memory in enumerate(memories[: self._settings.turns_max]):
            who = _claimant(memory.episode)
            if who is None:
                continue
            claims = claims_of(_said(memory.episode)[: self._settings.turn_chars_max])
            if claims:
                rival = self._turn(memory, rank, chosen)
                for claim in claims:
                    claimed[who, claim.topic].append((rival, claim))
        yield from settled_claims(claimed, MemoryKind.EPISODE, policy)

    def _note(self, recalled: RecalledNote, rank: int, chosen: ConflictChoice) -> Rival:
        note = recalled.note
        return Rival(
            identifier=note.note_id,
            rank=rank,
            said_seconds=seconds_of(note.time),
            confidence=self._settings.confidence_unknown,
            importance=note.importance,
            is_preferred=not chosen.preferred.isdisjoint((note.note_id, *note.derived_from)),
        )

    def _turn(self, memory: RecalledMemory, rank: int, chosen: ConflictChoice) -> Rival:
        said = memory.episode
        return Rival(
            identifier=memory.ranked.episode_id,
            rank=rank,
            said_seconds=seconds_of(said.time),
            confidence=said.confidence if said.HasField("confidence") else self._settings.confidence_unknown,
            importance=said.importance,
            is_preferred=not chosen.preferred.isdisjoint((memory.ranked.episode_id, *memory.fact_ids)),
        )


def _sources(facts: Sequence[RecalledFact], notes: Sequence[RecalledNote]) -> Mapping[str, Sequence[str]]:
    """The turns that facts and notes were made from, by their ids."""
    return {
        **{hit.memory_id: hit.fact.derived_from for hit in facts},
        **{hit.memory_id: hit.note.derived_from for hit in notes},
    }


def _in_order(stored: Iterable[Loss], among: Iterable[Loss], *, first: bool) -> Iterator[Loss]:
    """Stored losses and those among the candidates, the stored ones `first` or last; one between two memories.

    Stored ones that a policy settled are first in any case.
    """
    stored = list(stored)
    settled_first = [loss for loss in stored if loss.reason is not ConflictReason.LATER]
    return without_circles([*settled_first, *stored, *among] if first else [*settled_first, *among, *stored])


def _conflicts(losses: Iterable[Loss], policy: ConflictPolicy) -> tuple[Conflict, ...]:
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


def _said_by(memories: tuple[RecalledMemory, ...], until: float | None) -> Sequence[RecalledMemory]:
    return memories if until is None else [one for one in memories if one.episode.time.seconds <= until]


def _noted_by(notes: tuple[RecalledNote, ...], until: float | None) -> Sequence[RecalledNote]:
    return notes if until is None else [one for one in notes if one.note.time.seconds <= until]
