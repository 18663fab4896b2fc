"""From the messages of the tiers' resources to plain data. Pure functions."""

from __future__ import annotations

from mneme.agentic.v1 import notes_pb2
from mneme.common.v1 import model_comparison_pb2
from mneme.episodic.v1 import episodic_pb2
from mneme.semantic.v1 import facts_pb2, profile_pb2
from mneme_client import resources as r
from mneme_client.enums import (
    EpisodeStatus,
    FactAdmission,
    FactCategory,
    FactStatus,
    FactVersionReason,
    LinkOrigin,
    LinkType,
    NoteKind,
    NoteStatus,
    Role,
)
from mneme_client.from_wire import attachment, duration, item_error, moment, scope
from mneme_client.from_wire_supersessions import supersession
from mneme_client.results import ItemError


def episode(message: episodic_pb2.Episode) -> r.Episode:
    """An episode."""
    return r.Episode(
        episode_id=message.episode_id,
        user_id=message.user_id,
        conversation_id=message.conversation_id,
        position=message.position,
        role=Role(message.role),
        speaker=message.speaker,
        query=message.query,
        response=message.response,
        attachments=tuple(attachment(a) for a in message.attachments),
        sources=tuple(message.sources),
        confidence=message.confidence if message.HasField("confidence") else None,
        feedback=message.feedback,
        importance=message.importance,
        decay_factor=message.decay_factor,
        access_count=message.access_count,
        last_access_time=moment(message, "last_access_time"),
        time=moment(message, "time"),
        create_time=moment(message, "create_time"),
        scope=scope(message.scope),
        status=EpisodeStatus(message.status),
        metadata=dict(message.metadata),
        summary=message.summary,
        superseded_by=message.superseded_by,
        superseded_statements=tuple(map(supersession, message.superseded_statements)),
        marks_missing=message.marks_missing,
    )


def scored_episode(message: episodic_pb2.ScoredEpisode) -> r.ScoredEpisode:
    """A hit of a search."""
    return r.ScoredEpisode(episode(message.episode), message.score, message.similarity)


def model_comparison(message: episodic_pb2.GetModelComparisonResponse) -> r.ModelComparison:
    """What two embedding models find."""
    return r.ModelComparison(
        questions=tuple(map(_question_comparison, message.questions)),
        first_model=message.first_model,
        second_model=message.second_model,
        first_piece_count=message.first_piece_count,
        second_piece_count=message.second_piece_count,
    )


def text_model_comparison(
    message: facts_pb2.GetFactModelComparisonResponse | notes_pb2.GetNoteModelComparisonResponse,
) -> r.TextModelComparison:
    """What two embedding models find among facts or notes."""
    return r.TextModelComparison(
        questions=tuple(map(_question_comparison, message.questions)),
        first_model=message.first_model,
        second_model=message.second_model,
        compared_count=message.compared_count,
        truncated=message.truncated,
    )


def _question_comparison(
    message: episodic_pb2.ModelQuestionComparison | model_comparison_pb2.QuestionComparison,
) -> r.ModelQuestionComparison:
    return r.ModelQuestionComparison(
        message.overlap,
        message.first_recall if message.HasField("first_recall") else None,
        message.second_recall if message.HasField("second_recall") else None,
    )


def fact(message: facts_pb2.Fact) -> r.Fact:
    """A fact."""
    return r.Fact(
        fact_id=message.fact_id,
        user_id=message.user_id,
        text=message.text,
        subject=message.subject,
        predicate=message.predicate,
        object=message.object,
        category=FactCategory(message.category),
        status=FactStatus(message.status),
        confidence=message.confidence,
        importance=message.importance,
        first_observed_time=moment(message, "first_observed_time"),
        last_confirmed_time=moment(message, "last_confirmed_time"),
        valid_from_time=moment(message, "valid_from_time"),
        valid_to_time=moment(message, "valid_to_time"),
        derived_from=tuple(message.derived_from),
        evidence_count=message.evidence_count,
        contradictions=tuple(message.contradictions),
        merged_into_fact_id=message.merged_into_fact_id,
        versions=tuple(_fact_version(v) for v in message.versions),
        scope=scope(message.scope),
        revision=message.revision,
        etag=message.etag,
        feedback=message.feedback,
        superseded_by=message.superseded_by,
    )


def _fact_version(message: facts_pb2.FactVersion) -> r.FactVersion:
    return r.FactVersion(
        text=message.text,
        confidence=message.confidence,
        replaced_time=moment(message, "replaced_time"),
        reason=FactVersionReason(message.reason),
    )


