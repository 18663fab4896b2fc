"""From the responses of Recall to plain data. Pure functions."""

from __future__ import annotations

from mneme.gateway.v1 import recall_pb2, tiers_pb2
from mneme_client import results as r
from mneme_client.enums import (
    ConflictKind,
    ConflictPolicy,
    ConflictReason,
    MemoryKind,
    ProcedureKind,
    TaskType,
    Tier,
    TierState,
)
from mneme_client.from_wire import duration, moment, scope, turn
from mneme_client.from_wire_resources import fact, note
from mneme_client.from_wire_supersessions import supersession
from mneme_client.from_wire_turns import session_turn
from mneme_client.trust import SourceTrust


def recall_result(message: recall_pb2.RecallResponse) -> r.RecallResult:
    """The whole result."""
    return r.RecallResult(
        memories=tuple(memory(m) for m in message.memories),
        facts=tuple(recalled_fact(f) for f in message.facts),
        notes=tuple(recalled_note(n) for n in message.notes),
        recent_turns=tuple(session_turn(t) for t in message.recent_turns),
        tiers=tuple(tier_report(t) for t in message.tiers),
        degraded=message.degraded,
        reading=query_reading(message.reading),
        stages=tuple(r.StageTiming(s.stage, duration(s.duration), s.reason) for s in message.stages),
        recall_id=message.recall_id,
        consistent=message.consistent if message.HasField("consistent") else None,
        conflicts=tuple(conflict(c) for c in message.conflicts),
    )


def conflict(message: recall_pb2.Conflict) -> r.Conflict:
    """A contradiction and its winner."""
    return r.Conflict(
        kind=ConflictKind(message.kind),
        subject=message.subject,
        winner_id=message.winner_id,
        winner_kind=MemoryKind(message.winner_kind),
        loser_ids=tuple(message.loser_ids),
        loser_kind=MemoryKind(message.loser_kind),
        policy=ConflictPolicy(message.policy),
        reason=ConflictReason(message.reason),
        detail=message.detail,
        contradicting_ids=tuple(message.contradicting_ids),
    )


def recall_part(message: recall_pb2.RecallStreamResponse) -> r.RecallPart:
    """One part of a streamed recall."""
    if message.HasField("response"):
        result = recall_result(message.response)
        return r.RecallPart(None, result.memories, result.facts, result.notes, result.recent_turns, result)
    found = message.tier_result
    return r.RecallPart(
        tier=tier_report(found.tier),
        memories=tuple(memory(m) for m in found.memories),
        facts=tuple(recalled_fact(f) for f in found.facts),
        notes=tuple(recalled_note(n) for n in found.notes),
        recent_turns=tuple(session_turn(t) for t in found.recent_turns),
    )


def recalled_fact(message: recall_pb2.RecalledFact) -> r.RecalledFact:
    """A recalled fact."""
    return r.RecalledFact(
        fact=fact(message.fact),
        score=message.score,
        similarity=message.similarity,
        explanation=explanation(message.explanation),
        superseded_by=message.superseded_by,
        source_trust=SourceTrust(message.source_trust),
    )


def recalled_note(message: recall_pb2.RecalledNote) -> r.RecalledNote:
    """A recalled note."""
    return r.RecalledNote(
        note=note(message.note),
        score=message.score,
        similarity=message.similarity,
        hops=message.hops,
        explanation=explanation(message.explanation),
        superseded_by=message.superseded_by,
        source_trust=SourceTrust(message.source_trust),
        matched_attachment=message.matched_attachment if message.HasField("matched_attachment") else None,
    )


def explanation(message: recall_pb2.Explanation) -> r.Explanation:
    """Why a memory was recalled."""
    return r.Explanation(
        retrievers=tuple(r.RetrieverRank(m.retriever, m.rank, m.score) for m in message.retrievers),
        parts=tuple(r.ScorePart(m.name, m.value) for m in message.parts),
    )


def memory(message: recall_pb2.Memory) -> r.Memory:
    """One recalled turn."""
    return r.Memory(
        memory_id=message.memory_id,
        kind=MemoryKind(message.kind),
        turn=turn(message.turn),
        conversation_id=message.conversation_id,
        position=message.position,
        score=message.score,
        explanation=explanation(message.explanation),
        fact_ids=tuple(message.fact_ids),
        note_ids=tuple(message.note_ids),
        scope=scope(message.scope),
        superseded_by=message.superseded_by,
        source_trust=SourceTrust(message.source_trust),
        superseded_statements=tuple(map(supersession, message.superseded_statements)),
    )


def tier_report(message: tiers_pb2.TierReport) -> r.TierReport:
    """How a tier took part."""
    return r.TierReport(
        tier=Tier(message.tier),
        state=TierState(message.state),
        reason=message.reason,
        duration=duration(message.duration),
        candidate_count=message.candidate_count,
    )


def query_reading(message: recall_pb2.QueryReading) -> r.QueryReading:
    """How a query was understood."""
    return r.QueryReading(
        embedded_query=message.embedded_query,
        speakers=tuple(message.speakers),
        time_ranges=tuple(r.TimeRange(moment(t, "start_time"), moment(t, "end_time")) for t in message.time_ranges),
        task_type=TaskType(message.task_type),
        task_type_confidence=message.task_type_confidence,
        task_type_given=message.task_type_given,
        rewritten_query=message.rewritten_query,
        applied_patterns=tuple(
            r.AppliedPattern(p.pattern, p.replacement, p.confidence, p.procedure_id, ProcedureKind(p.kind))
            for p in message.applied_patterns
        ),
        applied_profile=_applied_profile(message.applied_profile) if message.HasField("applied_profile") else None,
    )


def _applied_profile(message: recall_pb2.AppliedProfile) -> r.AppliedProfile:
    return r.AppliedProfile(
        tuple(message.preferred_sources), tuple(message.excluded_sources), message.fact_confidence_min
    )
