"""The port of what holds key-encryption keys: a file here, or a service that never gives them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.common.errors import StoreUnavailable


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """A data key as it is stored: encrypted with a key-encryption key."""

    version: str  # of the key-encryption key
    data: bytes


class KeyManagementUnavailable(StoreUnavailable):
    """Data keys cannot be wrapped or unwrapped now; those that are cached are used on."""

    def __init__(self, cause: str, hint: str, retry_after_seconds: float = 1.0) -> None:
        """The cause is for callers as well; the hint says to the operator what to do, in logs and on a terminal."""
        super().__init__("key management", retry_after_seconds)
        self.message = f"{self.message}: {cause}"
        self.cause = cause
        self.hint = hint

    def __str__(self) -> str:
        """With the hint."""
        return f"{self.message}. {self.hint}"


class KeyManagement(Protocol):
    """Encrypts and decrypts data keys. New versions of the key-encryption key encrypt, earlier ones still decrypt."""

    async def current_version(self) -> str:
        """The version that `wrap` uses."""
        ...

    async def wrap(self, key: bytes, associated: bytes) -> WrappedKey:
        """Encrypts a data key with the current version; `associated` must be given again to decrypt it.

        Raises:
            StoreUnavailable: The keys cannot be reached.
        """
        ...

    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:
        """Decrypts a data key.

        Raises:
            DecryptionError: The version is not known any more, or the key was wrapped for something else.
            StoreUnavailable: The keys cannot be reached.
        """
        ...

    async def aclose(self) -> None:
        """Closes connections."""
        ...
