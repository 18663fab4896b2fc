"""Judgements of recalls as the semantic tier takes them."""

from __future__ import annotations

from mneme.semantic.internal.v1 import semantic_pb2
from services.common.convert import scope_to_proto, timestamp
from services.gateway.journal.model import Feedback, RecallRecord


def recall_judgement(feedback: Feedback, recall: RecallRecord) -> semantic_pb2.JudgeRecallRequest:
    """A judgement of a recall. Without a query, the tier removes the one that it holds."""
    return semantic_pb2.JudgeRecallRequest(
        user_id=feedback.user_id,
        recall_id=recall.recall_id,
        judgement_id=feedback.feedback_id,
        feedback=feedback.value,
        query=recall.query,
        procedure_ids=recall.procedure_ids,
        reader_scope=scope_to_proto(recall.scope),
        recall_time=timestamp(recall.create_time),
    )
