"""From groups of similar facts to messages. Pure functions; requests are read in `merge_commands.py`."""

from __future__ import annotations

from typing import cast

from mneme.semantic.v1 import facts_pb2 as pb
from services.common.auth import Principal
from services.common.convert import timestamp
from services.common.paging import Cursor, PageTokens, cut_page
from services.semantic.facts.convert import fact_to_proto
from services.semantic.facts.merge_commands import list_query
from services.semantic.facts.merging import MergeGroupPage, ShownGroup


def group_to_proto(shown: ShownGroup) -> pb.MergeGroup:
    """The message of a group."""
    group = shown.group
    return pb.MergeGroup(
        group_id=group.group_id,
        state=cast("pb.MergeGroupState", int(group.state)),
        facts=[fact_to_proto(fact) for fact in shown.facts],
        survivor_fact_id=group.survivor_id,
        create_time=timestamp(group.create_time),
        decide_time=None if group.decide_time is None else timestamp(group.decide_time),
        etag=shown.etag,
    )


def list_response(
    page: MergeGroupPage,
    request: pb.ListMergeGroupsRequest,
    caller: Principal,
    *,
    tokens: PageTokens,
    bytes_max: int,
) -> pb.ListMergeGroupsResponse:
    """A page, cut where it grows beyond `bytes_max`, with the token of the next one."""

    def cursor_of(index: int) -> Cursor:
        group = page.groups[index].group
        return group.create_time.isoformat(), group.group_id

    groups, cursor = cut_page(
        [group_to_proto(shown) for shown in page.groups],
        has_more=page.has_more,
        bytes_max=bytes_max,
        cursor_of=cursor_of,
    )
    token = tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request))
    return pb.ListMergeGroupsResponse(groups=groups, next_page_token=token)
