"""From supersessions to messages. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

from mneme.semantic.v1 import supersessions_pb2 as pb
from services.common.auth import Principal
from services.common.convert import timestamp
from services.common.paging import PageTokens
from services.semantic.supersession.commands import list_query
from services.semantic.supersession.model import Reason, Supersession, SupersessionPosition


def supersession_to_proto(one: Supersession) -> pb.Supersession:
    """The message of a supersession."""
    return pb.Supersession(
        supersession_id=one.supersession_id,
        memory_id=one.loser.interaction_id,
        statement=one.statement,
        whole_turn=one.is_whole,
        superseded_by=one.winner.interaction_id,
        standing_statement=one.standing_statement,
        reason=pb.SupersessionReason.Name(int(one.reason)),
        state=pb.SupersessionState.Name(int(one.state)),
        end_time=timestamp(one.over_time),
        create_time=timestamp(one.create_time),
        premise=one.premise if one.reason is Reason.PREMISE_ENDED else "",
        decided_by=pb.SupersessionDecider.Name(int(one.decided_by)),
        decision_reason=one.decision_reason,
    )


def list_response(
    page: Sequence[Supersession],
    position: SupersessionPosition | None,
    request: pb.ListSupersessionsRequest,
    caller: Principal,
    *,
    tokens: PageTokens,
) -> pb.ListSupersessionsResponse:
    """A page with the token of the next one."""
    cursor = None if position is None else (position.create_time.isoformat(), position.supersession_id)
    return pb.ListSupersessionsResponse(
        supersessions=[supersession_to_proto(one) for one in page],
        next_page_token=tokens.next_token(cursor, tenant_id=caller.tenant_id, query=list_query(request)),
    )
