"""Records calls that no transaction of the journal records: reads, and writes that go to a tier.

Reads are recorded behind the response, in batches; a crash can lose the last ones. A write is recorded before its
response, on disk: if that fails, so does the call, and its repeat is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message

from services.common.auth import Role, current_principal_or_none
from services.common.clock import Clock
from services.common.errors import StoreUnavailable
from services.common.rpc.server import ServiceBinding
from services.common.settings_types import Count
from services.gateway.audit.named import Named, named_in
from services.gateway.audit.store import Access, AuditStore
from services.gateway.wrapping import form_of, messages_of, read_message, text_field, wrapped_binding

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
    others_max: Count = 200  # context items, or activity records, that an entry names; those beyond are counted in it
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
                    await self._store.add(batch, durable=False)
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
        named = named_in(request, response)
        access = Access(
            tenant_id=principal.tenant_id,
            principal_id=principal.principal_id,
            method=method,
            request_id=_storable(text_field(request, "request_id")),
            user_id=_storable(text_field(request, "user_id")),
            memory_ids=tuple(map(_storable, named.memory_ids)),
            time=self._clock.now(),
            target=self._target(named, request),
        )
        if is_write or len(self._waiting) >= self._settings.queue_max:
            await self._store.add([access], durable=is_write)
            return
        self._waiting.append(access)
        self._work.set()

    def _target(self, named: Named, request: Message | None) -> Mapping[str, object] | None:
        """What a call was about besides memories; items of a context window are known by their conversation."""
        if not named.others:
            return None
        target: dict[str, object] = {}
        conversation = text_field(request, "conversation_id")
        if conversation:
            target["conversation"] = _storable(conversation)
        for kind, ids in named.others.items():
            target[kind] = tuple(map(_storable, ids[: self._settings.others_max]))
            if len(ids) > self._settings.others_max:
                target[f"{kind}_beyond"] = len(ids) - self._settings.others_max
        return target


def _storable(text: str) -> str:
    """A text without NUL, which stores cannot hold: an entry that cannot be written would hold up all behind it."""
    return text.replace("\x00", "\ufffd")


def audited(binding: ServiceBinding, recorder: AuditRecorder) -> ServiceBinding:
    """The same service, with its calls recorded."""
    name = binding.full_name.rpartition(".")[2]
    messages = messages_of(binding)
    writes = {f"/{binding.full_name}/{method}": role > Role.READER for method, role in binding.roles.items()}

    def wrapped(path: str, handler: Any) -> Any:
        method = f"{name}.{path.rpartition('/')[2]}"
        if handler is None or path not in messages or method in _IN_THEIR_TRANSACTION:
            return handler
        kind = form_of(handler)
        serve = getattr(handler, kind)
        request_type, response_type = messages[path]

        async def record(request: Any, response: Any = None) -> None:
            await recorder.record(
                method,
                read_message(request, request_type),
                read_message(response, response_type),
                is_write=writes.get(path, True),
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

    return wrapped_binding(binding, wrapped)