def scored_fact(message: facts_pb2.ScoredFact) -> r.ScoredFact:
    """A hit of a search."""
    known = message.current_confidence if message.HasField("current_confidence") else None
    return r.ScoredFact(fact(message.fact), message.similarity, FactAdmission(message.admission), known)


def profile(message: profile_pb2.Profile) -> r.Profile:
    """The profile."""
    counted = message.statistics
    return r.Profile(
        user_id=message.user_id,
        preferences=preferences(message.preferences),
        statistics=r.ProfileStatistics(
            user_turn_count=counted.user_turn_count,
            assistant_turn_count=counted.assistant_turn_count,
            conversation_count=counted.conversation_count,
            question_count=counted.question_count,
            mean_confidence=counted.mean_confidence if counted.HasField("mean_confidence") else None,
            peak_hours=tuple(counted.peak_hours),
            first_interaction_time=moment(counted, "first_interaction_time"),
            last_interaction_time=moment(counted, "last_interaction_time"),
            good_feedback_count=counted.good_feedback_count,
            bad_feedback_count=counted.bad_feedback_count,
            mean_session_turns=counted.mean_session_turns,
            mean_session_length=duration(counted.mean_session_length)
            if counted.HasField("mean_session_length")
            else None,
            topics=tuple((one.name, one.count) for one in counted.topics),
            query_types=tuple((one.name, one.count) for one in counted.query_types),
        ),
        etag=message.etag,
        update_time=moment(message, "update_time"),
        learned_preferences=preferences(message.learned_preferences),
        fact_confidence_min=message.fact_confidence_min,
    )


def preferences(message: profile_pb2.Preferences) -> r.Preferences:
    """What a user wants of responses."""
    return r.Preferences(
        response_format=message.response_format,
        detail_level=message.detail_level,
        citation_style=message.citation_style,
        language=message.language,
        preferred_sources=tuple(message.preferred_sources),
        excluded_sources=tuple(message.excluded_sources),
        other=dict(message.other),
    )


def note(message: notes_pb2.Note) -> r.Note:
    """A note."""
    return r.Note(
        note_id=message.note_id,
        user_id=message.user_id,
        content=message.content,
        kind=NoteKind(message.kind),
        importance=message.importance,
        keywords=tuple(message.keywords),
        tags=tuple(message.tags),
        attachments=tuple(attachment(a) for a in message.attachments),
        metadata=dict(message.metadata),
        derived_from=tuple(message.derived_from),
        time=moment(message, "time"),
        scope=scope(message.scope),
        status=NoteStatus(message.status),
        access_count=message.access_count,
        last_access_time=moment(message, "last_access_time"),
        create_time=moment(message, "create_time"),
        update_time=moment(message, "update_time"),
        etag=message.etag,
        feedback=message.feedback,
        source_note_ids=tuple(message.source_note_ids),
        successor_id=message.successor_id,
        decay=message.decay,
        superseded_by=message.superseded_by,
        superseded_statements=tuple(map(supersession, message.superseded_statements)),
        marks_missing=message.marks_missing,
    )


def link(message: notes_pb2.Link) -> r.Link:
    """A link."""
    return r.Link(
        from_note_id=message.from_note_id,
        to_note_id=message.to_note_id,
        type=LinkType(message.type),
        strength=message.strength,
        origin=LinkOrigin(message.origin),
        create_time=moment(message, "create_time"),
        update_time=moment(message, "update_time"),
        etag=message.etag,
        feedback=message.feedback,
    )


def linked_note(
    message: notes_pb2.CreateNoteResponse | notes_pb2.GetNoteResponse | notes_pb2.UpdateNoteResponse,
) -> r.LinkedNote:
    """A note with its links."""
    return r.LinkedNote(note(message.note), tuple(link(m) for m in message.links))


def scored_note(message: notes_pb2.ScoredNote) -> r.ScoredNote:
    """A hit of a search."""
    path = tuple(r.WalkedLink(step.note_id, step.strength) for step in message.path)
    matched = message.matched_attachment if message.HasField("matched_attachment") else None
    return r.ScoredNote(note(message.note), message.score, message.similarity, path, matched)


def note_outcome(message: notes_pb2.NoteStatusResult) -> r.NoteState | ItemError:
    """The outcome of archiving or restoring one note."""
    if message.HasField("error"):
        return item_error(message.error)
    state = message.response
    return r.NoteState(state.note_id, NoteStatus(state.status), state.etag)
