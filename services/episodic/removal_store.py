"""The part of the `EpisodeStore` port that archives, restores, deletes and judges episodes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.common.idempotency.model import IdempotencyKey
from services.episodic.columns import EpisodeColumns
from services.episodic.model import EpisodeId, EpisodeKey, Owner, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSelection:
    """Episodes of one user: some by their ids, those of a conversation, or all of them."""

    episode_ids: Sequence[EpisodeId] | None = None
    conversation_id: str | None = None

    @property
    def is_everything(self) -> bool:
        """Whether it is all that the user has."""
        return self.episode_ids is None and self.conversation_id is None


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion took away."""

    episodes: int
    data_keys: int = 0  # destroyed keys that content was encrypted with


@dataclass(frozen=True, slots=True)
class Archived:
    """What a request to archive has changed."""

    count: int
    keys: Sequence[EpisodeKey]  # of these episodes; none where the request was repeated


class RemovalStore(Protocol):
    """Writes with an idempotency record: a repeat changes nothing and returns the first result.

    All raise `InvalidArgument` (REQUEST_ID_REUSED) where the principal used the request id for another request.
    """

    async def set_feedback(
        self, owner: Owner, episode_ids: Sequence[EpisodeId], feedback: int, *, key: IdempotencyKey, now: datetime
    ) -> list[EpisodeId]:
        """Sets the feedback of those that exist and returns their ids in the order given."""
        ...

    async def archive(
        self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey, now: datetime
    ) -> Archived:
        """Takes episodes out of search and drops their token vectors, with one change of the owner's revision.

        They stay readable. When they were archived is stored.
        """
        ...

    async def archived_columns(
        self, owner: Owner, query: str, *, scope_keys: Sequence[str], archived_after: datetime, limit: int
    ) -> tuple[EpisodeColumns, list[float]]:
        """Columns and word scores of archived episodes that happened before a time and were archived after it.

        Those that share words with the query, then the newest. Those of which nobody knows when they were archived are
        among them. Reads all of them, up to a bound of the driver.
        """
        ...

    async def restore(self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey, now: datetime) -> int:
        """Makes archived episodes PENDING_EMBEDDING and returns their number."""
        ...

    async def delete(self, owner: Owner, selection: EpisodeSelection, *, key: IdempotencyKey, now: datetime) -> Deleted:
        """Deletes episodes and what belongs to them; with everything of a user, the key they were encrypted with.

        Their ids, and named ids that do not exist, are remembered: `insert` does not bring them back. Every cached
        revision of the owner is void afterwards.
        """
        ...

    def held(self, owner: Owner, episode_ids: Sequence[EpisodeId]) -> AbstractAsyncContextManager[set[EpisodeId]]:
        """Those of the episodes that are there and not archived; none of them is archived or deleted within the block.

        Whatever changes one of them waits, so the block should be short. Ends with the process too.
        """
        ...

    async def delete_tenant(self, tenant_id: TenantId, *, key: IdempotencyKey, now: datetime) -> Deleted:
        """The same with everything of a tenant.

        A driver may do it in several transactions, of which the last one sees to it that nothing is left. One that
        fails leaves deleted what earlier ones deleted: the same request goes on from there, and counts all.
        """
        ...

    async def deleted_keys(self, owner: Owner, selection: EpisodeSelection) -> list[EpisodeKey]:
        """Places of deleted episodes that no other episode holds: an index may still have points of them."""
        ...

    async def deleted_owners(self, tenant_id: TenantId) -> list[Owner]:
        """Users of the tenant who had episodes that were deleted."""
        ...
