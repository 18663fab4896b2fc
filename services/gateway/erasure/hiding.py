"""Users who are being erased: reads find nothing of them, though some stores still hold their data."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, Final, Protocol

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from services.common.auth import Role, current_principal_or_none
from services.common.background import BackgroundWork, every
from services.common.errors import NotFound
from services.common.rpc.server import ServiceBinding
from services.common.validation import may_be_identifier
from services.gateway.erasure.model import Target, TargetKind
from services.gateway.wrapping import form_of, messages_of, read_message, text_field, wrapped_binding

_SHOWS_ERASURES: Final = "mneme.gateway.v1.ErasureService"
_NO_MEMORIES: Final = frozenset(
    {
        "mneme.gateway.v1.MaintenanceService",
        "mneme.gateway.v1.AuditService",
        "mneme.gateway.v1.EmbeddingModelService",
    }
)
"""Services whose responses hold ids and numbers, which are read of erased users as well."""
_ALSO_READ: Final = frozenset({"PrepareContext", "Correct"})
"""Methods that show memories, though they may write."""
_WITHOUT_EMPTY_RESPONSE: Final = frozenset({"Correct", "ExportUser"})
"""Methods that fail where they find nothing: an empty file would be taken for a broken one."""
_NOT_OF_A_MEMORY: Final = frozenset({"user_id", "request_id", "reader_id"})


class PendingErasures(Protocol):
    """Where erasures of whole users and tenants are known; an empty user id stands for all of a tenant."""

    async def pending_owners(self) -> Set[tuple[str, str]]:
        """Tenants and users of all that are not done."""
        ...

    async def is_pending(self, tenant_id: str, user_id: str) -> bool:
        """Whether one of a user or of the tenant is not done."""
        ...


class ErasedUsers:
    """Knows who is being erased.

    This gateway's erasures at once, others' within the interval of `start`. That one is done is asked before each read
    that would be refused, so that what is remembered after an erasure is found.
    """

    def __init__(self, store: PendingErasures) -> None:
        """Asks `store`."""
        self._store = store
        self._owners: set[tuple[str, str]] = set()
        self._added: set[tuple[str, str]] = set()  # since the last reading began, which may not have seen them

    def start(self, background: BackgroundWork[str], poll_seconds: float) -> None:
        """Looks for erasures of other gateways until `background` is closed."""
        background.keep_running("hide-erased-users", every(poll_seconds, self.refresh))

    async def refresh(self) -> None:
        """Reads anew who is being erased."""
        self._added = set()
        self._owners = set(await self._store.pending_owners()) | self._added

    def add(self, tenant_id: str, target: Target) -> None:
        """Hides who is erased as a whole from now on."""
        if target.kind in {TargetKind.USER, TargetKind.TENANT}:
            self._added.add((tenant_id, target.user_id))
            self._owners.add((tenant_id, target.user_id))

    def hides_nobody(self) -> bool:
        """Whether no user is being erased, which is nearly always."""
        return not self._owners

    async def hides(self, tenant_id: str, user_id: str) -> bool:
        """Whether reads must find nothing of a user."""
        known = {(tenant_id, user_id), (tenant_id, "")} & self._owners
        if not known or not may_be_identifier(user_id):
            return False  # who serves the call refuses it
        if await self._store.is_pending(tenant_id, user_id):
            return True
        self._owners -= known
        return False


def hiding(binding: ServiceBinding, erased: ErasedUsers) -> ServiceBinding:
    """The same service, whose reads find nothing of users who are being erased.

    Lists and searches are empty, with `degraded` set where they have it; what is asked for by its id is not found.
    """
    if binding.full_name in _NO_MEMORIES:
        return binding
    messages = messages_of(binding)

    def wrapped(path: str, handler: Any) -> Any:
        method = path.rpartition("/")[2]
        if handler is None or handler.request_streaming or path not in messages:
            return handler
        is_read = _read_rule(binding, method)
        request_type, response_type = messages[path]
        kind = form_of(handler)
        serve = getattr(handler, kind)

        async def is_hidden(request: Any) -> bool:
            principal = current_principal_or_none()
            if principal is None or erased.hides_nobody():
                return False
            message = read_message(request, request_type)
            if message is None or not is_read(message):
                return False
            if not await erased.hides(principal.tenant_id, text_field(message, "user_id")):
                return False
            if method in _WITHOUT_EMPTY_RESPONSE or (method.startswith("Get") and _names_a_memory(message)):
                raise NotFound("memory", "")
            return True

        if handler.response_streaming:

            async def serve_stream(request: Any, context: Any) -> Any:
                if await is_hidden(request):
                    return
                async for response in serve(request, context):
                    yield response

            return handler._replace(**{kind: serve_stream})

        async def serve_one(request: Any, context: Any) -> Any:
            if not await is_hidden(request):
                return await serve(request, context)
            empty = _empty(response_type)
            return empty if handler.response_serializer is not None else empty.SerializeToString()

        return handler._replace(**{kind: serve_one})

    return wrapped_binding(binding, wrapped)


def _read_rule(binding: ServiceBinding, method: str) -> Callable[[Message], bool]:
    """Which requests of a method show memories."""
    if binding.full_name == _SHOWS_ERASURES and method not in _ALSO_READ:
        return lambda request: bool(getattr(request, "dry_run", False))  # what would go
    is_read = binding.roles.get(method) is Role.READER or method in _ALSO_READ
    return lambda _: is_read


def _names_a_memory(request: Message) -> bool:
    """Whether a request names what it asks for, and not its user alone."""
    return any(
        field.type == FieldDescriptor.TYPE_STRING and field.name.endswith("_id")
        for field, _ in request.ListFields()
        if field.name not in _NOT_OF_A_MEMORY
    )


def _empty(response_type: type[Message]) -> Message:
    """A response in which nothing was found."""
    response = response_type()
    field = response_type.DESCRIPTOR.fields_by_name.get("degraded")
    if field is not None and field.type == FieldDescriptor.TYPE_BOOL:
        response.degraded = True  # type: ignore[attr-defined]
    return response
