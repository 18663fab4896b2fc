"""Which memories a message names."""

from __future__ import annotations

from google.protobuf import struct_pb2
from google.protobuf.message import Message

from mneme.agentic.v1 import notes_pb2
from mneme.episodic.v1 import activity_pb2
from mneme.gateway.v1 import recall_pb2
from mneme.semantic.v1 import facts_pb2, procedures_pb2, supersessions_pb2
from mneme.session.v1 import context_window_pb2
from services.gateway.audit.named import Named, named_in


def memories_in(*messages: Message | None) -> tuple[str, ...]:
    return named_in(*messages).memory_ids


def test_spec_6_10_ids_are_found_at_any_depth_each_once() -> None:
    request = facts_pb2.GetFactRequest(user_id="ada", fact_id="f1")
    response = facts_pb2.ListFactsResponse(facts=[facts_pb2.Fact(fact_id=one) for one in ("f2", "f1", "f3")])
    assert memories_in(request, None, response) == ("f1", "f2", "f3")


def test_spec_6_10_both_ends_of_a_link_are_named() -> None:
    response = notes_pb2.ListLinksResponse(links=[notes_pb2.Link(from_note_id="n1", to_note_id="n2")])
    assert memories_in(response) == ("n1", "n2")


def test_spec_6_10_what_a_memory_was_made_from_is_not_read_with_it() -> None:
    assert memories_in(facts_pb2.Fact(fact_id="f1", derived_from=["e1"])) == ("f1",)


def test_messages_without_ids_name_nothing() -> None:
    assert memories_in(recall_pb2.RecallRequest(user_id="ada"), None) == ()


def test_messages_that_contain_themselves_are_read() -> None:
    value = struct_pb2.Struct()
    value.update({"a": {"b": ["c"]}})
    assert memories_in(value) == ()


def test_spec_6_10_procedures_supersessions_and_merge_groups_are_named() -> None:
    listed = procedures_pb2.ListProceduresResponse(procedures=[procedures_pb2.Procedure(procedure_id="p1")])
    superseded = supersessions_pb2.ListSupersessionsResponse(
        supersessions=[supersessions_pb2.Supersession(supersession_id="s1")]
    )
    groups = facts_pb2.ListMergeGroupsResponse(
        groups=[facts_pb2.MergeGroup(group_id="g1", facts=[facts_pb2.Fact(fact_id="f1")])]
    )
    assert named_in(listed, superseded, groups) == Named(("p1", "g1", "f1"), {"supersessions": ("s1",)})


def test_spec_6_10_records_of_the_activity_log_are_named() -> None:
    record = activity_pb2.ActivityRecord(record_id="r1", task_id="t1")
    request = activity_pb2.RecordActivityRequest(user_id="ada", records=[record, record])
    assert named_in(request) == Named((), {"activity_records": ("r1",)})
    found = activity_pb2.ListTasksResponse(tasks=[activity_pb2.Task(task_id="t1"), activity_pb2.Task(task_id="t2")])
    assert named_in(activity_pb2.GetTaskRequest(task_id="t3"), found) == Named((), {"tasks": ("t3", "t1", "t2")})


def test_spec_6_10_items_of_a_context_window_are_named_and_those_of_a_snapshot_by_it() -> None:
    removed = context_window_pb2.SnapshotItem(item_id="i1", episode_id="e1")
    snapshot = context_window_pb2.ContextSnapshot(snapshot_id="s1", removed=[removed])
    item = context_window_pb2.ScoredContextItem(item=context_window_pb2.ContextItem(item_id="i2"))
    response = context_window_pb2.ListContextItemsResponse(items=[item])
    assert named_in(response, snapshot) == Named(("e1",), {"context_items": ("i2",), "snapshots": ("s1",)})
