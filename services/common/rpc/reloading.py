"""A channel whose certificates may be replaced while it is used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

import grpc

_GRACE_SECONDS: Final = 60.0
"""For calls under way on the connections that were made with the earlier certificates."""


class ReloadingChannel(grpc.aio.Channel):
    """Passes calls to a channel, and opens another one when the certificates have changed. Its owner closes it."""

    def __init__(self, open_channel: Callable[[], grpc.aio.Channel], has_changed: Callable[[], bool]) -> None:
        """Opens the first channel.

        Args:
            open_channel: Opens a channel with the certificates as they are.
            has_changed: Whether there are others than when it was asked last; called with every call.
        """
        self._open = open_channel
        self._has_changed = has_changed
        self._channel = open_channel()
        self._closing: set[asyncio.Task[None]] = set()

    def current(self) -> grpc.aio.Channel:
        """The channel for a call that begins now."""
        if self._has_changed():
            earlier, self._channel = self._channel, self._open()
            task = asyncio.create_task(earlier.close(_GRACE_SECONDS), name="close-channel")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        return self._channel

    def unary_unary(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._method("unary_unary", arguments, options)

    def unary_stream(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._method("unary_stream", arguments, options)

    def stream_unary(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._method("stream_unary", arguments, options)

    def stream_stream(self, *arguments: Any, **options: Any) -> Any:
        """See grpc.aio.Channel."""
        return self._method("stream_stream", arguments, options)

    async def close(self, grace: float | None = None) -> None:
        """Closes all channels; calls under way end within the grace, or at once."""
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        await self._channel.close(grace)

    async def __aenter__(self) -> ReloadingChannel:
        """Returns the channel."""
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Closes it."""
        await self.close()

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:  # noqa: FBT001, FBT002 - as in its base
        """Of the channel for new calls."""
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Of the channel for new calls."""
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Waits until new calls have a connection."""
        await self._channel.channel_ready()

    def _method(self, kind: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        of: grpc.aio.Channel | None = None
        method: Any = None

        def call(*request: Any, **how: Any) -> Any:
            nonlocal of, method
            channel = self.current()
            if channel is not of:
                of, method = channel, getattr(channel, kind)(*arguments, **options)
            return method(*request, **how)

        return call
