"""Comparisons of embedding models, from and to messages."""

from __future__ import annotations

from collections.abc import Sequence

from mneme.common.v1 import model_comparison_pb2 as pb
from services.common.model_change import ModelChangeSettings
from services.common.model_comparison import ComparedQuestion, QuestionComparison
from services.common.validation import Violations


def compared_questions(
    violations: Violations, questions: Sequence[pb.ComparedQuestion], settings: ModelChangeSettings
) -> list[ComparedQuestion]:
    """What two models are compared on; what is wrong with it is added to `violations`."""
    count_max, ids_max = settings.compared_questions_max, settings.compared_ids_max
    violations.count("questions", len(questions), count_min=1, count_max=count_max)
    for number, question in enumerate(questions[:count_max]):
        path = f"questions[{number}]"
        violations.text(f"{path}.query", question.query, chars_max=settings.compared_query_chars_max)
        violations.count(f"{path}.relevant_ids", len(question.relevant_ids), count_max=ids_max)
        for place, row_id in enumerate(question.relevant_ids[:ids_max]):
            violations.uuid(f"{path}.relevant_ids[{place}]", row_id)
    return [ComparedQuestion(one.query, [row_id.lower() for row_id in one.relevant_ids]) for one in questions]


def comparisons_to_proto(questions: Sequence[QuestionComparison]) -> list[pb.QuestionComparison]:
    """What two models find for each question."""
    return [
        pb.QuestionComparison(overlap=one.overlap, first_recall=one.first_recall, second_recall=one.second_recall)
        for one in questions
    ]
