"""Records calls that no transaction of the journal records: reads, and writes that go to a tier.

Reads are recorded behind the response, in batches; a crash can lose the last ones. A write is recorded before its
response: if that fails, so does the call, and its repeat is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.message import Message

from services.common.auth import Role, current_principal_or_none
from services.common.clock import Clock
from services.common.errors import StoreUnavailable
from services.common.rpc.server import ServiceBinding
from services.common.settings_types import Count
from services.gateway.audit.named import memories_named_in
from services.gateway.audit.store import Access, AuditStore

_BATCH: Final = 500
_IN_THEIR_TRANSACTION: Final = frozenset(
    {
        "MemoryService.Remember",
        "MemoryService.RememberBatch",
        "MemoryService.RememberStream",
        "MemoryService.Feedback",
        "MemoryService.Recall",
        "MemoryService.RecallStream",
        "MemoryService.BuildContext",
        "GrantService.CreateGrant",
        "GrantService.RevokeGrant",
        "DocumentService.WriteDocuments",
        "DeliveryService.RetryDeadLetters",
        "ErasureService.Erase",
        "SessionService.DeleteSession",
    }
)
"""Recorded where they are written or, what recalls returned, with the records of recalls."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """How calls are recorded."""

    queue_max: Count = 10_000  # reads that wait to be recorded; a read beyond it waits itself
    append_seconds: float = 1.0  # how often entries are appended to the trees


class AuditRecorder:
    """Records calls."""

    def __init__(self, store: AuditStore, clock: Clock, settings: AuditSettings) -> None:
        """Writes to `store` while `run` runs."""
        self._store = store
        self._clock = clock
        self._settings = settings
        self._waiting: list[Access] = []
        self._work = asyncio.Event()
        self._writing = asyncio.Lock()

    async def run(self) -> None:
        """Writes until cancelled.

        Raises:
            StoreUnavailable: The log cannot be reached; run it again. Nothing that waits is lost.
        """
        while True:
            await self._work.wait()
            await self.flush()

    async def flush(self) -> None:
        """Writes what waits."""
        async with self._writing:
            self._work.clear()
            while self._waiting:
                batch = self._waiting[:_BATCH]
                try:
                    await self._store.add(batch)
                except StoreUnavailable:
                    self._work.set()
                    raise
                del self._waiting[: len(batch)]

    async def record(
        self, method: str, request: Message | None, response: Message | None = None, *, is_write: bool
    ) -> None:
        """Records a call that ended well, with the memories that its request and its response name."""
        principal = current_principal_or_none()
        if principal is None:
            return
        access = Access(
            tenant_id=principal.tenant_id,
            principal_id=principal.principal_id,
            method=method,
            request_id=_text(request, "request_id"),
            user_id=_text(request, "user_id"),
            memory_ids=memories_named_in(request, response),
            time=self._clock.now(),
        )
        if is_write or len(self._waiting) >= self._settings.queue_max:
            await self._store.add([access])
            return
        self._waiting.append(access)
        self._work.set()


def audited(binding: ServiceBinding, recorder: AuditRecorder) -> ServiceBinding:
    """The same service, with its calls recorded."""
    name = binding.full_name.rpartition(".")[2]
    methods = descriptor_pool.Default().FindServiceByName(binding.full_name).methods
    messages = {
        f"/{binding.full_name}/{method.name}": (
            message_factory.GetMessageClass(method.input_type),
            message_factory.GetMessageClass(method.output_type),
        )
        for method in methods
    }
    writes = {f"/{binding.full_name}/{method}": role > Role.READER for method, role in binding.roles.items()}

    def wrapped(path: str, handler: Any) -> Any:
        method = f"{name}.{path.rpartition('/')[2]}"
        if handler is None or path not in messages or method in _IN_THEIR_TRANSACTION:
            return handler
        kind = "stream_" if handler.request_streaming else "unary_"
        kind += "stream" if handler.response_streaming else "unary"
        serve = getattr(handler, kind)
        request_type, response_type = messages[path]

        async def record(request: Any, response: Any = None) -> None:
            await recorder.record(
                method, _read(request, request_type), _read(response, response_type), is_write=writes.get(path, True)
            )

        if handler.response_streaming:

            async def serve_stream(request: Any, context: Any) -> Any:
                await record(request)  # before it: a stream that is left early has been read as well
                async for response in serve(request, context):
                    yield response

            return handler._replace(**{kind: serve_stream})

        async def serve_one(request: Any, context: Any) -> Any:
            response = await serve(request, context)
            await record(request, response)
            return response

        return handler._replace(**{kind: serve_one})

    def add_to_server(servicer: Any, server: Any) -> None:
        binding.add_to_server(servicer, _WrappingServer(server, wrapped))

    return ServiceBinding(
        binding.full_name, add_to_server, binding.servicer, binding.roles, binding.withheld, binding.ready
    )


class _WrappingServer:
    """Registers handlers with a server, each in another form."""

    def __init__(self, server: Any, wrap: Callable[[str, Any], Any]) -> None:
        self._server = server
        self._wrap = wrap

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        self._server.add_generic_rpc_handlers([_WrappedHandlers(handler, self._wrap) for handler in handlers])

    def add_registered_method_handlers(self, service_name: str, method_handlers: Mapping[str, Any]) -> None:
        self._server.add_registered_method_handlers(
            service_name,
            {name: self._wrap(f"/{service_name}/{name}", handler) for name, handler in method_handlers.items()},
        )


class _WrappedHandlers:
    """A generic handler whose methods have another form, each made once."""

    def __init__(self, inner: Any, wrap: Callable[[str, Any], Any]) -> None:
        self._inner = inner
        self._wrap = wrap
        self._made: dict[str, Any] = {}

    def service_name(self) -> Any:
        return self._inner.service_name()

    def service(self, details: Any) -> Any:
        path = details.method
        if path not in self._made:
            handler = self._inner.service(details)
            if handler is None:
                return None  # not remembered: names that callers make up take no memory
            self._made[path] = self._wrap(path, handler)
        return self._made[path]


def _read(message: Any, kind: type[Message]) -> Message | None:
    """The message; calls that are passed on have it as bytes. None for what is no message, such as a stream."""
    if isinstance(message, bytes):
        return kind.FromString(message)
    return message if isinstance(message, Message) else None


def _text(request: Message | None, name: str) -> str:
    if request is None or name not in request.DESCRIPTOR.fields_by_name:
        return ""
    value = getattr(request, name)
    return value if isinstance(value, str) else ""
