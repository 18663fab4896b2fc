"""The ports: a tier's records of a user, and which file a user was imported from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.common.portability.records import Page


@dataclass(frozen=True, slots=True)
class KnownImport:
    """An import that was begun."""

    digest: bytes  # of its file
    restored: int  # records that had been erased before
    is_complete: bool
    is_resumed: bool  # it was begun by an earlier call


class ImportStore(Protocol):
    """Imports of users; erasing a user forgets its import."""

    async def begin(self, tenant_id: str, user_id: str, digest: bytes) -> KnownImport:
        """The import of a user, which is begun where there was none.

        Raises:
            FailedPrecondition: The user is being erased.
        """
        ...

    async def complete(self, tenant_id: str, user_id: str) -> KnownImport:
        """Everything is stored."""
        ...

    async def forget(self, tenant_id: str, user_id: str) -> None:
        """Nothing was stored."""
        ...

    async def is_settled(self, tenant_id: str, user_id: str) -> bool:
        """Whether no delivery of the user is on its way."""
        ...


class Records(Protocol):
    """One tier's records of a user; see `UserRecords`."""

    async def read(self, owner: tuple[str, str], token: str, *, limit: int, memories_only: bool) -> Page:
        """A page of lines."""
        ...

    async def write(self, owner: tuple[str, str], lines: Sequence[str], *, validate_only: bool) -> None:
        """Stores lines, or only checks them."""
        ...
