"""Reading what a request says about conflicts, and what answers say of them."""

from __future__ import annotations

from typing import Any

import pytest

from mneme.gateway.v1 import context_pb2, recall_pb2
from services.common.errors import InvalidArgument, Reason
from services.gateway.recall.choices import ConflictChoice, ConflictPolicy
from services.gateway.requests import RequestLimits, RequestReader
from services.gateway.tokens import ConsistencyTokens
from tests.unit.gateway.tiers import NOON

READER = RequestReader(RequestLimits(), ConsistencyTokens(b"s" * 32))


def recall(**fields: Any) -> ConflictChoice:
    request = recall_pb2.RecallRequest(user_id="ada", query="where", **fields)
    return READER.recall(request, "acme", now=NOON).conflicts


def test_spec_5_7_a_request_that_says_nothing_leaves_it_to_the_settings() -> None:
    assert recall() == ConflictChoice()


@pytest.mark.parametrize("policy", ConflictPolicy, ids=lambda policy: policy.name)
def test_spec_5_7_policies_are_read(policy: ConflictPolicy) -> None:
    name = recall_pb2.ConflictPolicy.Name(int(policy))
    assert name == f"CONFLICT_POLICY_{policy.name}"
    assert recall(conflict_policy=name, drop_superseded=True) == ConflictChoice(policy, drops_superseded=True)


def test_spec_5_7_preferred_memories_are_read_for_recalls_and_contexts() -> None:
    fields: Any = {
        "user_id": "ada",
        "query": "where",
        "conflict_policy": recall_pb2.CONFLICT_POLICY_USER_OVERRIDE,
        "preferred_memory_ids": ["m1", "f2"],
    }
    wanted = ConflictChoice(ConflictPolicy.USER_OVERRIDE, frozenset({"m1", "f2"}))
    assert READER.recall(recall_pb2.RecallRequest(**fields), "acme", now=NOON).conflicts == wanted
    query, _ = READER.build_context(context_pb2.BuildContextRequest(**fields), "acme", now=NOON)
    assert query.conflicts == wanted


@pytest.mark.parametrize(
    ("fields", "path", "reason"),
    [
        ({"conflict_policy": 9}, "conflict_policy", Reason.UNKNOWN_ENUM_VALUE),
        ({"preferred_memory_ids": ["a"]}, "preferred_memory_ids", Reason.INVALID_FIELD),
        ({"conflict_policy": 1, "preferred_memory_ids": ["a"]}, "preferred_memory_ids", Reason.INVALID_FIELD),
        ({"conflict_policy": 4, "preferred_memory_ids": ["a", ""]}, "preferred_memory_ids[1]", Reason.INVALID_FIELD),
        ({"conflict_policy": 4, "preferred_memory_ids": ["a" * 129]}, "preferred_memory_ids[0]", Reason.TEXT_TOO_LONG),
        ({"conflict_policy": 4, "preferred_memory_ids": ["a"] * 201}, "preferred_memory_ids", Reason.TOO_MANY_ITEMS),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_spec_5_7_what_is_wrong_is_named(fields: dict[str, Any], path: str, reason: Reason) -> None:
    with pytest.raises(InvalidArgument) as caught:
        recall(**fields)
    assert [violation.field_path for violation in caught.value.violations] == [path]
    assert caught.value.reason is reason
