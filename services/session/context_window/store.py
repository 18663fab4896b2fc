"""Port: where context windows are stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from services.common.idempotency.model import IdempotencyKey
from services.common.owners import Owner, TenantId
from services.session.context_window.model import Change, Changed, ContextSnapshot, ContextWindow, WindowHead
from services.session.model import ConversationId, SessionKey
from services.session.store import StoreResponse


class ContextWindowStore(Protocol):
    """Stores context windows for a sliding time to live.

    A store must:

    - keep windows of different tenants, and of different users of one tenant, apart whatever their ids;
    - treat a window as absent from its expire time on, judged by the `now` of each call, and drop it;
    - never move a last active time back, whatever order calls of several clocks arrive in;
    - do each call in one atomic step, beside any number of other writers;
    - return the first response to a repeated idempotency key and change nothing, for the time it was configured with,
      also beyond the end of the window. No record holds content. A call that failed leaves none.

    Every call with an idempotency key raises `InvalidArgument` (REQUEST_ID_REUSED) where its request id was used for
    another request. All methods raise `StoreUnavailable`; whether a write that failed so took effect is unknown, and
    repeating it must be safe.
    """

    async def read(self, key: SessionKey, *, now: datetime) -> StoreResponse[ContextWindow]:
        """A window with its items by position; makes `now` its last active time.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def first(
        self, owner: Owner, idempotency_key: IdempotencyKey, *, now: datetime
    ) -> StoreResponse[Changed] | None:
        """The first response to a request; None where it is new."""
        ...

    async def change(
        self, key: SessionKey, change: Change, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[Changed]:
        """Makes a window where it is missing and the change says so, sets it, removes items and then adds others.

        `now` becomes its last active time, its revision rises by one, and added items are placed behind the last one.

        Raises:
            NotFound: There is no live window, and it is not to be made.
            Conflict: It has another revision than the change is for.
            LimitExceeded: It would have more items or bytes than configured.
        """
        ...

    async def snapshots(self, key: SessionKey, *, now: datetime) -> StoreResponse[Sequence[ContextSnapshot]]:
        """What the last prunings did, the newest first: as many as configured.

        Raises:
            NotFound: There is no live window.
        """
        ...

    async def delete(
        self, key: SessionKey, *, now: datetime, idempotency_key: IdempotencyKey | None = None
    ) -> StoreResponse[WindowHead]:
        """Removes a window with its items and snapshots, and returns it as it was.

        Raises:
            NotFound: There is no live one.
        """
        ...

    async def conversations(self, owner: Owner, *, now: datetime) -> Sequence[ConversationId]:
        """The conversations of a user's live windows, in order."""
        ...

    async def remove_owner(self, owner: Owner, *, now: datetime) -> None:
        """Removes all that is the user's, idempotency records included."""
        ...

    async def remove_tenant(self, tenant_id: TenantId, *, now: datetime) -> None:
        """Removes all that is the tenant's."""
        ...

    async def check(self) -> None:
        """Makes sure that the store takes writes.

        Raises:
            StoreUnavailable: It does not.
        """
        ...
