"""Requests about groups of similar facts."""

from __future__ import annotations

import pytest

from mneme.common.v1 import common_pb2
from mneme.semantic.v1 import facts_pb2 as pb
from services.common.auth import Principal, Role
from services.common.errors import InvalidArgument, Reason
from services.common.paging import PageTokens
from services.semantic.config import FactLimits
from services.semantic.facts.merge_commands import list_command, list_query

READER = Principal("acme", "agent", Role.READER)
TOKENS = PageTokens(b"secret")


def test_spec_3_6_a_page_token_of_groups_holds_for_its_reader_alone() -> None:
    project = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
    request = pb.ListMergeGroupsRequest(user_id="ada", reader_scope=project)
    place = ("2026-03-01T12:00:00+00:00", "00000000-0000-7000-8000-000000000001")
    token = TOKENS.encode(place, tenant_id="acme", query=list_query(request))
    request.page_token = token
    assert list_command(request, READER, limits=FactLimits(), tokens=TOKENS).after is not None
    for other in (None, common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL)):
        asked = pb.ListMergeGroupsRequest(user_id="ada", page_token=token, reader_scope=other)
        with pytest.raises(InvalidArgument) as refused:
            list_command(asked, READER, limits=FactLimits(), tokens=TOKENS)
        assert refused.value.reason is Reason.INVALID_PAGE_TOKEN
