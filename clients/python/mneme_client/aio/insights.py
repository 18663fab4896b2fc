"""Insights: what a user's notes say as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mneme.agentic.v1 import insights_pb2
from mneme_client import from_wire_insights, to_wire
from mneme_client import results_insights as r
from mneme_client.aio.operations import Operations
from mneme_client.calls import Call, read_all
from mneme_client.types import Scope

_SERVICE = "/mneme.agentic.v1.InsightService"


class InsightOperations(Operations):
    """Suggestions, questions in plain English, reflection and health of notes."""

    async def get_suggestions(
        self,
        user_id: str,
        recent_queries: Sequence[str] = (),
        *,
        limit: int = 10,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> tuple[r.Suggestion, ...]:
        """Topics that are linked to what was asked lately, gaps, and contradictions.

        Args:
            user_id: Whose memory.
            recent_queries: At most 20; without any those of the user's last recalls and contexts, and where there are
                none the notes used last, and no gaps are found then.
            limit: At most this many of each kind, 1 to 200.
            scope: The reader's scope; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = insights_pb2.GetSuggestionsRequest(
            user_id=user_id, recent_queries=recent_queries, reader_scope=to_wire.scope(scope), limit=limit
        )
        read = read_all("suggestions", from_wire_insights.suggestion)
        return await self._call(
            Call(f"{_SERVICE}/GetSuggestions", request, insights_pb2.GetSuggestionsResponse, read), timeout_seconds
        )

    async def search_by_question(
        self,
        user_id: str,
        question: str,
        *,
        limit: int = 10,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> r.QuestionResult:
        """Answers a question in plain English from the notes, and shows how it was read.

        Args:
            user_id: Whose memory.
            question: Such as "how many preferences did I state last week?".
            limit: Notes or topics at most, 1 to 200.
            scope: The reader's scope; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = insights_pb2.SearchByQuestionRequest(
            user_id=user_id, question=question, reader_scope=to_wire.scope(scope), limit=limit
        )
        read, response = from_wire_insights.question_result, insights_pb2.SearchByQuestionResponse
        return await self._call(Call(f"{_SERVICE}/SearchByQuestion", request, response, read), timeout_seconds)

    async def get_reflection(
        self,
        user_id: str,
        *,
        start_time: datetime | None = None,
        end_time: datetime | None = None,
        scope: Scope | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Reflection:
        """What was learned in a period, what contradicts it, what is unused; also as Markdown.

        Args:
            user_id: Whose memory.
            start_time: None means 7 days before the end.
            end_time: None means now.
            scope: The reader's scope; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = insights_pb2.GetReflectionRequest(
            user_id=user_id,
            start_time=to_wire.optional_timestamp(start_time),
            end_time=to_wire.optional_timestamp(end_time),
            reader_scope=to_wire.scope(scope),
        )
        read, response = from_wire_insights.reflection, insights_pb2.GetReflectionResponse
        return await self._call(Call(f"{_SERVICE}/GetReflection", request, response, read), timeout_seconds)

    async def get_health(self, user_id: str, *, timeout_seconds: float | None = None) -> r.NoteHealth:
        """How many notes there are, linked, read, alike, faded."""
        request, response = insights_pb2.GetHealthRequest(user_id=user_id), insights_pb2.GetHealthResponse
        return await self._call(
            Call(f"{_SERVICE}/GetHealth", request, response, from_wire_insights.health), timeout_seconds
        )
