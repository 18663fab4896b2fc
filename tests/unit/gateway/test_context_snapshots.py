from __future__ import annotations

import pytest

from mneme.common.v1 import common_pb2
from mneme.session.v1 import context_window_pb2 as pb
from services.gateway.context_window.activity import common_scope, snapshot_record

GLOBAL = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL)
SHOP = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="shop")
SESSION = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_SESSION, session_id="c")


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [((None, None), GLOBAL), ((SHOP, SHOP), SHOP), ((SHOP, None), SESSION), ((), GLOBAL)],
)
def test_a_snapshot_has_the_scope_of_its_items_or_of_the_conversation(
    scopes: tuple[common_pb2.Scope | None, ...], expected: common_pb2.Scope
) -> None:
    assert common_scope([pb.ContextItem(scope=scope) for scope in scopes], "c") == expected


def test_spec_2_10_a_pruning_is_a_record_of_the_activity_log() -> None:
    stayed = pb.SnapshotItem(item_id="a", kind=pb.CONTEXT_ITEM_KIND_SYSTEM_PROMPT, token_count=3, score=100.0)
    removed = pb.SnapshotItem(
        item_id="b", kind=pb.CONTEXT_ITEM_KIND_TOOL_RESULT, token_count=5, score=0.5, relevance=0.25
    )
    window = pb.ContextWindow(conversation_id="c", user_id="u", current_task_id="t")
    snapshot = pb.ContextSnapshot(
        snapshot_id="s", stayed=[stayed], removed=[removed], token_count_after=3, reason="forced"
    )
    record = snapshot_record(window, snapshot, SHOP, items_max=10)
    assert (record.record_id, record.conversation_id, record.task_id, record.scope) == ("s", "c", "t", SHOP)
    found = [(one.item_id, one.kind, one.is_pruned) for one in record.context_snapshot.items]
    assert found == [("a", "system_prompt", False), ("b", "tool_result", True)]
    assert record.context_snapshot.total_tokens == 3
    assert record.context_snapshot.reason == "pruning_forced"
    assert [(one.relevance, one.score) for one in record.context_snapshot.items] == [(1.0, 100.0), (0.25, 0.5)]


def test_spec_1_8_of_a_pruning_with_too_many_items_those_that_went_are_recorded_first() -> None:
    window = pb.ContextWindow(conversation_id="c", user_id="u")
    stayed = [pb.SnapshotItem(item_id=f"s{number}") for number in range(3)]
    removed = [pb.SnapshotItem(item_id=f"r{number}") for number in range(3)]
    snapshot = pb.ContextSnapshot(snapshot_id="s", stayed=stayed, removed=removed)
    for items_max, expected in ((5, ["s0", "s1", "r0", "r1", "r2"]), (2, ["r0", "r1"])):
        record = snapshot_record(window, snapshot, SHOP, items_max=items_max)
        assert [one.item_id for one in record.context_snapshot.items] == expected
