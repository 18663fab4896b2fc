# Generated from aio/grants.py by `make client`, not to be edited.
"""Grants: who may see memories of places that are not on their path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from mneme.gateway.v1 import grants_pb2
from mneme_client import from_wire, results, to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_nothing, read_one, read_page
from mneme_client.enums import MemoryKind
from mneme_client.types import Scope

_SERVICE = "/mneme.gateway.v1.GrantService"


class GrantOperations(Operations):
    """Creates, lists and revokes grants."""

    def create_grant(
        self,
        user_id: str,
        *,
        from_scope: Scope,
        to_scope: Scope,
        kinds: Sequence[MemoryKind] = (),
        expire_time: datetime | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.Grant:
        """Lets readers in one place see the memories of another. Between two places there is one grant.

        Args:
            user_id: Whose memory.
            from_scope: The place whose memories are seen, and no other one.
            to_scope: The place whose readers see them, as do those below it.
            kinds: Only these kinds of memories; empty means all.
            expire_time: From when on it does not hold; None means never.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = grants_pb2.CreateGrantRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            from_scope=to_wire.scope(from_scope),
            to_scope=to_wire.scope(to_scope),
            kinds=[to_wire.enum_number(kind) for kind in kinds],
            expire_time=to_wire.optional_timestamp(expire_time),
        )
        call = Call(
            f"{_SERVICE}/CreateGrant", request, grants_pb2.CreateGrantResponse, read_one("grant", from_wire.grant)
        )
        return self._call(call, timeout_seconds)

    def list_grants(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[results.Grant]:
        """A user's grants that are in force, oldest first; pages are fetched as they are needed."""
        request = grants_pb2.ListGrantsRequest(user_id=user_id, page_size=page_size)
        read = read_page("grants", from_wire.grant)
        call = Call(f"{_SERVICE}/ListGrants", request, grants_pb2.ListGrantsResponse, read)
        return self._pages(call, timeout_seconds)

    def revoke_grant(
        self, user_id: str, grant_id: str, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> None:
        """Revokes a grant, for all recalls that begin after the response.

        Recalls through other replicas of the gateway may use it for some seconds more.
        """
        request = grants_pb2.RevokeGrantRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, grant_id=grant_id
        )
        call = Call(f"{_SERVICE}/RevokeGrant", request, grants_pb2.RevokeGrantResponse, read_nothing)
        self._call(call, timeout_seconds)
