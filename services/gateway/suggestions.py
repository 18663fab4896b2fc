"""What a user asked lately, for suggestions to begin with: recalls are recorded at the gateway, notes in the tier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from annotated_types import Ge, Le

from mneme.agentic.v1 import insights_pb2
from services.common.clock import Clock
from services.common.scope import Scope
from services.common.settings_types import CountOrNone
from services.common.turns import MessageRole, Turn
from services.gateway.journal.gate import GateSettings, WriteGate
from services.gateway.journal.model import RecallRecord
from services.gateway.journal.recall_log import RecallLog

GET_SUGGESTIONS: Final = "mneme.agentic.v1.InsightService.GetSuggestions"


@dataclass(frozen=True, slots=True)
class SuggestionSettings:
    """What suggestions begin with where a request names no recent queries."""

    recalls: CountOrNone = 50  # latest recalls that are looked at; 0: suggestions begin with the notes used last
    queries: Annotated[int, Ge(1), Le(20)] = 10  # different queries of those that are used


class RecentQueries:
    """Completes requests for suggestions."""

    def __init__(self, recalls: RecallLog, clock: Clock, settings: SuggestionSettings) -> None:
        """Reads the queries of `recalls`."""
        self._recalls = recalls
        self._clock = clock
        self._settings = settings
        self._gate = WriteGate(GateSettings(is_enabled=True))

    async def __call__(self, request: insights_pb2.GetSuggestionsRequest, tenant_id: str, reader: Scope) -> None:
        """Fills `recent_queries` where it is empty.

        Raises:
            MnemeError: The recalls cannot be read.
        """
        if request.recent_queries or not self._settings.recalls:
            return
        found = await self._recalls.latest(tenant_id, request.user_id, limit=self._settings.recalls)
        queries = different_queries(found, reader)
        request.recent_queries.extend((await self._asking(queries))[: self._settings.queries])

    async def _asking(self, queries: Sequence[str]) -> list[str]:
        """Those that are about something: "hello" and "thanks" are not."""
        now = self._clock.now()
        asking = []
        for query in queries:  # one by one: none is the answer to another
            (verdict,) = await self._gate.judge([Turn(role=MessageRole.USER, content=query, time=now)])
            if not verdict.reason.is_gated:
                asking.append(query)
        return asking


def different_queries(recalls: Sequence[RecallRecord], reader: Scope) -> list[str]:
    """The stored queries that were asked where the reader sees memories, the latest first, each once."""
    found: dict[str, str] = {}
    for recall in recalls:
        if recall.query and reader.sees(recall.scope):
            found.setdefault(" ".join(recall.query.casefold().split()), recall.query)
    return list(found.values())
