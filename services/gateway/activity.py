"""The stream of ActivityService at the gateway: its messages are passed to the tier in groups."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, Final

from mneme.episodic.internal.v1 import activity_internal_pb2
from mneme.episodic.v1 import activity_pb2
from services.common.auth import current_principal
from services.common.rpc.interceptors.base import Context
from services.gateway.door import Handler
from services.gateway.servicer import UseCases

_END: Final = object()
_AHEAD_MAX: Final = 64
"""Messages that are read while a group is stored; a client that sends more waits."""
_GROUP_MAX: Final = 500
"""Records of a group, at the most those of one message above it: a call's time is shared by many small messages."""


class ActivityHandlers:
    """Methods of ActivityService that the gateway serves itself."""

    def __init__(self, use_cases: UseCases) -> None:
        """Writes through the tiers of `use_cases`."""
        self._episodic = use_cases.upstream.episodic
        self._deadline_seconds = use_cases.deadline_seconds

    def by_name(self) -> Mapping[str, Handler]:
        """The handlers by full name."""
        return {"mneme.episodic.v1.ActivityService.RecordActivityStream": self.record_stream}

    async def record_stream(
        self, requests: AsyncIterator[activity_pb2.RecordActivityStreamRequest], _context: Context
    ) -> activity_pb2.RecordActivityStreamResponse:
        """See activity.proto."""
        response = activity_pb2.RecordActivityStreamResponse()
        principal = current_principal()
        async with contextlib.aclosing(groups(requests)) as found:
            async for group in found:
                # Each group has the deadline of a call; the stream's own cancels it from outside.
                stored = await self._episodic.append_activity(principal, group, timeout_seconds=self._deadline_seconds)
                response.stored_count += stored.stored_count
                response.known_count += stored.known_count
        return response


async def groups(
    requests: AsyncIterator[activity_pb2.RecordActivityStreamRequest],
) -> AsyncGenerator[activity_internal_pb2.AppendActivityRequest, None]:
    """Messages of one user that came while the group before was stored, as one."""
    waiting: asyncio.Queue[Any] = asyncio.Queue(_AHEAD_MAX)

    async def read() -> None:
        try:
            async for request in requests:
                await waiting.put(request)
        except Exception as error:
            await waiting.put(error)
        else:
            await waiting.put(_END)

    reader = asyncio.ensure_future(read())
    try:
        request = await waiting.get()
        while request is not _END:
            if isinstance(request, Exception):
                raise request
            group = activity_internal_pb2.AppendActivityRequest(user_id=request.user_id, records=request.records)
            request = None if waiting.empty() else waiting.get_nowait()
            while request is not None and _fits(group, request):
                group.records.extend(request.records)
                request = None if waiting.empty() else waiting.get_nowait()
            yield group
            request = await waiting.get() if request is None else request
    finally:
        reader.cancel()


def _fits(group: activity_internal_pb2.AppendActivityRequest, request: Any) -> bool:
    return (
        isinstance(request, activity_pb2.RecordActivityStreamRequest)
        and request.user_id == group.user_id
        and len(group.records) + len(request.records) <= _GROUP_MAX
    )
