"""One call within the process whose response is a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from services.common.rpc.in_process.call import CallEnd, InProcessCall, Metadata
from services.common.rpc.in_process.context import InProcessContext

_AHEAD_MAX = 1  # responses that wait for their reader; the handler waits with the next one


class StreamContext(InProcessContext):
    """The servicer context of a call that writes responses, which are read by `InProcessStream`."""

    def __init__(self, request: bytes, metadata: Metadata, deadline: float | None, serialize: Any) -> None:
        """Begins with the caller's request, metadata and deadline; `serialize` makes bytes of a response."""
        super().__init__(request, metadata, deadline)
        self._serialize: Callable[[Any], bytes] | None = serialize
        self.written: asyncio.Queue[bytes] = asyncio.Queue(_AHEAD_MAX)

    async def write(self, message: Any) -> None:
        """Hands a response to the reader; waits while it has not read the one before."""
        await self.written.put(message if self._serialize is None else self._serialize(message))

    async def drained(self) -> None:
        """Returns when the reader has taken every response."""
        await self.written.join()


class InProcessStream:
    """What a caller iterates over: serialised responses, then the end, or grpc.aio.AioRpcError with the status.

    Closing it cancels the handler.
    """

    def __init__(self, call: InProcessCall, context: StreamContext | None) -> None:
        """Reads what is written to `context`, until `call` ends; None where the call was refused."""
        self._call = call
        self._context = context

    async def responses(self) -> AsyncIterator[bytes]:
        """The responses in their order.

        Raises:
            grpc.aio.AioRpcError: The call ended with another status than OK.
        """
        try:
            if self._context is not None:
                async for response in self._until_end(self._context.written):
                    yield response
            await self._call  # its status
        finally:
            self._call.cancel()

    async def _until_end(self, written: asyncio.Queue[bytes]) -> AsyncIterator[bytes]:
        ended = asyncio.ensure_future(self._call.code())
        try:
            while True:
                reading = asyncio.ensure_future(written.get())
                await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    reading.cancel()
                    return
                yield reading.result()
                written.task_done()
        finally:
            ended.cancel()


def refused(end: CallEnd) -> InProcessStream:
    """A stream that ends at once."""
    call = InProcessCall(None)
    call.settle(end)
    return InProcessStream(call, None)
