"""The tiers' public services at the gateway: passed on as they are, after what every call passes.

Callers are authenticated, limited and traced as in the gateway's own services. A call then goes to the tier with the
same deadline, on behalf of the same principal, for which the gateway signs; requests and responses pass as bytes. There
are two exceptions: a read in a scope is given the grants of its reader, which the gateway keeps, and some methods are
the gateway's own, because they need the conversation log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import MethodDescriptor

from mneme.agentic.v1 import insights_pb2, notes_pb2  # noqa: F401 - the imports register the services
from mneme.episodic.v1 import activity_pb2, clusters_pb2, episodic_pb2  # noqa: F401
from mneme.semantic.v1 import code_pb2, facts_pb2, procedures_pb2, profile_pb2, supersessions_pb2  # noqa: F401
from mneme.session.v1 import context_window_pb2, session_pb2  # noqa: F401
from services.common.auth import Principal, Role, current_principal
from services.common.convert import scope_from_proto
from services.common.errors import InvalidArgument
from services.common.errors_grpc import from_rpc_error
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.rpc.server import ServiceBinding
from services.common.scope import Scope
from services.gateway.grants.model import MemoryKind, Readers
from services.gateway.grants.service import ReaderGrants
from services.gateway.upstream import TierChannels
from services.gateway.upstream_client import MetadataSource

Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]
"""A method that the gateway serves itself: from the request message, or the messages of a stream, to the response."""

Completion: TypeAlias = Callable[[Any, str, Scope], Awaitable[None]]
"""Adds to the request message of a read what only the gateway knows, for a tenant and the scope of its reader."""


@dataclass(frozen=True, slots=True)
class TierService:
    """A public service of a tier."""

    full_name: str
    tier: str  # name of its channel in `TierChannels`
    kind: MemoryKind | None = None  # what its reads find, for grants
    is_cached: bool = False  # recalls cache what its writes change


TIER_SERVICES: Final = (
    TierService("mneme.session.v1.SessionService", "session"),
    TierService("mneme.session.v1.ContextWindowService", "session"),
    TierService("mneme.episodic.v1.EpisodicService", "episodic", MemoryKind.EPISODE),
    TierService("mneme.episodic.v1.ActivityService", "episodic"),
    TierService("mneme.episodic.v1.ClusterService", "episodic", MemoryKind.EPISODE),
    TierService("mneme.semantic.v1.FactService", "semantic", MemoryKind.FACT),
    TierService("mneme.semantic.v1.ProfileService", "semantic", is_cached=True),
    TierService("mneme.semantic.v1.SupersessionService", "semantic"),
    TierService("mneme.semantic.v1.ProcedureService", "semantic", is_cached=True),
    TierService("mneme.semantic.v1.CodeService", "semantic"),
    TierService("mneme.agentic.v1.NoteService", "agentic", MemoryKind.NOTE),
    TierService("mneme.agentic.v1.InsightService", "agentic", MemoryKind.NOTE),
)

STANDS_IN_GLOBAL: Final = frozenset(
    {
        "mneme.episodic.v1.EpisodicService.SearchEpisodes",
        "mneme.episodic.v1.EpisodicService.GetModelComparison",
        "mneme.semantic.v1.FactService.SearchFacts",
        "mneme.semantic.v1.FactService.GetFactModelComparison",
        "mneme.agentic.v1.NoteService.SearchNotes",
        "mneme.agentic.v1.NoteService.GetNoteModelComparison",
        "mneme.agentic.v1.InsightService.GetSuggestions",
        "mneme.agentic.v1.InsightService.SearchByQuestion",
        "mneme.agentic.v1.InsightService.GetReflection",
    }
)
"""Methods whose reader stands in GLOBAL where no `reader_scope` is set. Others read every scope then."""

_READING: Final = ("Get", "BatchGet", "List", "Search")


class Door:
    """Serves `TIER_SERVICES`."""

    def __init__(
        self,
        channels: TierChannels,
        metadata: MetadataSource,
        grants: ReaderGrants,
        *,
        handlers: Mapping[str, Handler],
        completions: Mapping[str, Completion],
        check_user: Callable[[str], None],
        on_change: Callable[[str, str], None],
        deadline_seconds: float,
    ) -> None:
        """Calls the tiers over `channels`.

        Args:
            channels: To the tiers.
            metadata: Signs for the caller.
            grants: Of readers.
            handlers: Methods that the gateway serves itself, by full name such as
                "mneme.session.v1.SessionService.GetSession".
            completions: Of requests to scoped reads of the tiers, by full name of the method.
            check_user: Raises where a user's id is not valid.
            on_change: Makes recalls read anew what they cache of a tenant's user.
            deadline_seconds: For a call whose deadline is not known.
        """
        self._channels = channels
        self._metadata = metadata
        self._grants = grants
        self._handlers = handlers
        self._completions = completions
        self._check_user = check_user
        self._on_change = on_change
        self._deadline_seconds = deadline_seconds

    def bindings(self) -> tuple[ServiceBinding, ...]:
        """The services for the gateway's server."""
        return tuple(self._binding(service) for service in TIER_SERVICES)

    def _binding(self, service: TierService) -> ServiceBinding:
        methods = descriptor_pool.Default().FindServiceByName(service.full_name).methods
        served = {method.name: self._rpc_handler(service, method) for method in methods}

        def add_to_server(_servicer: Any, server: Any) -> None:
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.full_name, served),))

        roles = {name: role_of(name) for name in served}
        return ServiceBinding(service.full_name, add_to_server, None, roles)

    def _rpc_handler(self, service: TierService, method: MethodDescriptor) -> Any:
        request_class = message_factory.GetMessageClass(method.input_type)
        handler = self._handlers.get(method.full_name)
        if method.client_streaming and not method.server_streaming and handler is not None:
            response_class = message_factory.GetMessageClass(method.output_type)
            return grpc.stream_unary_rpc_method_handler(
                handler, request_class.FromString, response_class.SerializeToString
            )
        if method.client_streaming or method.server_streaming:
            raise ValueError(f"{method.full_name} has a stream, which the gateway does not pass on")
        if handler is not None:
            response_class = message_factory.GetMessageClass(method.output_type)
            return grpc.unary_unary_rpc_method_handler(
                handler, request_class.FromString, response_class.SerializeToString
            )
        if service.kind is not None and "reader_scope" in method.input_type.fields_by_name:
            # Read for its reader; fields that this version does not know pass as well.
            is_optional = method.full_name not in STANDS_IN_GLOBAL
            serve = self._read(
                service.kind,
                self._call(service, method, request_class.SerializeToString),
                is_scope_optional=is_optional,
                complete=self._completions.get(method.full_name),
            )
            return grpc.unary_unary_rpc_method_handler(serve, request_class.FromString)
        if service.is_cached and role_of(method.name) is Role.WRITER:
            serve = self._change(self._call(service, method, request_class.SerializeToString))
            return grpc.unary_unary_rpc_method_handler(serve, request_class.FromString)
        return grpc.unary_unary_rpc_method_handler(_pass_on(self._call(service, method)))

    def _change(self, call: Callable[[Any, Principal], Awaitable[bytes]]) -> Handler:
        async def serve(request: Any, _context: Context) -> bytes:
            caller = current_principal()
            try:
                return await call(request, caller)
            finally:  # also where the call fails: its change may have been made
                self._on_change(caller.tenant_id, request.user_id)

        return serve

    def _read(
        self,
        kind: MemoryKind,
        call: Callable[[Any, Principal], Awaitable[bytes]],
        *,
        is_scope_optional: bool,
        complete: Completion | None,
    ) -> Handler:
        async def serve(request: Any, _context: Context) -> bytes:
            caller = current_principal()
            present = request.HasField("reader_scope")
            try:
                self._check_user(request.user_id)
                scope = scope_from_proto(request.reader_scope, present=present, field_path="reader_scope")
            except InvalidArgument:
                await call(request, caller)  # the tier names what else is wrong
                raise
            if is_scope_optional and not present:  # every scope is read: a grant opens nothing more
                return await call(request, caller)
            granted = await self._grants.to(caller.tenant_id, request.user_id, scope)
            if complete is not None:
                await complete(request, caller.tenant_id, scope)
            return await call(request, Readers(scope, granted).principal(caller, kind))

        return serve

    def _call(
        self, service: TierService, method: MethodDescriptor, serialize: Callable[[Any], bytes] | None = None
    ) -> Callable[[Any, Principal], Awaitable[bytes]]:
        channel: grpc.aio.Channel = getattr(self._channels, service.tier)
        path = f"/{service.full_name}/{method.name}"
        rpc: Any = channel.unary_unary(path, request_serializer=serialize)

        async def call(request: Any, principal: Principal) -> bytes:
            try:
                response: bytes = await rpc(
                    request, timeout=seconds_left(self._deadline_seconds), metadata=self._metadata(principal)
                )
            except grpc.aio.AioRpcError as error:
                raise from_rpc_error(error, store=service.tier) from error
            return response

        return call


def _pass_on(call: Callable[[bytes, Principal], Awaitable[bytes]]) -> Handler:
    async def serve(request: bytes, _context: Context) -> bytes:
        return await call(request, current_principal())

    return serve


def role_of(method_name: str) -> Role:
    """What a method of a tier's public service asks for; the tier itself checks it again."""
    return Role.READER if method_name.startswith(_READING) else Role.WRITER
