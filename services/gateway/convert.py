"""From the gateway's models to the messages of mneme.gateway.v1. Pure functions; requests are read in requests.py."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, cast

from google.protobuf.duration_pb2 import Duration

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.gateway.v1 import context_pb2, conversations_pb2, gate_pb2, memory_pb2, recall_pb2, tiers_pb2
from mneme.semantic.v1 import procedures_pb2
from services.common.convert import scope_to_proto, timestamp, turn_to_proto
from services.common.errors import MnemeError
from services.common.errors_grpc import item_status
from services.gateway import marks
from services.gateway.context.convert import section_message, section_report_message
from services.gateway.context.service import PromptContext
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.gate import UNJUDGED, Verdict
from services.gateway.journal.judged import JudgedRecall
from services.gateway.journal.model import (
    Appended,
    Conversation,
    Interaction,
)
from services.gateway.recall.answer.streaming import TierResult
from services.gateway.recall.model import (
    Conflict,
    ConflictReason,
    Reading,
    Recalled,
    RecalledFact,
    RecalledMemory,
    RecalledNote,
    RetrieverRank,
    ScorePart,
    TierReport,
)
from services.gateway.recall.superseded import Superseded
from services.gateway.recall.trust import SourceTrust
from services.gateway.tokens import ConsistencyTokens

_NOTHING: Final[Mapping[str, str]] = {}


def duration(seconds: float) -> Duration:
    """Seconds as a Duration, to the microsecond."""
    message = Duration()
    write_duration(message, seconds)
    return message


def write_duration(message: Duration, seconds: float) -> None:
    """Set a message's field of this type to seconds, not below 0, in place."""
    # By arithmetic: FromTimedelta takes twice as long, and a response holds seventeen.
    span = timedelta(seconds=seconds)
    message.seconds = span.days * 86_400 + span.seconds
    message.nanos = span.microseconds * 1_000


def remember_response(appended: Appended, tenant_id: str, tokens: ConsistencyTokens) -> memory_pb2.RememberResponse:
    """The acknowledgement of one command."""
    return memory_pb2.RememberResponse(
        interactions=[
            memory_pb2.InteractionReference(
                interaction_id=identifier, position=appended.first_position + offset, verdict=_verdict(verdict)
            )
            for offset, (identifier, verdict) in enumerate(
                zip(appended.interaction_ids, appended.verdicts, strict=True)
            )
        ],
        consistency_token=tokens.encode(tenant_id, appended.span),
        replayed=appended.replayed,
    )


def batch_response(
    outcomes: Sequence[Appended | MnemeError], tenant_id: str, tokens: ConsistencyTokens
) -> memory_pb2.RememberBatchResponse:
    """The acknowledgement of a batch, item by item."""
    return memory_pb2.RememberBatchResponse(
        results=[
            memory_pb2.RememberBatchResult(error=item_status(outcome))
            if isinstance(outcome, MnemeError)
            else memory_pb2.RememberBatchResult(response=remember_response(outcome, tenant_id, tokens))
            for outcome in outcomes
        ]
    )


def stream_response(
    index: int, outcome: Appended | MnemeError, tenant_id: str, tokens: ConsistencyTokens
) -> memory_pb2.RememberStreamResponse:
    """The outcome for one item of a stream."""
    if isinstance(outcome, MnemeError):
        return memory_pb2.RememberStreamResponse(index=index, error=item_status(outcome))
    response = remember_response(outcome, tenant_id, tokens)
    return memory_pb2.RememberStreamResponse(index=index, response=response)


