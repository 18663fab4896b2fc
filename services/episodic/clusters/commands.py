"""From requests of ClusterService to what the use cases take: checked, with every default filled in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from mneme.episodic.v1 import clusters_pb2 as pb
from services.common.auth import Principal
from services.common.paging import Cursor, PageTokens
from services.common.reading import chosen_reader, reader_identity
from services.common.scope import Reader
from services.common.validation import Violations
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.model import ClusterId
from services.episodic.clusters.store import ClusterPosition, MemberPosition
from services.episodic.model import EpisodeId, Owner, TenantId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCommand:
    """A page of clusters."""

    owner: Owner
    after: ClusterPosition | None
    page_size: int
    reader: Reader | None  # only what it sees; None: every scope


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersCommand:
    """A page of a cluster's episodes."""

    owner: Owner
    cluster_id: ClusterId
    after: MemberPosition | None
    page_size: int
    reader: Reader | None  # only where it sees the cluster; None: every scope


def list_command(
    request: pb.ListClustersRequest, caller: Principal, *, settings: ClusterSettings, tokens: PageTokens
) -> ListCommand:
    """A checked request.

    Raises:
        InvalidArgument: A field is missing or malformed, or the token was issued for another query.
    """
    _check(request, settings)
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=list_identity(request))
    after = None
    if cursor is not None:
        after = ClusterPosition(datetime.fromisoformat(str(cursor[0])), ClusterId(UUID(str(cursor[1]))))
    return ListCommand(
        owner=_owner(request.user_id, caller),
        after=after,
        page_size=_size(request, settings),
        reader=chosen_reader(request),
    )


def members_command(
    request: pb.ListClusterEpisodesRequest, caller: Principal, *, settings: ClusterSettings, tokens: PageTokens
) -> MembersCommand:
    """A checked request.

    Raises:
        InvalidArgument: As of `list_command`.
    """
    _check(request, settings)
    cursor = tokens.decode(request.page_token, tenant_id=caller.tenant_id, query=members_identity(request))
    after = None
    if cursor is not None:
        after = MemberPosition(float(cursor[0]), EpisodeId(UUID(str(cursor[1]))))
    return MembersCommand(
        owner=_owner(request.user_id, caller),
        cluster_id=ClusterId(UUID(request.cluster_id)),
        after=after,
        page_size=_size(request, settings),
        reader=chosen_reader(request),
    )


def list_identity(request: pb.ListClustersRequest) -> Cursor:
    """What must be the same for a page token to be good."""
    return ("ListClusters", request.user_id, *reader_identity(request))


def members_identity(request: pb.ListClusterEpisodesRequest) -> Cursor:
    """What must be the same for a page token to be good."""
    return ("ListClusterEpisodes", request.user_id, str(UUID(request.cluster_id)), *reader_identity(request))


def _check(request: pb.ListClustersRequest | pb.ListClusterEpisodesRequest, settings: ClusterSettings) -> None:
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=settings.id_chars_max)
    if isinstance(request, pb.ListClusterEpisodesRequest):
        v.uuid("cluster_id", request.cluster_id)
    v.page_size(request.page_size, default=settings.page_size_default, maximum=settings.page_size_max)
    v.raise_if_any()


def _owner(user_id: str, caller: Principal) -> Owner:
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def _size(request: pb.ListClustersRequest | pb.ListClusterEpisodesRequest, settings: ClusterSettings) -> int:
    return min(request.page_size or settings.page_size_default, settings.page_size_max)
