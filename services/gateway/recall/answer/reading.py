"""How a question was read, as the response says it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from services.gateway.recall.model import AppliedPattern, AppliedProfile, Reading, RecallQuery
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.question.task_types import Intent


def reading_of(
    query: RecallQuery,
    question: QuestionEvidence,
    names: Sequence[str],
    intent: Intent,
    applied: tuple[AppliedPattern, ...],
    profile: AppliedProfile | None,
) -> Reading:
    """What the stages made of a query.

    Args:
        query: As it was asked, with what patterns and the profile changed.
        question: What its text says: speakers by their place in `names`, times.
        names: Of the user's speakers.
        intent: The type of task.
        applied: Patterns that changed the query.
        profile: What the user's profile asks for; None where it could not be read.
    """
    return Reading(
        embedded_query=question.first_person_text,
        speakers=tuple(names[index] for index in question.named_speakers),
        time_ranges=tuple(
            (datetime.fromtimestamp(span.start, UTC), datetime.fromtimestamp(span.end, UTC))
            for span in question.time_ranges
        ),
        task_type=intent.task_type,
        task_type_confidence=intent.confidence,
        task_type_given=intent.is_given,
        rewritten_query=question.text if question.text != query.text else "",
        applied_patterns=applied,
        applied_profile=profile,
    )
