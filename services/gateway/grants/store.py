"""The port of grants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.gateway.grants.model import CreateGrant, Grant, Granted, RevokeGrant
from services.gateway.journal.model import Caller, Page
from services.gateway.journal.store import Cursor


class GrantStore(Protocol):
    """Keeps the grants of each tenant. What was returned must be on disk."""

    async def create(self, caller: Caller, command: CreateGrant) -> Granted:
        """Makes a grant, or replaces that between the same places; this one keeps its id.

        A repeat of a request id by the same principal must return the first response, whatever became of the grant.

        Raises:
            InvalidArgument: The request id was used before with another content, or the grant would have expired.
            LimitExceeded: The user has as many grants in force as allowed, and none between these places.
        """
        ...

    async def revoke(self, caller: Caller, command: RevokeGrant) -> bool:
        """Takes a grant back. Returns whether an earlier call with this request id did.

        Raises:
            InvalidArgument: The request id was used before with another content.
            NotFound: The user has no such grant, or it has expired.
        """
        ...

    async def list_grants(self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None) -> Page[Grant]:
        """A user's grants in force, in the order in which they were first made."""
        ...

    async def grants_of(self, tenant_id: str, user_id: str) -> Sequence[Grant]:
        """All grants of a user that are in force, as just now."""
        ...
