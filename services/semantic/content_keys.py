"""The port of what destroys the keys that content of the tier is encrypted with."""

from __future__ import annotations

from typing import Final, Protocol

from services.common.owners import Owner, TenantId, UserId


class ContentKeys(Protocol):
    """The data keys of the tier's users, where the store of content encrypts it."""

    async def destroy(self, owner: Owner) -> int:
        """Destroys a user's key, together with whatever is still encrypted with it; how many keys there were.

        The last step of the removal of a user: content that somebody else stored meanwhile goes with the key, so that
        none is left that cannot be read. What is stored afterwards has a new key.
        """
        ...

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have a key, by their ids, those after `after`."""
        ...


class NoContentKeys:
    """Implements `ContentKeys` where content is stored as it is."""

    async def destroy(self, owner: Owner) -> int:  # noqa: ARG002 - the interface
        """See `ContentKeys.destroy`."""
        return 0

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:  # noqa: ARG002
        """See `ContentKeys.users`."""
        return []


NO_CONTENT_KEYS: Final = NoContentKeys()
