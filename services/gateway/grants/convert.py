"""From grants to the messages of GrantService. Pure functions."""

from __future__ import annotations

from mneme.gateway.v1 import grants_pb2, tiers_pb2
from services.common.convert import scope_to_proto, timestamp
from services.gateway.grants.model import Grant, Granted


def grant_message(grant: Grant) -> grants_pb2.Grant:
    """A grant."""
    return grants_pb2.Grant(
        grant_id=grant.grant_id,
        user_id=grant.user_id,
        from_scope=scope_to_proto(grant.from_scope),
        to_scope=scope_to_proto(grant.to_scope),
        kinds=[tiers_pb2.MemoryKind.Name(int(kind)) for kind in grant.kinds],
        create_time=timestamp(grant.create_time),
        expire_time=timestamp(grant.expire_time) if grant.expire_time is not None else None,
        principal_id=grant.principal_id,
    )


def create_response(granted: Granted) -> grants_pb2.CreateGrantResponse:
    """The acknowledgement of a grant."""
    return grants_pb2.CreateGrantResponse(grant=grant_message(granted.grant), replayed=granted.replayed)
