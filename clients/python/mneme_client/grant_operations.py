"""Grants: who may see memories of places that are not on their path; a part of both clients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from mneme_client import calls, results
from mneme_client.calls import PAGE_SIZE_MAX, Call, Page
from mneme_client.types import MemoryKind, Scope

Result = TypeVar("Result")


class GrantOperations(ABC):
    """Awaiting ones."""

    @abstractmethod
    async def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result: ...

    async def create_grant(
        self,
        user_id: str,
        *,
        from_scope: Scope,
        to_scope: Scope,
        kinds: Sequence[MemoryKind] = (),
        expire_time: datetime | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.Grant:
        """Lets readers in one place see the memories of another. Between two places there is one grant.

        Args:
            user_id: Whose memory.
            from_scope: The place whose memories are seen, and no other one.
            to_scope: The place whose readers see them, as do those below it.
            kinds: Only these kinds of memories; empty means all.
            expire_time: From when on it does not hold; None means never.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        call = calls.create_grant(
            user_id,
            from_scope=from_scope,
            to_scope=to_scope,
            kinds=kinds,
            expire_time=expire_time,
            request_id=request_id,
        )
        return await self._call(call, timeout_seconds)

    async def list_grants(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> AsyncIterator[results.Grant]:
        """A user's grants that are in force, oldest first; pages are fetched as they are needed."""
        token = ""
        while True:
            call = calls.list_grants(user_id, page_size=page_size, page_token=token)
            page: Page[results.Grant] = await self._call(call, timeout_seconds)
            for item in page.items:
                yield item
            if not (token := page.next_page_token):
                return

    async def revoke_grant(
        self, user_id: str, grant_id: str, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> None:
        """Takes a grant back, for all recalls that begin after the answer.

        Recalls that other gateways answer may use it for some seconds more.
        """
        await self._call(calls.revoke_grant(user_id, grant_id, request_id=request_id), timeout_seconds)


class SyncGrantOperations(ABC):
    """Blocking ones."""

    @abstractmethod
    def _call(self, call: Call[Result], timeout_seconds: float | None) -> Result: ...

    def create_grant(
        self,
        user_id: str,
        *,
        from_scope: Scope,
        to_scope: Scope,
        kinds: Sequence[MemoryKind] = (),
        expire_time: datetime | None = None,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> results.Grant:
        """Lets readers in one place see the memories of another; see `GrantOperations.create_grant`."""
        call = calls.create_grant(
            user_id,
            from_scope=from_scope,
            to_scope=to_scope,
            kinds=kinds,
            expire_time=expire_time,
            request_id=request_id,
        )
        return self._call(call, timeout_seconds)

    def list_grants(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[results.Grant]:
        """A user's grants that are in force, oldest first; pages are fetched as they are needed."""
        token = ""
        while True:
            call = calls.list_grants(user_id, page_size=page_size, page_token=token)
            page: Page[results.Grant] = self._call(call, timeout_seconds)
            yield from page.items
            if not (token := page.next_page_token):
                return

    def revoke_grant(
        self, user_id: str, grant_id: str, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> None:
        """Takes a grant back; see `GrantOperations.revoke_grant`."""
        self._call(calls.revoke_grant(user_id, grant_id, request_id=request_id), timeout_seconds)