def recall_response(recalled: Recalled) -> recall_pb2.RecallResponse:
    """What a recall found, with the reasons."""
    reasons = dict(recalled.stage_reasons)
    superseded_by = recalled.superseded_by
    response = recall_pb2.RecallResponse(
        recent_turns=recalled.recent_turns,
        degraded=recalled.is_degraded,
        reading=_reading(recalled.reading),
        recall_id=recalled.recall_id,
        feature_names=recalled.feature_names,
        conflicts=[_conflict(conflict) for conflict in recalled.conflicts],
    )
    for report in recalled.reports:
        _write_tier_report(response.tiers.add(), report)
    for name, seconds in recalled.stage_seconds:
        timing = response.stages.add(stage=name, reason=reasons.get(name, ""))
        write_duration(timing.duration, seconds)
    _add_hits(response, recalled.memories, recalled.facts, recalled.notes, superseded_by)
    _add_marks(response, recalled.superseded)
    if recalled.is_consistent is not None:
        response.consistent = recalled.is_consistent
    return response


def recall_stream_response(part: TierResult | Recalled) -> recall_pb2.RecallStreamResponse:
    """One message of a streamed recall."""
    if isinstance(part, Recalled):
        return recall_pb2.RecallStreamResponse(response=recall_response(part))
    tier_result = recall_pb2.TierResult(tier=tier_report(part.report), recent_turns=part.recent_turns)
    _add_hits(tier_result, part.memories, part.facts, part.notes, part.superseded_by)
    _add_marks(tier_result, part.superseded)
    return recall_pb2.RecallStreamResponse(tier_result=tier_result)


def tier_report(report: TierReport) -> tiers_pb2.TierReport:
    """How one tier took part."""
    message = tiers_pb2.TierReport()
    _write_tier_report(message, report)
    return message


def context_response(context: PromptContext) -> context_pb2.BuildContextResponse:
    """Text for a prompt with its parts."""
    recalled = context.recalled
    response = context_pb2.BuildContextResponse(
        text=context.text,
        token_count=context.token_count,
        tokenizer=context.tokenizer,
        sections=[section_message(section) for section in context.sections],
        section_reports=[section_report_message(report) for report in context.section_reports],
        conflicts=[_conflict(conflict) for conflict in recalled.conflicts],
        tiers=[tier_report(report) for report in recalled.reports],
        degraded=recalled.is_degraded,
        reading=_reading(recalled.reading),
        recall_id=recalled.recall_id,
    )
    if recalled.is_consistent is not None:
        response.consistent = recalled.is_consistent
    _add_reasons(response, context)
    return response


def _add_reasons(response: context_pb2.BuildContextResponse, context: PromptContext) -> None:
    """Write why each memory of the text was recalled."""
    returned, superseded_by = context.returned, context.recalled.superseded_by

    def add(
        found: RecalledMemory | RecalledFact | RecalledNote, kind: MemoryKind, score: float
    ) -> recall_pb2.Explanation:
        reason = response.reasons.add(
            memory_id=found.memory_id,
            kind=cast("tiers_pb2.MemoryKind", int(kind)),
            score=score,
            superseded_by=superseded_by.get(found.memory_id, ""),
            source_trust=_trust(found.source_trust),
        )
        return reason.explanation

    for memory in returned.memories:
        ranked = memory.ranked
        _write_explanation(add(memory, MemoryKind.EPISODE, ranked.score), ranked.retrievers, ranked.parts)
    for fact in returned.facts:
        _write_explanation(add(fact, MemoryKind.FACT, fact.score), (fact.retriever,), fact.parts)
    for note in returned.notes:
        _write_explanation(add(note, MemoryKind.NOTE, note.score), (note.retriever,), note.parts)


def conversation(model: Conversation) -> conversations_pb2.Conversation:
    """An entry of the conversation log."""
    return conversations_pb2.Conversation(
        conversation_id=model.conversation_id,
        user_id=model.user_id,
        interaction_count=model.interaction_count,
        create_time=timestamp(model.create_time),
        update_time=timestamp(model.update_time),
    )


def interaction(model: Interaction) -> conversations_pb2.Interaction:
    """One turn in the log."""
    return conversations_pb2.Interaction(
        interaction_id=model.interaction_id,
        conversation_id=model.conversation_id,
        position=model.position,
        turn=turn_to_proto(model.turn),
        scope=scope_to_proto(model.scope),
        create_time=timestamp(model.create_time),
        verdict=_verdict(model.verdict),
    )


