"""Use cases of grants, and the grants of a reader, remembered for a moment: every recall asks for them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from services.common.clock import Clock
from services.common.scope import Scope
from services.gateway.grants.model import CreateGrant, Grant, Granted, GrantSettings, RevokeGrant, grants_to
from services.gateway.grants.store import GrantStore
from services.gateway.journal.model import Caller, Page
from services.gateway.journal.store import Cursor


class ReaderGrants(Protocol):
    """Looks up what was granted to a reader."""

    async def to(self, tenant_id: str, user_id: str, reader: Scope) -> tuple[Grant, ...]:
        """The grants that hold for a reader of a user's memories now.

        Raises:
            MnemeError: They cannot be read.
        """
        ...


class NoGrants:
    """A `ReaderGrants` of a place without any."""

    async def to(self, tenant_id: str, user_id: str, reader: Scope) -> tuple[Grant, ...]:
        """None."""
        del tenant_id, user_id, reader
        return ()


class Grants:
    """Creates, revokes and looks up grants; a `ReaderGrants`.

    What was granted or taken back here holds at once, what another gateway did within `cache_seconds`. An expiry holds
    everywhere at its time.
    """

    def __init__(
        self,
        store: GrantStore,
        *,
        clock: Clock,
        settings: GrantSettings | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keeps grants in `store`."""
        self._store = store
        self._clock = clock
        self._settings = settings or GrantSettings()
        self._monotonic = monotonic
        self._known: OrderedDict[tuple[str, str], tuple[float, Sequence[Grant]]] = OrderedDict()
        self._changes = 0  # made here; what was read while one was made may be from before it

    async def create(self, caller: Caller, command: CreateGrant) -> Granted:
        """See `GrantStore.create`."""
        try:
            return await self._store.create(caller, command)
        finally:
            self.forget(caller.tenant_id, command.user_id)

    async def revoke(self, caller: Caller, command: RevokeGrant) -> bool:
        """See `GrantStore.revoke`."""
        try:
            return await self._store.revoke(caller, command)
        finally:
            # Also where it failed: a commit whose response was lost counts.
            self.forget(caller.tenant_id, command.user_id)

    async def list_grants(self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None) -> Page[Grant]:
        """See `GrantStore.list_grants`."""
        return await self._store.list_grants(tenant_id, user_id, limit=limit, after=after)

    async def to(self, tenant_id: str, user_id: str, reader: Scope) -> tuple[Grant, ...]:
        """See `ReaderGrants.to`."""
        grants = await self._of(tenant_id, user_id)
        return grants_to(reader, grants, self._clock.now()) if grants else ()

    async def _of(self, tenant_id: str, user_id: str) -> Sequence[Grant]:
        key = (tenant_id, user_id)
        known = self._known.get(key)
        if known is not None and self._monotonic() - known[0] < self._settings.cache_seconds:
            return known[1]
        asked, changes = self._monotonic(), self._changes
        grants = await self._store.grants_of(tenant_id, user_id)
        if changes == self._changes:
            self._known[key] = (asked, grants)
            self._known.move_to_end(key)
            if len(self._known) > self._settings.cached_users_max:
                self._known.popitem(last=False)
        return grants

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Evicts what is remembered of a user."""
        self._changes += 1
        self._known.pop((tenant_id, user_id), None)
