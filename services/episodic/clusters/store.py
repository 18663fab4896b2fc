"""The port of clusters: what requests read, what the job reads and writes. All methods raise `StoreUnavailable`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from services.common.scope import Reader
from services.episodic.clusters.model import Cluster, ClusterId, Extent, Member, Placed, Update
from services.episodic.model import EpisodeId, Owner


@dataclass(frozen=True, slots=True)
class ClusterPosition:
    """Where a page of clusters begins: behind this one."""

    create_time: datetime
    cluster_id: ClusterId


@dataclass(frozen=True, slots=True)
class MemberPosition:
    """Where a page of members begins: behind this one."""

    membership: float
    episode_id: EpisodeId


@dataclass(frozen=True, slots=True)
class ClusterOwner:
    """A user with episodes."""

    owner: Owner
    revision: int  # of their episodes
    is_changed: bool  # since the job looked at all of them


class ClusterStore(Protocol):
    """Clusters of active episodes. One that is archived or deleted is in none from that call on."""

    async def list_clusters(
        self, owner: Owner, *, after: ClusterPosition | None, limit: int, reader: Reader | None = None
    ) -> Sequence[Cluster]:
        """Clusters with active episodes, newest first, ties by id; those that the reader sees, where one is given."""
        ...

    async def list_members(
        self,
        owner: Owner,
        cluster_id: ClusterId,
        *,
        after: MemberPosition | None,
        limit: int,
        reader: Reader | None = None,
    ) -> Sequence[Member]:
        """The active episodes of a cluster, the most typical first, ties by id.

        None where there is no such cluster, or where the reader does not see it.
        """
        ...

    async def owners(self, *, after: Owner | None, limit: int, only: Owner | None = None) -> Sequence[ClusterOwner]:
        """The users behind one, by tenant and user; background work.

        With `only`, that one of them alone, without reading others.
        """
        ...

    async def extent(self, owner: Owner) -> Extent:
        """How much of a user's episodes is clustered."""
        ...

    async def all_episodes(self, owner: Owner, *, limit: int) -> Sequence[Placed]:
        """A user's active episodes, by id."""
        ...

    async def new_episodes(self, owner: Owner, *, after: EpisodeId | None, limit: int) -> Sequence[Placed]:
        """Active episodes that were not looked at yet, by id, behind one."""
        ...

    async def left_out(self, owner: Owner, *, limit: int) -> Sequence[Placed]:
        """Active episodes that were looked at and are in no cluster, the last by id first."""
        ...

    async def typical(self, owner: Owner, *, per_cluster: int, limit: int) -> Sequence[Placed]:
        """The most typical episodes of each cluster, newest clusters first."""
        ...

    async def put(self, owner: Owner, update: Update, *, now: datetime) -> int:
        """Writes an update in one transaction; returns how many of its episodes are active still, and were written.

        Raises:
            Conflict: Written by a job that another replica has taken over.
        """
        ...
