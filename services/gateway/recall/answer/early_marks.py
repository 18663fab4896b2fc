"""Marks on the parts of a streamed recall: by the superseded statements that are known so far (SPEC 5.12)."""

from __future__ import annotations

from dataclasses import replace

from services.gateway.recall.answer.losses import stored_facts, stored_notes, stored_turns
from services.gateway.recall.answer.streaming import TierResult
from services.gateway.recall.choices import ConflictChoice
from services.gateway.recall.model import CoarseResult


def with_marks(part: TierResult, coarse: CoarseResult, choice: ConflictChoice) -> TierResult:
    """A part with what supersedes its turns, facts and notes; without these where the request drops them.

    What contradicts each other among the candidates of all tiers is found when all have responded.
    """
    stored = coarse.superseded
    if not stored:
        return part
    losses = [
        *stored_turns(part.memories, stored, choice),
        *stored_facts(part.facts, stored, choice),
        *stored_notes(part.notes, stored, choice),
    ]
    by: dict[str, str] = {}
    for loss in losses:
        by.setdefault(loss.loser_id, loss.winner_id)
    if choice.drops_superseded:
        return replace(
            part,
            memories=tuple(memory for memory in part.memories if memory.memory_id not in by),
            facts=tuple(fact for fact in part.facts if fact.memory_id not in by),
            notes=tuple(note for note in part.notes if note.memory_id not in by),
            superseded=stored,
        )
    return replace(part, superseded=stored, superseded_by=by)
