"""Reading of recalls and contexts: every limit, with the path of each wrong field."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import context_pb2, recall_pb2, tiers_pb2
from services.common.errors import Reason
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.context.model import ContextOrder, ContextRequest, SectionKind
from services.gateway.journal.model import SequenceSpan, Tier
from services.gateway.recall.model import RECALL_TIERS
from tests.unit.gateway.test_requests import NOW, READER, TOKENS, wrong


def question(**fields: Any) -> recall_pb2.RecallRequest:
    return recall_pb2.RecallRequest(**{"user_id": "ada", "query": "what?", **fields})


def test_a_question_has_defaults() -> None:
    query = READER.recall(question(), "acme", now=NOW)
    assert (query.limit, query.as_of, query.scope, query.tiers) == (10, NOW, GLOBAL_SCOPE, RECALL_TIERS)
    assert not query.is_past
    assert query.written is None


@pytest.mark.parametrize(("seconds_ago", "is_past"), [(0, False), (5, False), (3600, True)])
def test_spec_3_7_the_clock_of_a_caller_is_the_present(seconds_ago: int, is_past: bool) -> None:
    as_of = Timestamp(seconds=int(NOW.timestamp()) - seconds_ago)
    assert READER.recall(question(as_of_time=as_of), "acme", now=NOW).is_past is is_past


def test_a_question_says_what_it_wants() -> None:
    token = TOKENS.encode("acme", SequenceSpan(3, 4))
    as_of = Timestamp(seconds=1_700_000_000)
    request = question(
        limit=200, conversation_id="c1", consistency_token=token, as_of_time=as_of, tiers=[tiers_pb2.TIER_SEMANTIC]
    )
    query = READER.recall(request, "acme", now=NOW)
    assert (query.limit, query.conversation_id, query.tiers) == (200, "c1", (Tier.SEMANTIC,))
    assert query.written == SequenceSpan(3, 4)
    assert query.as_of.timestamp() == 1_700_000_000


RECALL_FAULTS = {
    "no user": (question(user_id=""), Reason.INVALID_FIELD, ["user_id"]),
    "no query": (question(query="\n"), Reason.INVALID_FIELD, ["query"]),
    "long query": (question(query="q" * 8_193), Reason.TEXT_TOO_LONG, ["query"]),
    "NUL in the query": (question(query="a\x00"), Reason.INVALID_FIELD, ["query"]),
    "long conversation": (question(conversation_id="c" * 129), Reason.TEXT_TOO_LONG, ["conversation_id"]),
    "negative limit": (question(limit=-1), Reason.INVALID_FIELD, ["limit"]),
    "limit too large": (question(limit=201), Reason.INVALID_FIELD, ["limit"]),
    "unspecified tier": (question(tiers=[0]), Reason.UNKNOWN_ENUM_VALUE, ["tiers[0]"]),
    "unknown tier": (question(tiers=[2, 42]), Reason.UNKNOWN_ENUM_VALUE, ["tiers[1]"]),
    "tier that cannot be asked": (question(tiers=[tiers_pb2.TIER_PROFILE]), Reason.INVALID_FIELD, ["tiers[0]"]),
    "scope without its id": (
        question(scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK)),
        Reason.INVALID_FIELD,
        ["scope.task_id"],
    ),
    "impossible time": (question(as_of_time=Timestamp(nanos=-1)), Reason.INVALID_FIELD, ["as_of_time"]),
    "token of another tenant": (
        question(consistency_token=TOKENS.encode("globex", SequenceSpan(1, 1))),
        Reason.INVALID_CONSISTENCY_TOKEN,
        ["consistency_token"],
    ),
}


@pytest.mark.parametrize("fault", RECALL_FAULTS)
def test_spec_7_2_a_faulty_question_is_refused_by_the_path_of_its_field(fault: str) -> None:
    request, reason, paths = RECALL_FAULTS[fault]
    assert wrong(lambda: READER.recall(request, "acme", now=NOW)) == (reason, paths)


def context_request(**fields: Any) -> context_pb2.BuildContextRequest:
    return context_pb2.BuildContextRequest(**{"user_id": "ada", "query": "what?", **fields})


@pytest.mark.parametrize(("asked", "budget", "limit"), [(0, 2_000, 166), (64, 64, 20), (100_000, 100_000, 200)])
def test_a_context_recalls_as_much_as_its_budget_can_hold(asked: int, budget: int, limit: int) -> None:
    query, wanted = READER.build_context(context_request(token_budget=asked), "acme", now=NOW)
    assert (wanted.token_budget, query.limit) == (budget, limit)


def test_spec_5_9_a_context_may_name_budgets_of_sections_and_an_order() -> None:
    request = context_request(
        token_budget=1_000,
        section_budgets=[
            context_pb2.ContextSectionBudget(kind=context_pb2.CONTEXT_SECTION_KIND_FACTS, token_budget=400),
            context_pb2.ContextSectionBudget(kind=context_pb2.CONTEXT_SECTION_KIND_NOTES, token_budget=0),
        ],
        order=context_pb2.CONTEXT_ORDER_CHRONOLOGICAL,
    )
    _, wanted = READER.build_context(request, "acme", now=NOW)
    assert wanted == ContextRequest(1_000, {SectionKind.FACTS: 400, SectionKind.NOTES: 0}, ContextOrder.CHRONOLOGICAL)
    assert READER.build_context(context_request(), "acme", now=NOW)[1].order is ContextOrder.BEST_FIRST


def test_spec_7_2_faulty_budgets_of_sections_are_refused_by_the_paths_of_their_fields() -> None:
    facts = context_pb2.CONTEXT_SECTION_KIND_FACTS
    request = context_request(
        token_budget=100,
        section_budgets=[
            context_pb2.ContextSectionBudget(kind=facts, token_budget=-1),
            context_pb2.ContextSectionBudget(token_budget=1),
            context_pb2.ContextSectionBudget(kind=facts, token_budget=101),
        ],
        order=9,
    )
    _, paths = wrong(lambda: READER.build_context(request, "acme", now=NOW))
    assert paths == [
        "order",
        "section_budgets[0].token_budget",
        "section_budgets[1].kind",
        "section_budgets[2].token_budget",
        "section_budgets[2].kind",
        "section_budgets",
    ]


def test_a_context_hands_its_fields_to_the_recall() -> None:
    request = context_request(
        conversation_id="c1",
        scope=common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_SESSION, session_id="s"),
        consistency_token=TOKENS.encode("acme", SequenceSpan(8, 9)),
        as_of_time=Timestamp(seconds=1_700_000_000),
    )
    query, _ = READER.build_context(request, "acme", now=NOW)
    assert query.conversation_id == "c1"
    assert query.scope == Scope(ScopeLevel.SESSION, session_id="s")
    assert query.written == SequenceSpan(8, 9)
    assert query.as_of.timestamp() == 1_700_000_000


@pytest.mark.parametrize("budget", [-5, 1, 63, 100_001])
def test_spec_7_2_a_context_outside_of_its_budgets_is_refused(budget: int) -> None:
    request = context_request(token_budget=budget)
    assert wrong(lambda: READER.build_context(request, "acme", now=NOW)) == (Reason.INVALID_FIELD, ["token_budget"])


def test_all_faults_of_a_context_are_named_at_once() -> None:
    request = context_request(token_budget=1, user_id="")
    _, paths = wrong(lambda: READER.build_context(request, "acme", now=NOW))
    assert paths == ["token_budget", "user_id"]
