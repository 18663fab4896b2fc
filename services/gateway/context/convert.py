"""From contexts to the messages of mneme.gateway.v1. Pure functions."""

from __future__ import annotations

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import context_pb2
from services.common.convert import timestamp
from services.gateway.context.model import Item, Passage, PassageTurn, Section, SectionReport


def section_message(section: Section) -> context_pb2.ContextSection:
    """One part of a context."""
    return context_pb2.ContextSection(
        kind=context_pb2.ContextSectionKind.Name(int(section.kind)),
        items=[_item(item) for item in section.items],
        token_count=section.token_count,
        token_budget=section.token_budget,
        passages=[_passage(passage) for passage in section.passages],
    )


def section_report_message(report: SectionReport) -> context_pb2.ContextSectionReport:
    """What became of one section."""
    return context_pb2.ContextSectionReport(
        kind=context_pb2.ContextSectionKind.Name(int(report.kind)),
        state=context_pb2.ContextSectionState.Name(int(report.state)),
        token_budget=report.token_budget,
        token_count=report.token_count,
        candidate_count=report.candidate_count,
        included_count=report.included_count,
        duplicate_count=report.duplicate_count,
        pruned_count=report.pruned_count,
    )


def _item(item: Item) -> context_pb2.ContextItem:
    return context_pb2.ContextItem(
        text=item.text,
        memory_id=item.memory_id,
        interaction_ids=item.interaction_ids,
        pruned=item.pruned,
        duplicate_memory_ids=item.duplicate_ids,
    )


def _passage(passage: Passage) -> context_pb2.ContextPassage:
    message = context_pb2.ContextPassage(
        text=passage.text,
        conversation_id=passage.turns[0].source.conversation_id,
        speakers=passage.speakers,
        turns=[_turn(turn) for turn in passage.turns],
        rank=passage.rank,
    )
    times = [turn.source.time for turn in passage.turns if turn.source.time is not None]
    if times:
        message.start_time.CopyFrom(timestamp(times[0]))
        message.end_time.CopyFrom(timestamp(times[-1]))
    return message


def _turn(turn: PassageTurn) -> context_pb2.ContextTurn:
    message = context_pb2.ContextTurn(
        memory_id=turn.memory_id,
        speaker=turn.source.speaker,
        role=common_pb2.MessageRole.Name(int(turn.source.role)),
        position=turn.source.position,
        text=turn.text,
        pruned=turn.pruned,
        duplicate_memory_ids=[duplicate.memory_id for duplicate in turn.duplicates],
    )
    if turn.source.time is not None:
        message.time.CopyFrom(timestamp(turn.source.time))
    return message
