"""The gRPC edge of a tier's records of a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mneme.common.internal.v1 import user_records_pb2 as pb
from mneme.common.internal.v1 import user_records_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.copying.model import Owner
from services.common.portability.records import TierRecords, UserRecords
from services.common.portability.store import UserRecordStore
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.common.validation import Violations

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["UserRecordsService"].full_name

ROLES: Final[Mapping[str, Role]] = {"ReadUserRecords": Role.SERVICE, "WriteUserRecords": Role.SERVICE}
"""The role that each method needs, by its name."""

_ID_CHARS_MAX: Final = 128
_PAGE_SIZE_DEFAULT: Final = 500
_PAGE_SIZE_MAX: Final = 1_000


def user_records_binding(store: UserRecordStore, tier: TierRecords) -> ServiceBinding:
    """The service over a tier's store, for a `GrpcServer`."""
    return ServiceBinding(
        SERVICE_NAME,
        user_records_pb2_grpc.add_UserRecordsServiceServicer_to_server,
        UserRecordsServicer(UserRecords(store, tier)),
        ROLES,
    )


class UserRecordsServicer(user_records_pb2_grpc.UserRecordsServiceServicer):
    """Handlers of UserRecordsService."""

    def __init__(self, records: UserRecords) -> None:
        """Serve the use cases."""
        self._records = records

    async def ReadUserRecords(
        self, request: pb.ReadUserRecordsRequest, _context: Context
    ) -> pb.ReadUserRecordsResponse:
        """See user_records.proto."""
        owner = _owner(request.user_id, request.page_size)
        limit = request.page_size or _PAGE_SIZE_DEFAULT
        page = await self._records.read(owner, request.page_token, limit=limit, memories_only=request.memories_only)
        return pb.ReadUserRecordsResponse(lines=page.lines, next_page_token=page.next_token)

    async def WriteUserRecords(
        self, request: pb.WriteUserRecordsRequest, _context: Context
    ) -> pb.WriteUserRecordsResponse:
        """See user_records.proto."""
        owner = _owner(request.user_id, len(request.lines))
        await self._records.write(owner, request.lines, validate_only=request.validate_only)
        return pb.WriteUserRecordsResponse()


def _owner(user_id: str, count: int) -> Owner:
    violations = Violations()
    violations.identifier("user_id", user_id, chars_max=_ID_CHARS_MAX)
    violations.count("lines", count, count_max=_PAGE_SIZE_MAX)
    violations.raise_if_any()
    return current_principal().tenant_id, user_id
