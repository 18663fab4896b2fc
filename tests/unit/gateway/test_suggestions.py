"""Which queries suggestions begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from mneme.agentic.v1 import insights_pb2
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.journal.model import RecallRecord
from services.gateway.suggestions import RecentQueries, SuggestionSettings, different_queries
from tests.support.clock import FakeClock
from tests.unit.gateway.tiers import NOON

PROJECT = Scope(ScopeLevel.PROJECT, "p1")


def recall(query: str, scope: Scope = GLOBAL_SCOPE) -> RecallRecord:
    return RecallRecord("acme", "0190a1b2-0000-7000-8000-000000000001", "ada", (), NOON, query=query, scope=scope)


class Recalls:
    """A log of recalls; counts how often it is read."""

    def __init__(self, *found: RecallRecord) -> None:
        self.found = found
        self.limits: list[int] = []

    async def latest(self, tenant_id: str, user_id: str, *, limit: int) -> Sequence[RecallRecord]:
        assert (tenant_id, user_id) == ("acme", "ada")
        self.limits.append(limit)
        return self.found[:limit]


async def completed(recalls: Recalls, settings: SuggestionSettings | None = None, *queries: str) -> list[str]:
    request = insights_pb2.GetSuggestionsRequest(user_id="ada", recent_queries=queries)
    complete = RecentQueries(cast("Any", recalls), FakeClock(NOON), settings or SuggestionSettings())
    await complete(request, "acme", GLOBAL_SCOPE)
    return list(request.recent_queries)


def test_spec_4_6_a_query_counts_once_and_where_the_reader_sees_what_was_asked() -> None:
    recalls = [
        recall("Where is  the boat?"),
        recall(""),
        recall("Secret plans?", PROJECT),
        recall("where is the boat?"),
    ]
    assert different_queries(recalls, GLOBAL_SCOPE) == ["Where is  the boat?"]
    assert different_queries(recalls, PROJECT) == ["Where is  the boat?", "Secret plans?"]


async def test_spec_4_6_the_latest_queries_that_are_about_something_are_used() -> None:
    recalls = Recalls(*map(recall, ["hello", "What is due in June?", "Thanks!", "Who is Tom?", "Where is the boat?"]))
    assert await completed(recalls, SuggestionSettings(queries=2)) == ["What is due in June?", "Who is Tom?"]
    assert await completed(recalls, SuggestionSettings(recalls=2)) == ["What is due in June?"]


async def test_spec_4_6_queries_that_a_request_names_stay_alone() -> None:
    recalls = Recalls(recall("Who is Tom?"))
    assert await completed(recalls, None, "Where is the boat?") == ["Where is the boat?"]
    assert await completed(recalls, SuggestionSettings(recalls=0)) == []
    assert recalls.limits == []
