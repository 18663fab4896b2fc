"""The gRPC edge of the episodic tier."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeAlias

import grpc

from mneme.episodic.v1 import episodic_pb2 as pb
from mneme.episodic.v1 import episodic_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.paging import PageTokens
from services.episodic import commands, convert
from services.episodic.commands import Rules
from services.episodic.comparison import ModelComparer
from services.episodic.service import EpisodeService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["EpisodicService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "GetEpisode": Role.READER,
    "BatchGetEpisodes": Role.READER,
    "ListEpisodes": Role.READER,
    "SearchEpisodes": Role.READER,
    "GetModelComparison": Role.READER,
    "ArchiveEpisodes": Role.WRITER,
    "RestoreEpisodes": Role.WRITER,
}
"""The role that each method needs, by its name."""


class EpisodicServicer(episodic_pb2_grpc.EpisodicServiceServicer):
    """Handlers of EpisodicService: in, work, out."""

    def __init__(self, episodes: EpisodeService, comparer: ModelComparer, rules: Rules, tokens: PageTokens) -> None:
        """Serve `episodes` and `comparer`; requests are checked against `rules`."""
        self._episodes = episodes
        self._comparer = comparer
        self._rules = rules
        self._tokens = tokens

    async def GetEpisode(self, request: pb.GetEpisodeRequest, _context: Context) -> pb.GetEpisodeResponse:
        """See episodic.proto."""
        owner, episode_id, reader = commands.get_command(
            request, tenant_id=current_principal().tenant_id, rules=self._rules
        )
        episode = await self._episodes.get_episode(owner, episode_id, reader)
        return pb.GetEpisodeResponse(episode=convert.episode_to_proto(episode, self._episodes.decay_factor))

    async def BatchGetEpisodes(
        self, request: pb.BatchGetEpisodesRequest, _context: Context
    ) -> pb.BatchGetEpisodesResponse:
        """See episodic.proto."""
        owner, ids, reader = commands.batch_command(request, tenant_id=current_principal().tenant_id, rules=self._rules)
        episodes = await self._episodes.batch_get(owner, ids, reader)
        bytes_max = self._rules.limits.page_bytes_max
        return convert.batch_to_proto(episodes, self._episodes.decay_factor, bytes_max=bytes_max)

    async def ListEpisodes(self, request: pb.ListEpisodesRequest, _context: Context) -> pb.ListEpisodesResponse:
        """See episodic.proto."""
        tenant_id = current_principal().tenant_id
        command = commands.list_command(request, tenant_id=tenant_id, rules=self._rules, tokens=self._tokens)
        page = await self._episodes.list_episodes(
            command.owner, command.which, page_size=command.page_size, after=command.after
        )
        return convert.page_to_proto(
            page,
            request,
            self._episodes.decay_factor,
            tenant_id=tenant_id,
            tokens=self._tokens,
            bytes_max=self._rules.limits.page_bytes_max,
        )

    async def SearchEpisodes(self, request: pb.SearchEpisodesRequest, _context: Context) -> pb.SearchEpisodesResponse:
        """See episodic.proto."""
        query = commands.search_query(request, tenant_id=current_principal().tenant_id, rules=self._rules)
        hits = await self._episodes.search(query)
        decay_factor = partial(self._episodes.decay_factor, at=query.held_at)
        return convert.scored_to_proto(hits, decay_factor, bytes_max=self._rules.limits.page_bytes_max)

    async def ArchiveEpisodes(
        self, request: pb.ArchiveEpisodesRequest, _context: Context
    ) -> pb.ArchiveEpisodesResponse:
        """See episodic.proto."""
        owner, selection, key = commands.status_command(request, current_principal(), self._rules)
        count = await self._episodes.archive(owner, selection, key=key)
        return pb.ArchiveEpisodesResponse(archived_count=count)

    async def RestoreEpisodes(
        self, request: pb.RestoreEpisodesRequest, _context: Context
    ) -> pb.RestoreEpisodesResponse:
        """See episodic.proto."""
        owner, selection, key = commands.status_command(request, current_principal(), self._rules)
        count = await self._episodes.restore(owner, selection, key=key)
        return pb.RestoreEpisodesResponse(restored_count=count)

    async def GetModelComparison(
        self, request: pb.GetModelComparisonRequest, _context: Context
    ) -> pb.GetModelComparisonResponse:
        """See episodic.proto."""
        owner, questions, scope_keys = commands.comparison_command(
            request, tenant_id=current_principal().tenant_id, rules=self._rules
        )
        return convert.comparison_to_proto(await self._comparer.compare(owner, questions, scope_keys=scope_keys))
