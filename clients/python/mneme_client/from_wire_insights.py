"""From the messages of InsightService to results."""

from __future__ import annotations

from mneme.agentic.v1 import insights_pb2 as pb
from mneme_client import results_insights as r
from mneme_client.enums import NoteKind, QuestionIntent, SuggestionKind
from mneme_client.from_wire import moment
from mneme_client.from_wire_resources import note


def suggestion(message: pb.Suggestion) -> r.Suggestion:
    """A suggestion."""
    return r.Suggestion(SuggestionKind(message.kind), message.topic, tuple(message.note_ids), message.score)


def question_result(message: pb.SearchByQuestionResponse) -> r.QuestionResult:
    """What was found for a question."""
    parsed = message.parsed
    return r.QuestionResult(
        parsed=r.ParsedQuestion(
            intent=QuestionIntent(parsed.intent),
            topic=parsed.topic,
            kind=NoteKind(parsed.kind) if parsed.HasField("kind") else None,
            start_time=moment(parsed, "start_time"),
            end_time=moment(parsed, "end_time"),
            by_topic=parsed.by_topic,
        ),
        refusal=message.refusal,
        notes=tuple(map(note, message.notes)),
        note_count=message.note_count,
        topics=tuple(map(_topic, message.topics)),
    )


def reflection(message: pb.GetReflectionResponse) -> r.Reflection:
    """A report over a period."""
    return r.Reflection(
        start_time=moment(message, "start_time"),
        end_time=moment(message, "end_time"),
        learned_count=message.learned_count,
        learned=tuple(map(note, message.learned)),
        topics=tuple(map(_topic, message.topics)),
        contradictions=tuple((note(pair.first), note(pair.second)) for pair in message.contradictions),
        unused_count=message.unused_count,
        unused=tuple(map(note, message.unused)),
        markdown=message.markdown,
        contradiction_count=message.contradiction_count,
    )


def health(message: pb.GetHealthResponse) -> r.NoteHealth:
    """Measures of a user's notes."""
    return r.NoteHealth(
        note_count=message.note_count,
        link_count=message.link_count,
        orphan_count=message.orphan_count,
        duplicate_count=message.duplicate_count,
        never_read_share=message.never_read_share,
        junk_share=message.junk_share,
        made_count=message.made_count,
    )


def _topic(message: pb.TopicCount) -> r.TopicCount:
    return r.TopicCount(message.topic, message.note_count)
