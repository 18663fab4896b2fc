"""The gRPC edge of erasures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from mneme.gateway.v1 import erasure_pb2, erasure_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.maintenance.purges import PurgeAfter
from services.common.paging import PageTokens
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.gateway.erasure import convert
from services.gateway.erasure.correcting import Correcting
from services.gateway.erasure.forgetting import Forgetting
from services.gateway.erasure.model import Erasure
from services.gateway.erasure.requests import ErasureRequestReader
from services.gateway.erasure.service import Erasing
from services.gateway.journal.model import Caller
from services.gateway.tokens import ConsistencyTokens

ROLES = {
    "Erase": Role.WRITER,
    "GetErasure": Role.READER,
    "ListErasures": Role.READER,
    "Forget": Role.WRITER,
    "Correct": Role.WRITER,
}


PurgesAfter = Callable[[Sequence[datetime]], Awaitable[Sequence[PurgeAfter]]]
"""For each time what becomes of the files after an erasure that was done then."""


class ErasureServicer(erasure_pb2_grpc.ErasureServiceServicer):
    """Implements ErasureService."""

    def __init__(
        self,
        erasing: Erasing,
        forgetting: Forgetting,
        correcting: Correcting,
        reader: ErasureRequestReader,
        *,
        tokens: ConsistencyTokens,
        pages: PageTokens,
        clock: Clock,
        deadline_seconds: float,
        purges_after: PurgesAfter,
    ) -> None:
        """Serves the use cases; `deadline_seconds` are for a call whose deadline is not known."""
        self._purges_after = purges_after
        self._erasing = erasing
        self._forgetting = forgetting
        self._correcting = correcting
        self._reader = reader
        self._tokens = tokens
        self._pages = pages
        self._clock = clock
        self._deadline_seconds = deadline_seconds

    async def Erase(self, request: erasure_pb2.EraseRequest, context: Context) -> erasure_pb2.EraseResponse:
        """See the proto."""
        principal, command = current_principal(), self._reader.erase(request)
        if request.dry_run:
            plan = await self._erasing.plan(principal, command.target)
            return erasure_pb2.EraseResponse(plan=convert.plan_message(plan, self._erasing.settings))
        caller = Caller(principal.tenant_id, principal.principal_id)
        left = seconds_left(self._deadline_seconds)
        erased = await self._erasing.erase(principal, caller, command, seconds_left=left)
        [message] = await self._receipts([erased.erasure])
        return erasure_pb2.EraseResponse(erasure=message, replayed=erased.replayed)

    async def GetErasure(
        self, request: erasure_pb2.GetErasureRequest, context: Context
    ) -> erasure_pb2.GetErasureResponse:
        """See the proto."""
        erasure = await self._erasing.get(current_principal().tenant_id, self._reader.erasure_id(request))
        [message] = await self._receipts([erasure])
        return erasure_pb2.GetErasureResponse(erasure=message)

    async def ListErasures(
        self, request: erasure_pb2.ListErasuresRequest, context: Context
    ) -> erasure_pb2.ListErasuresResponse:
        """See the proto."""
        principal, size = current_principal(), self._reader.list_size(request)
        query = ("ListErasures", request.user_id)
        after = self._pages.decode(request.page_token, tenant_id=principal.tenant_id, query=query)
        before = None if after is None else str(after[0])
        page, last = await self._erasing.list_erasures(principal, request.user_id, before=before, page_size=size)
        cursor = None if last is None else (last,)
        return erasure_pb2.ListErasuresResponse(
            erasures=await self._receipts(page),
            next_page_token=self._pages.next_token(cursor, tenant_id=principal.tenant_id, query=query),
        )

    async def _receipts(self, erasures: Sequence[Erasure]) -> list[erasure_pb2.Erasure]:
        """The receipts, with what becomes of their files."""
        done = [erasure.complete_time for erasure in erasures if erasure.complete_time is not None]
        purges = dict(zip(done, await self._purges_after(done), strict=True)) if done else {}
        return [
            convert.erasure_message(
                erasure,
                self._erasing.settings,
                purge=purges[erasure.complete_time] if erasure.complete_time is not None else PurgeAfter(),
            )
            for erasure in erasures
        ]

    async def Forget(self, request: erasure_pb2.ForgetRequest, context: Context) -> erasure_pb2.ForgetResponse:
        """See the proto."""
        command = self._reader.forget(request)
        left = seconds_left(self._deadline_seconds)
        forgotten = await self._forgetting.forget(current_principal(), command, seconds_left=left)
        return convert.forget_response(forgotten, self._erasing.settings)

    async def Correct(self, request: erasure_pb2.CorrectRequest, context: Context) -> erasure_pb2.CorrectResponse:
        """See the proto."""
        principal = current_principal()
        command = self._reader.correct(request, now=self._clock.now())
        left = seconds_left(self._deadline_seconds)
        correction = await self._correcting.correct(principal, command, seconds_left=left)
        return convert.correct_response(correction, principal.tenant_id, self._tokens, self._erasing.settings)


def erasure_binding(servicer: ErasureServicer) -> ServiceBinding:
    """The service, for a server."""
    return ServiceBinding(
        "mneme.gateway.v1.ErasureService",
        erasure_pb2_grpc.add_ErasureServiceServicer_to_server,
        servicer,
        ROLES,
    )
