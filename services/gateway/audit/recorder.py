"""Records calls that no transaction of the journal records: reads, and writes that go to a tier.

Reads are recorded after the response, in batches; a crash can lose the last ones. A write is recorded before its
response, on disk: if that fails, so does the call, and its repeat is recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import Message

from services.common.auth import Role, current_principal_or_none
from services.common.clock import Clock
from services.common.errors import StoreUnavailable
from services.common.rpc.server import ServiceBinding
from services.common.settings_types import Count
from services.gateway.audit.named import NamedInStream, named_in
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
        """Records a call that ended well, with the memories that its request and its response name.

        The user is that of the request, or of the response where the request is a stream without one.
        """
        named = named_in(request, response)
        user_id = text_field(request, "user_id") or text_field(response, "user_id")
        await self._record(
            method,
            user_id,
            named.memory_ids,
            self._target(named.others, {}, text_field(request, "conversation_id"), has_memories=bool(named.memory_ids)),
            request_id=text_field(request, "request_id"),
            is_write=is_write,
        )

    async def record_stream(self, method: str, seen: NamedInStream, *, is_write: bool) -> None:
        """Records a call with a stream of requests: an entry for each user that they name."""
        for user_id, named in seen.by_user.items():
            target = self._target(named.ids, named.beyond, "", has_memories=False)
            await self._record(method, user_id, (), target, request_id="", is_write=is_write)

    def stream(self) -> NamedInStream:
        """Takes note of what the requests of a stream name."""
        return NamedInStream(self._settings.others_max)

    async def _record(
        self,
        method: str,
        user_id: str,
        memory_ids: Sequence[str],
        target: Mapping[str, object] | None,
        *,
        request_id: str,
        is_write: bool,
    ) -> None:
        principal = current_principal_or_none()
        if principal is None:
            return
        access = Access(
            tenant_id=principal.tenant_id,
            principal_id=principal.principal_id,
            method=method,
            request_id=_storable(request_id),
            user_id=_storable(user_id),
            memory_ids=tuple(map(_storable, memory_ids)),
            time=self._clock.now(),
            target=target,
        )
        if is_write or len(self._waiting) >= self._settings.queue_max:
            await self._store.add([access], durable=is_write)
            return
        self._waiting.append(access)
        self._work.set()

    def _target(
        self, others: Mapping[str, Sequence[str]], beyond: Mapping[str, int], conversation: str, *, has_memories: bool
    ) -> Mapping[str, object] | None:
        """What a call was about besides memories; where it names none, its conversation says what it was about.

        `beyond` counts further ids, which are not in `others` any more. Items of a context window are known by their
        conversation.
        """
        if not others and (has_memories or not conversation):
            return None
        limit = self._settings.others_max
        target: dict[str, object] = {"conversation": _storable(conversation)} if conversation else {}
        for kind, ids in others.items():
            target[kind] = tuple(map(_storable, ids[:limit]))
            unnamed = max(len(ids) - limit, 0) + beyond.get(kind, 0)
            if unnamed:
                target[f"{kind}_beyond"] = unnamed
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

        async def serve_requests(requests: Any, context: Any) -> Any:
            seen = recorder.stream()
            response = await serve(seen.through(requests, request_type), context)
            if seen.by_user:
                await recorder.record_stream(method, seen, is_write=writes.get(path, True))
            else:
                await record(None, response)  # the response says whose it was, as that of an import does
            return response

        return handler._replace(**{kind: serve_requests if handler.request_streaming else serve_one})

    return wrapped_binding(binding, wrapped)
