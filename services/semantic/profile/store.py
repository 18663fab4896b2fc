"""The port of the profile store. `tests/contract/profile_store.py` is the suite every driver passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.semantic.profile.model import Lesson, Observation, Preferences, Profile

_T = TypeVar("_T")


class CorrectedStatements(Protocol):
    """What users took back of what they had said."""

    async def corrected(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Sequence[tuple[InteractionId, str]]:
        """The sentences of these turns that are corrected; an empty one stands for all of its turn."""
        ...


class ProfileWriter(Protocol):
    """Writes to one user's preferences; visible to others all at once when the work ends without an error."""

    @property
    def idempotency(self) -> IdempotencyRecords:
        """The tenant's idempotency records, written with all else or not at all."""
        ...

    async def get(self) -> Profile:
        """The profile as it is now."""
        ...

    async def put_preferences(self, preferences: Preferences, *, etag: str, update_time: datetime) -> None:
        """Replace the preferences."""
        ...

    async def delete(self) -> bool:
        """Delete preferences and observations; whether there were any. What was observed is not observed again."""
        ...


class ProfileStore(Protocol):
    """Keeps profiles. Every method must see the tenant's rows alone."""

    async def write(self, owner: Owner, work: Callable[[ProfileWriter], Awaitable[_T]]) -> _T:
        """Runs `work` on one user's preferences, all or nothing, and returns what it returns.

        Works on one user must run one after the other, also across processes: what one reads cannot change until it
        ends. The driver may run `work` again from its beginning after a transient failure, so it must change nothing
        but what it writes through its writer.

        Raises:
            Conflict: Another work got in the way; nothing was written, and the caller may try again.
            StoreUnavailable: The engine cannot be reached.
            Exception: Whatever `work` raises, unchanged; nothing was written.
        """
        ...

    async def get(self, owner: Owner, *, context_id: str = "") -> Profile:
        """The preferences, and the statistics of an isolated context, or of all that is outside of one.

        An empty profile with an empty etag if nothing was written.
        """
        ...

    async def lessons(
        self, owner: Owner, *, scope_keys: Sequence[str], limit: int
    ) -> tuple[Preferences, Sequence[Lesson]]:
        """The preferences that were set, and the newest turns of these places that state some or were judged.

        The latest turn comes first, ties by id.
        """
        ...

    async def judge(self, owner: Owner, interaction_ids: Sequence[InteractionId], feedback: int) -> None:
        """Set the judgement of turns: -1, 0 or 1, also of those that are observed later; not of removed ones."""
        ...

    async def remove(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> None:
        """Take turns out of the profile, as if they had never been observed, and never observe them again."""
        ...

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have something here, after one, in the order of their ids.

        Users whose memory was removed may be among them.
        """
        ...

    async def observe(self, tenant_id: TenantId, observations: Sequence[Observation]) -> int:
        """Add turns, each counted once however often it is added; returns how many were new.

        The interactions may be of several users. An interaction may be in the batch twice.
        """
        ...
