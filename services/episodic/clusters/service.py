"""Use cases of clusters."""

from __future__ import annotations

from collections.abc import Sequence

from services.common.errors import NotFound
from services.common.scope import Reader
from services.episodic.clusters.model import Cluster, ClusterId, Member
from services.episodic.clusters.store import ClusterPosition, ClusterStore, MemberPosition
from services.episodic.model import Owner


class ClusterService:
    """Reads the clusters that the job keeps."""

    def __init__(self, store: ClusterStore) -> None:
        """Reads `store`."""
        self._store = store

    async def list_clusters(
        self, owner: Owner, *, after: ClusterPosition | None, page_size: int, reader: Reader | None = None
    ) -> tuple[Sequence[Cluster], bool]:
        """A page of the clusters that the reader sees, newest first, and whether there are more."""
        found = await self._store.list_clusters(owner, after=after, limit=page_size + 1, reader=reader)
        return found[:page_size], len(found) > page_size

    async def list_members(
        self,
        owner: Owner,
        cluster_id: ClusterId,
        *,
        after: MemberPosition | None,
        page_size: int,
        reader: Reader | None = None,
    ) -> tuple[Sequence[Member], bool]:
        """A page of a cluster's episodes, the most typical first, and whether there are more.

        Raises:
            NotFound: There is no such cluster, the reader does not see it, or no episode of it is active.
        """
        found = await self._store.list_members(owner, cluster_id, after=after, limit=page_size + 1, reader=reader)
        if not found and after is None:
            raise NotFound("cluster", str(cluster_id))
        return found[:page_size], len(found) > page_size