def _verdict(model: Verdict) -> gate_pb2.GateVerdict | None:
    """The verdict; None where the gate is off."""
    if model == UNJUDGED:
        return None
    return gate_pb2.GateVerdict(
        gated=model.reason.is_gated, reason=cast("gate_pb2.GateReason", int(model.reason)), detail=model.detail
    )


def _reading(reading: Reading) -> recall_pb2.QueryReading:
    profile = reading.applied_profile
    return recall_pb2.QueryReading(
        embedded_query=reading.embedded_query,
        speakers=reading.speakers,
        time_ranges=[
            recall_pb2.TimeRange(start_time=timestamp(start), end_time=timestamp(end))
            for start, end in reading.time_ranges
        ],
        task_type=cast("recall_pb2.TaskType", int(reading.task_type)),
        task_type_confidence=reading.task_type_confidence,
        task_type_given=reading.task_type_given,
        rewritten_query=reading.rewritten_query,
        applied_patterns=[
            recall_pb2.AppliedPattern(
                pattern=pattern.pattern,
                replacement=pattern.replacement,
                confidence=pattern.confidence,
                procedure_id=pattern.procedure_id,
                kind=cast("procedures_pb2.ProcedureKind", int(pattern.kind)),
            )
            for pattern in reading.applied_patterns
        ],
        applied_profile=None
        if profile is None
        else recall_pb2.AppliedProfile(
            preferred_sources=profile.preferred_sources,
            excluded_sources=profile.excluded_sources,
            fact_confidence_min=profile.fact_confidence_min,
        ),
    )


_CONFLICT_DETAILS: Final[Mapping[ConflictReason, str]] = {
    ConflictReason.LATER: "said later",
    ConflictReason.CONFIDENCE: "believed more",
    ConflictReason.IMPORTANCE: "more important",
    ConflictReason.USER_CHOICE: "chosen by the user",
    ConflictReason.STILL_VALID: "the other is no longer valid",
    ConflictReason.RANK: "both said at the same time: ranked better",
    ConflictReason.NEITHER: "neither is known to stand",
}


def _conflict(conflict: Conflict) -> recall_pb2.Conflict:
    return recall_pb2.Conflict(
        kind=recall_pb2.ConflictKind.Name(int(conflict.kind)),
        subject=conflict.subject,
        winner_id=conflict.winner_id,
        winner_kind=tiers_pb2.MemoryKind.Name(int(conflict.winner_kind)),
        loser_ids=conflict.loser_ids,
        loser_kind=tiers_pb2.MemoryKind.Name(int(conflict.loser_kind)),
        policy=recall_pb2.ConflictPolicy.Name(int(conflict.policy)),
        reason=recall_pb2.ConflictReason.Name(int(conflict.reason)),
        detail=_CONFLICT_DETAILS[conflict.reason],
        contradicting_ids=conflict.contradicting_ids,
    )


def _add_hits(
    message: recall_pb2.RecallResponse | recall_pb2.TierResult,
    memories: Sequence[RecalledMemory],
    facts: Iterable[RecalledFact],
    notes: Iterable[RecalledNote],
    superseded_by: Mapping[str, str] = _NOTHING,
) -> None:
    """Write what was found into a message, in place: messages made by themselves are copied into it, piece by piece."""
    for memory in memories:
        _write_memory(message.memories.add(), memory, superseded_by.get(memory.episode.episode_id, ""))
    for fact in facts:
        fact_message = message.facts.add()
        fact_message.fact.CopyFrom(fact.fact)
        fact_message.score = fact.score
        fact_message.similarity = fact.similarity
        _write_explanation(fact_message.explanation, (fact.retriever,), fact.parts)
        fact_message.superseded_by = superseded_by.get(fact.memory_id, "")
        fact_message.source_trust = _trust(fact.source_trust)
    for note in notes:
        note_message = message.notes.add()
        note_message.note.CopyFrom(note.note)
        note_message.score = note.score
        note_message.similarity = note.similarity
        note_message.hops = len(note.path)
        _write_explanation(note_message.explanation, (note.retriever,), note.parts)
        note_message.superseded_by = superseded_by.get(note.memory_id, "")
        note_message.source_trust = _trust(note.source_trust)
        if note.matched_attachment is not None:
            note_message.matched_attachment = note.matched_attachment


