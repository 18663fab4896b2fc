"""Which memories a message names."""

from __future__ import annotations

from google.protobuf import struct_pb2

from mneme.agentic.v1 import notes_pb2
from mneme.gateway.v1 import recall_pb2
from mneme.semantic.v1 import facts_pb2
from services.gateway.audit.named import memories_named_in


def test_spec_6_10_ids_are_found_at_any_depth_each_once() -> None:
    request = facts_pb2.GetFactRequest(user_id="ada", fact_id="f1")
    response = facts_pb2.ListFactsResponse(facts=[facts_pb2.Fact(fact_id=one) for one in ("f2", "f1", "f3")])
    assert memories_named_in(request, None, response) == ("f1", "f2", "f3")


def test_spec_6_10_both_ends_of_a_link_are_named() -> None:
    response = notes_pb2.ListLinksResponse(links=[notes_pb2.Link(from_note_id="n1", to_note_id="n2")])
    assert memories_named_in(response) == ("n1", "n2")


def test_spec_6_10_what_a_memory_was_made_from_is_not_read_with_it() -> None:
    assert memories_named_in(facts_pb2.Fact(fact_id="f1", derived_from=["e1"])) == ("f1",)


def test_messages_without_ids_name_nothing() -> None:
    assert memories_named_in(recall_pb2.RecallRequest(user_id="ada"), None) == ()


def test_messages_that_contain_themselves_are_read() -> None:
    value = struct_pb2.Struct()
    value.update({"a": {"b": ["c"]}})
    assert memories_named_in(value) == ()
