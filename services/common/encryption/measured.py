"""Counts what is asked of the key management, and how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from services.common.encryption.envelope import DecryptionError
from services.common.encryption.key_management import KeyManagement, WrappedKey
from services.common.errors import StoreUnavailable
from services.common.telemetry.instruments import counter

_OPERATIONS: Final = ("wrap", "unwrap")
_OUTCOMES: Final = ("ok", "unavailable", "refused")
"""`refused` is a key that this key management does not open, such as one of a version that was destroyed."""


class MeasuredKeyManagement:
    """A key management whose requests are counted as `mneme.key_management.requests`, by operation and outcome."""

    def __init__(self, measured: KeyManagement) -> None:
        """Passes everything on to `measured`."""
        self._measured = measured
        expected = ({"operation": one, "outcome": outcome} for one in _OPERATIONS for outcome in _OUTCOMES)
        self._requests = counter("mneme.key_management.requests", "Data keys wrapped and unwrapped.", expected)

    async def current_version(self) -> str:
        """See `KeyManagement.current_version`."""
        return await self._measured.current_version()

    async def wrap(self, key: bytes, associated: bytes) -> WrappedKey:
        """See `KeyManagement.wrap`."""
        with self._counted("wrap"):
            return await self._measured.wrap(key, associated)

    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:
        """See `KeyManagement.unwrap`."""
        with self._counted("unwrap"):
            return await self._measured.unwrap(wrapped, associated)

    async def aclose(self) -> None:
        """See `KeyManagement.aclose`."""
        await self._measured.aclose()

    @contextlib.contextmanager
    def _counted(self, operation: str) -> Iterator[None]:
        outcome = "ok"
        try:
            yield
        except StoreUnavailable:
            outcome = "unavailable"
            raise
        except DecryptionError:
            outcome = "refused"
            raise
        finally:
            self._requests.add(1, {"operation": operation, "outcome": outcome})
