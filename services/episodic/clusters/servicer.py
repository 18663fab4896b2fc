"""The gRPC edge of clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.episodic.v1 import clusters_pb2 as pb
from mneme.episodic.v1 import clusters_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.paging import PageTokens
from services.episodic.clusters import commands, convert
from services.episodic.clusters.config import ClusterSettings
from services.episodic.clusters.service import ClusterService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["ClusterService"].full_name

ROLES: Final[Mapping[str, Role]] = {"ListClusters": Role.READER, "ListClusterEpisodes": Role.READER}
"""The role that each method needs, by its name."""


class ClusterServicer(clusters_pb2_grpc.ClusterServiceServicer):
    """Handlers of ClusterService: in, work, out."""

    def __init__(self, clusters: ClusterService, settings: ClusterSettings, tokens: PageTokens) -> None:
        """Serve the use cases; requests are checked against `settings`."""
        self._clusters = clusters
        self._settings = settings
        self._tokens = tokens

    async def ListClusters(self, request: pb.ListClustersRequest, _context: Context) -> pb.ListClustersResponse:
        """See clusters.proto."""
        caller = current_principal()
        command = commands.list_command(request, caller, settings=self._settings, tokens=self._tokens)
        page, has_more = await self._clusters.list_clusters(
            command.owner, after=command.after, page_size=command.page_size, reader=command.reader
        )
        cursor = (page[-1].create_time.isoformat(), str(page[-1].cluster_id)) if has_more else None
        token = self._tokens.next_token(cursor, tenant_id=caller.tenant_id, query=commands.list_identity(request))
        found = [convert.cluster_to_proto(one, user_id=request.user_id) for one in page]
        return pb.ListClustersResponse(clusters=found, next_page_token=token)

    async def ListClusterEpisodes(
        self, request: pb.ListClusterEpisodesRequest, _context: Context
    ) -> pb.ListClusterEpisodesResponse:
        """See clusters.proto."""
        caller = current_principal()
        command = commands.members_command(request, caller, settings=self._settings, tokens=self._tokens)
        page, has_more = await self._clusters.list_members(
            command.owner, command.cluster_id, after=command.after, page_size=command.page_size, reader=command.reader
        )
        cursor = (page[-1].membership, str(page[-1].episode_id)) if has_more else None
        token = self._tokens.next_token(cursor, tenant_id=caller.tenant_id, query=commands.members_identity(request))
        found = [convert.member_to_proto(one) for one in page]
        return pb.ListClusterEpisodesResponse(episodes=found, next_page_token=token)
