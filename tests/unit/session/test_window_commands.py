"""Requests about context windows that cannot be carried out."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration

from mneme.common.v1 import common_pb2
from mneme.session.internal.v1 import context_internal_pb2
from mneme.session.v1 import context_window_pb2
from services.common.auth import Principal, Role
from services.common.errors import InvalidArgument, Reason
from services.session.context_window.commands import add_command, commit_command, delete_command, update_command
from services.session.context_window.config import WindowLimits
from tests.support.clock import START

AGENT = Principal("acme", "agent", Role.WRITER)


def test_a_time_to_live_beyond_all_bounds_is_named() -> None:
    request = context_window_pb2.UpdateContextWindowRequest(
        request_id="r1", user_id="ada", conversation_id="c1", ttl=Duration(seconds=2**62)
    )
    with pytest.raises(InvalidArgument) as refused:
        update_command(request, AGENT, limits=WindowLimits())
    assert [one.field_path for one in refused.value.violations] == ["ttl"]


def test_an_item_without_a_kind_is_named() -> None:
    request = context_internal_pb2.CommitContextRequest(user_id="ada", conversation_id="c1")
    request.removed.add(item_id="i1")
    with pytest.raises(InvalidArgument) as refused:
        commit_command(request, AGENT, now=START, limits=WindowLimits())
    assert [one.field_path for one in refused.value.violations] == ["removed[0].kind"]


def test_spec_7_2_every_wrong_field_of_a_window_is_named_at_once() -> None:
    limits, request = WindowLimits(), context_window_pb2.AddContextItemsRequest()
    item = request.items.add(relevance=2.0)
    item.create_time.seconds = 2**40
    item.scope.level = common_pb2.SCOPE_LEVEL_UNSPECIFIED
    with pytest.raises(InvalidArgument) as refused:
        add_command(request, AGENT, now=START, limits=limits)
    assert {one.field_path for one in refused.value.violations} == {
        "request_id",
        "user_id",
        "conversation_id",
        "items[0].kind",
        "items[0].content",
        "items[0].relevance",
        "items[0].create_time",
        "items[0].scope.level",
    }
    with pytest.raises(InvalidArgument) as refused:
        delete_command(context_window_pb2.DeleteContextWindowRequest(user_id="ada"), AGENT, limits=limits)
    assert [one.field_path for one in refused.value.violations] == ["request_id", "conversation_id"]


def test_spec_7_2_what_an_item_has_beside_its_content_is_bounded() -> None:
    item = context_window_pb2.ContextItem(kind=context_window_pb2.CONTEXT_ITEM_KIND_ASSISTANT_RESPONSE)
    for number in range(2):
        item.tool_calls.add(id=f"call-{number}", name="bash", arguments="a" * 6_000)
    request = context_window_pb2.AddContextItemsRequest(
        request_id="r1", user_id="ada", conversation_id="c1", items=[item]
    )
    with pytest.raises(InvalidArgument) as refused:
        add_command(request, AGENT, now=START, limits=WindowLimits())
    assert refused.value.reason is Reason.TEXT_TOO_LONG
    assert refused.value.metadata == {"limit": "12000", "actual": "12020"}
    assert [one.field_path for one in refused.value.violations] == ["items[0]"]
