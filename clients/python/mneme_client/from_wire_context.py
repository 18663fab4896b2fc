"""From the responses of BuildContext to plain data. Pure functions."""

from __future__ import annotations

from mneme.gateway.v1 import context_pb2
from mneme_client import results_context as r
from mneme_client.enums import ContextSectionKind, ContextSectionState, MemoryKind, Role
from mneme_client.from_wire import moment
from mneme_client.from_wire_recall import conflict, explanation, query_reading, tier_report
from mneme_client.trust import SourceTrust


def context_result(message: context_pb2.BuildContextResponse) -> r.ContextResult:
    """A context with its sections."""
    return r.ContextResult(
        text=message.text,
        token_count=message.token_count,
        tokenizer=message.tokenizer,
        sections=tuple(_section(s) for s in message.sections),
        tiers=tuple(tier_report(t) for t in message.tiers),
        degraded=message.degraded,
        section_reports=tuple(_report(s) for s in message.section_reports),
        reasons=tuple(
            r.ContextReason(
                memory_id=m.memory_id,
                kind=MemoryKind(m.kind),
                score=m.score,
                explanation=explanation(m.explanation),
                superseded_by=m.superseded_by,
                source_trust=SourceTrust(m.source_trust),
            )
            for m in message.reasons
        ),
        conflicts=tuple(conflict(c) for c in message.conflicts),
        reading=query_reading(message.reading),
        recall_id=message.recall_id,
        consistent=message.consistent if message.HasField("consistent") else None,
    )


def _section(message: context_pb2.ContextSection) -> r.ContextSection:
    return r.ContextSection(
        kind=ContextSectionKind(message.kind),
        items=tuple(
            r.ContextItem(
                text=i.text,
                memory_id=i.memory_id,
                interaction_ids=tuple(i.interaction_ids),
                pruned=i.pruned,
                duplicate_memory_ids=tuple(i.duplicate_memory_ids),
            )
            for i in message.items
        ),
        token_count=message.token_count,
        token_budget=message.token_budget,
        passages=tuple(_passage(p) for p in message.passages),
    )


def _passage(message: context_pb2.ContextPassage) -> r.ContextPassage:
    return r.ContextPassage(
        text=message.text,
        conversation_id=message.conversation_id,
        speakers=tuple(message.speakers),
        start_time=moment(message, "start_time"),
        end_time=moment(message, "end_time"),
        turns=tuple(
            r.ContextTurn(
                memory_id=t.memory_id,
                speaker=t.speaker,
                role=Role(t.role),
                time=moment(t, "time"),
                position=t.position,
                text=t.text,
                pruned=t.pruned,
                duplicate_memory_ids=tuple(t.duplicate_memory_ids),
            )
            for t in message.turns
        ),
        rank=message.rank,
    )


def _report(message: context_pb2.ContextSectionReport) -> r.ContextSectionReport:
    return r.ContextSectionReport(
        kind=ContextSectionKind(message.kind),
        state=ContextSectionState(message.state),
        token_budget=message.token_budget,
        token_count=message.token_count,
        candidate_count=message.candidate_count,
        included_count=message.included_count,
        duplicate_count=message.duplicate_count,
        pruned_count=message.pruned_count,
    )
