"""Requests about context windows that cannot be carried out."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration

from mneme.session.internal.v1 import context_internal_pb2
from mneme.session.v1 import context_window_pb2
from services.common.auth import Principal, Role
from services.common.errors import InvalidArgument
from services.session.context_window.commands import commit_command, update_command
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