def _add_marks(message: recall_pb2.RecallResponse | recall_pb2.TierResult, superseded: Superseded) -> None:
    """Write which statements of the turns of a message are superseded."""
    for memory in message.memories:
        for one in superseded.get(memory.memory_id, ()):
            memory.superseded_statements.append(marks.without_others(one))
    bytes_left = marks.BYTES_MAX
    for turn in message.recent_turns:
        bytes_left = marks.write_marks(turn, superseded.get(turn.interaction_id, ()), bytes_left)


def _trust(model: SourceTrust) -> recall_pb2.SourceTrust:
    return cast("recall_pb2.SourceTrust", int(model))


def _write_tier_report(message: tiers_pb2.TierReport, report: TierReport) -> None:
    message.tier = cast("tiers_pb2.Tier", int(report.tier))
    message.state = cast("tiers_pb2.TierState", int(report.state))
    message.reason = report.reason
    message.candidate_count = report.candidate_count
    write_duration(message.duration, report.duration_seconds)


def _write_memory(message: recall_pb2.Memory, memory: RecalledMemory, superseded_by: str) -> None:
    episode, ranked = memory.episode, memory.ranked
    message.memory_id = episode.episode_id
    message.kind = tiers_pb2.MEMORY_KIND_EPISODE
    message.conversation_id = episode.conversation_id
    message.position = episode.position
    message.score = ranked.score
    message.superseded_by = superseded_by
    message.source_trust = _trust(memory.source_trust)
    if ranked.features:
        message.features.extend(ranked.features)
    if memory.fact_ids:
        message.fact_ids.extend(memory.fact_ids)
    if memory.note_ids:
        message.note_ids.extend(memory.note_ids)
    message.scope.CopyFrom(episode.scope)
    _write_turn(message.turn, episode)
    _write_explanation(message.explanation, ranked.retrievers, ranked.parts)


def _write_explanation(
    message: recall_pb2.Explanation, retrievers: Iterable[RetrieverRank], parts: Iterable[ScorePart]
) -> None:
    message.SetInParent()
    for found in retrievers:
        rank = message.retrievers.add()
        rank.retriever = found.retriever
        rank.rank = found.rank
        rank.score = found.score
    for name, value in parts:
        part = message.parts.add()
        part.name = name
        part.value = value


def _write_turn(turn: common_pb2.Turn, episode: episodic_pb2.Episode) -> None:
    """The turn that an episode was made from."""
    turn.role = episode.role
    turn.speaker = episode.speaker
    query, response = episode.query, episode.response
    turn.content = f"{query}\n{response}" if query and response else query or response
    turn.time.CopyFrom(episode.time)
    if episode.attachments:
        turn.attachments.extend(episode.attachments)
    if episode.metadata:  # most have none
        turn.metadata.update(episode.metadata)
    if episode.sources:
        turn.sources.extend(episode.sources)
    if episode.HasField("confidence"):
        turn.confidence = episode.confidence


def judged_recall(item: JudgedRecall) -> memory_pb2.JudgedRecall:
    """A recall with what was judged good."""
    message = memory_pb2.JudgedRecall(recall_id=item.recall.recall_id, query=item.recall.query)
    for kind, memory_id in item.good:
        message.good_memories.add(kind=cast("tiers_pb2.MemoryKind", int(kind)), memory_id=memory_id)
    message.create_time.CopyFrom(timestamp(item.recall.create_time))
    return message
