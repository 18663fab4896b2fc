"""The gRPC edge of grants."""

from __future__ import annotations

from mneme.gateway.v1 import grants_pb2, grants_pb2_grpc
from services.common.auth import Principal, current_principal
from services.common.paging import PageTokens
from services.common.rpc.interceptors.base import Context
from services.gateway.grants import convert
from services.gateway.grants.requests import GrantRequestReader
from services.gateway.grants.service import Grants
from services.gateway.journal.model import Caller


class GrantServicer(grants_pb2_grpc.GrantServiceServicer):
    """Implements GrantService."""

    def __init__(self, grants: Grants, reader: GrantRequestReader, pages: PageTokens) -> None:
        """Serves `grants`."""
        self._grants = grants
        self._reader = reader
        self._pages = pages

    async def CreateGrant(
        self, request: grants_pb2.CreateGrantRequest, context: Context
    ) -> grants_pb2.CreateGrantResponse:
        """See the proto."""
        command = self._reader.create(request)
        return convert.create_response(await self._grants.create(_caller(current_principal()), command))

    async def ListGrants(
        self, request: grants_pb2.ListGrantsRequest, context: Context
    ) -> grants_pb2.ListGrantsResponse:
        """See the proto."""
        tenant_id = current_principal().tenant_id
        limit = self._reader.list_size(request)
        query = ("ListGrants", request.user_id)
        after = self._pages.decode(request.page_token, tenant_id=tenant_id, query=query)
        page = await self._grants.list_grants(tenant_id, request.user_id, limit=limit, after=after)
        return grants_pb2.ListGrantsResponse(
            grants=[convert.grant_message(grant) for grant in page.items],
            next_page_token=self._pages.next_token(page.next_cursor, tenant_id=tenant_id, query=query),
        )

    async def RevokeGrant(
        self, request: grants_pb2.RevokeGrantRequest, context: Context
    ) -> grants_pb2.RevokeGrantResponse:
        """See the proto."""
        command = self._reader.revoke(request)
        return grants_pb2.RevokeGrantResponse(replayed=await self._grants.revoke(_caller(current_principal()), command))


def _caller(principal: Principal) -> Caller:
    return Caller(principal.tenant_id, principal.principal_id)
