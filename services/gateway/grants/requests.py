"""From the requests of GrantService to commands: checks every field and names the wrong ones."""

from __future__ import annotations

from mneme.gateway.v1 import grants_pb2
from services.common.convert import moment, scope_from_proto
from services.common.errors import InvalidArgument
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.validation import Violations
from services.gateway.grants.model import CreateGrant, MemoryKind, RevokeGrant


class GrantRequestReader:
    """Reads requests; raises `InvalidArgument` with all that is wrong in one."""

    def __init__(self, *, id_chars_max: int, page_size_default: int, page_size_max: int) -> None:
        """Checks against these limits."""
        self._id_chars_max = id_chars_max
        self._page_size_default = page_size_default
        self._page_size_max = page_size_max

    def create(self, request: grants_pb2.CreateGrantRequest) -> CreateGrant:
        """The grant to make. Whether it would expire before it began depends on whether the request is a repeat."""
        violations = Violations()
        self._ids(violations, request_id=request.request_id, user_id=request.user_id)
        from_scope = self._scope(violations, request, "from_scope")
        to_scope = self._scope(violations, request, "to_scope")
        if from_scope is not None and from_scope == to_scope:
            violations.add("to_scope", "must be another place than from_scope")
        kinds: set[MemoryKind] = set()
        for index, value in enumerate(request.kinds[: len(MemoryKind) + 1]):
            if not violations.enum(f"kinds[{index}]", value, MemoryKind):
                continue
            if MemoryKind(value) in kinds:
                violations.add(f"kinds[{index}]", "is named twice")
            kinds.add(MemoryKind(value))
        expire_time = None
        if request.HasField("expire_time"):
            expire_time = violations.read(lambda: moment(request.expire_time, field_path="expire_time"), None)
        violations.raise_if_any()
        return CreateGrant(
            request_id=request.request_id,
            user_id=request.user_id,
            from_scope=from_scope or GLOBAL_SCOPE,
            to_scope=to_scope or GLOBAL_SCOPE,
            kinds=tuple(sorted(kinds)),
            expire_time=expire_time,
        )

    def revoke(self, request: grants_pb2.RevokeGrantRequest) -> RevokeGrant:
        """The grant to take back."""
        violations = Violations()
        self._ids(violations, request_id=request.request_id, user_id=request.user_id)
        violations.uuid("grant_id", request.grant_id)
        violations.raise_if_any()
        return RevokeGrant(request.request_id, request.user_id, request.grant_id)

    def list_size(self, request: grants_pb2.ListGrantsRequest) -> int:
        """The page size of a list."""
        violations = Violations()
        self._ids(violations, user_id=request.user_id)
        size = violations.page_size(request.page_size, default=self._page_size_default, maximum=self._page_size_max)
        violations.raise_if_any()
        return size

    @staticmethod
    def _scope(violations: Violations, request: grants_pb2.CreateGrantRequest, name: str) -> Scope | None:
        """The scope; None where it is missing or not valid: an omitted field opens nothing."""
        if not request.HasField(name):
            violations.add(name, "is required")
            return None
        try:
            return scope_from_proto(getattr(request, name), present=True, field_path=name)
        except InvalidArgument as error:
            violations.include(error)
            return None

    def _ids(self, violations: Violations, **ids: str) -> None:
        for name, value in ids.items():
            violations.identifier(name, value, chars_max=self._id_chars_max)
