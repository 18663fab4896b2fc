"""The gRPC edge of insights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import grpc

from mneme.agentic.v1 import insights_pb2 as pb
from mneme.agentic.v1 import insights_pb2_grpc
from services.agentic.commands import owner_of
from services.agentic.config import InsightSettings, NoteLimits
from services.agentic.convert import DecayOf, note_to_proto
from services.agentic.decay import Decay
from services.agentic.insights import reports
from services.agentic.insights.question import ParsedQuestion
from services.agentic.insights.service import InsightService, QuestionResult, Suggestion
from services.common import convert as common
from services.common.auth import Role, current_principal
from services.common.errors import InvalidArgument
from services.common.owners import Owner
from services.common.paging import fitting
from services.common.reading import reader_from_proto
from services.common.reflections import to_markdown
from services.common.scope import GLOBAL_SCOPE, Reader
from services.common.validation import Violations

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["InsightService"].full_name
ROLES: Final[Mapping[str, Role]] = dict.fromkeys(
    ("GetSuggestions", "SearchByQuestion", "GetReflection", "GetHealth"), Role.READER
)
_QUERIES_MAX: Final = 20


class InsightServicer(insights_pb2_grpc.InsightServiceServicer):
    """Handlers of InsightService."""

    def __init__(self, insights: InsightService, limits: NoteLimits, decay: Decay, settings: InsightSettings) -> None:
        """Serve the use cases; requests are checked against `limits`."""
        self._settings = settings
        self._insights = insights
        self._decay = decay
        self._limits = limits

    async def GetSuggestions(self, request: pb.GetSuggestionsRequest, _context: Context) -> pb.GetSuggestionsResponse:
        """See insights.proto."""
        v = Violations()
        v.count("recent_queries", len(request.recent_queries), count_max=_QUERIES_MAX)
        for i, query in enumerate(request.recent_queries[:_QUERIES_MAX]):
            v.text(f"recent_queries[{i}]", query, chars_max=self._limits.query_chars_max)
        owner, reader = self._checked(request, v, has_limit=True)
        limit = request.limit or self._limits.search_limit_default
        found = await self._insights.suggest(owner, reader, list(request.recent_queries), limit=limit)
        return pb.GetSuggestionsResponse(suggestions=map(_suggestion, found))

    async def SearchByQuestion(
        self, request: pb.SearchByQuestionRequest, _context: Context
    ) -> pb.SearchByQuestionResponse:
        """See insights.proto."""
        v = Violations()
        v.text("question", request.question, chars_max=self._limits.query_chars_max)
        owner, reader = self._checked(request, v, has_limit=True)
        limit = request.limit or self._limits.search_limit_default
        result = await self._insights.ask(owner, reader, request.question, limit=limit)
        return _question_response(result, bytes_max=self._limits.page_bytes_max, decay=self._decay.now)

    async def GetReflection(self, request: pb.GetReflectionRequest, _context: Context) -> pb.GetReflectionResponse:
        """See insights.proto."""
        v = Violations()
        start_time, end_time = _time(v, request, "start_time"), _time(v, request, "end_time")
        if start_time is not None and end_time is not None and start_time >= end_time:
            v.add("end_time", "must be later than start_time")
        owner, reader = self._checked(request, v)
        reflection = await self._insights.reflect(owner, reader, start_time, end_time)
        bytes_max, listed = self._limits.page_bytes_max, self._settings.reflection_notes_max
        return _reflection_response(reflection, listed=listed, bytes_max=bytes_max, decay=self._decay.now)

    async def GetHealth(self, request: pb.GetHealthRequest, _context: Context) -> pb.GetHealthResponse:
        """See insights.proto."""
        v = Violations()
        v.identifier("user_id", request.user_id, chars_max=self._limits.id_chars_max)
        v.raise_if_any()
        health = await self._insights.health(owner_of(request.user_id, current_principal()))
        return pb.GetHealthResponse(
            note_count=health.notes,
            link_count=health.links,
            orphan_count=health.orphans,
            duplicate_count=health.duplicates,
            never_read_share=health.never_read_share,
            junk_share=health.junk_share,
            made_count=health.made,
        )

    def _checked(self, request: Any, violations: Violations, *, has_limit: bool = False) -> tuple[Owner, Reader]:
        """User and reader, once nothing is wrong with the request."""
        violations.identifier("user_id", request.user_id, chars_max=self._limits.id_chars_max)
        if has_limit:
            violations.number("limit", request.limit, low=0, high=self._limits.search_limit_max)
        reader: Reader = GLOBAL_SCOPE
        try:
            reader = reader_from_proto(request.reader_scope, present=request.HasField("reader_scope"))
        except InvalidArgument as error:
            violations.include(error)
        violations.raise_if_any()
        return owner_of(request.user_id, current_principal()), reader


def _time(violations: Violations, request: Any, name: str) -> datetime | None:
    if not request.HasField(name):
        return None
    try:
        return common.moment(getattr(request, name), field_path=name)
    except InvalidArgument as error:
        violations.include(error)
        return None


def _suggestion(suggestion: Suggestion) -> pb.Suggestion:
    kind = pb.SuggestionKind.Name(int(suggestion.kind))
    return pb.Suggestion(kind=kind, topic=suggestion.topic, note_ids=suggestion.note_ids, score=suggestion.score)


def _question_response(result: QuestionResult, *, bytes_max: int, decay: DecayOf) -> pb.SearchByQuestionResponse:
    response = pb.SearchByQuestionResponse(
        parsed=_parsed(result.parsed),
        refusal=result.parsed.refusal,
        notes=[note_to_proto(note, decay) for note in result.notes],
        note_count=result.note_count,
        topics=_topics(result.topics),
    )
    del response.notes[fitting(response.notes, bytes_max=bytes_max) :]
    return response


def _parsed(parsed: ParsedQuestion) -> pb.ParsedQuestion:
    message = pb.ParsedQuestion(
        intent=pb.QuestionIntent.Name(int(parsed.intent)), topic=parsed.topic, by_topic=parsed.by_topic
    )
    if parsed.kind is not None:
        message.kind = int(parsed.kind)  # type: ignore[assignment]  # the numbers are those of the wire format
    if parsed.start_time is not None:
        common.write_timestamp(message.start_time, parsed.start_time)
    if parsed.end_time is not None:
        common.write_timestamp(message.end_time, parsed.end_time)
    return message


def _reflection_response(
    reflection: reports.Reflection, *, listed: int, bytes_max: int, decay: DecayOf
) -> pb.GetReflectionResponse:
    """The report; with long notes it lists fewer. Half of a message is for the lists, the rest for the Markdown."""
    share = bytes_max // 6
    learned = [note_to_proto(note, decay) for note in reflection.learned[:listed]]
    pairs = [
        pb.Contradiction(first=note_to_proto(first, decay), second=note_to_proto(second, decay))
        for first, second in reflection.contradictions[:listed]
    ]
    unused = [note_to_proto(note, decay) for note in reflection.unused[:listed]]
    response = pb.GetReflectionResponse(
        start_time=common.timestamp(reflection.start_time),
        end_time=common.timestamp(reflection.end_time),
        learned_count=len(reflection.learned),
        learned=learned[: fitting(learned, bytes_max=share)],
        topics=_topics(reflection.topics),
        contradictions=pairs[: fitting(pairs, bytes_max=share)],
        contradiction_count=len(reflection.contradictions),
        unused_count=len(reflection.unused),
        unused=unused[: fitting(unused, bytes_max=share)],
    )
    response.markdown = to_markdown(response)
    return response


def _topics(topics: Sequence[tuple[str, int]]) -> list[pb.TopicCount]:
    return [pb.TopicCount(topic=topic, note_count=count) for topic, count in topics]
