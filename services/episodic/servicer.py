"""The gRPC edge of the episodic tier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.episodic.v1 import episodic_pb2 as pb
from mneme.episodic.v1 import episodic_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.paging import PageTokens
from services.episodic import commands, convert
from services.episodic.commands import Rules
from services.episodic.model import TenantId
from services.episodic.service import EpisodeService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["EpisodicService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "StoreEpisodes": Role.WRITER,
    "GetEpisode": Role.READER,
    "BatchGetEpisodes": Role.READER,
    "ListEpisodes": Role.READER,
    "SearchEpisodes": Role.READER,
    "SearchCandidates": Role.READER,
    "RecordFeedback": Role.WRITER,
    "RecordAccess": Role.WRITER,
}
"""The role that each method needs, by its name."""


class EpisodicServicer(episodic_pb2_grpc.EpisodicServiceServicer):
    """Handlers of EpisodicService: in, work, out."""

    def __init__(self, episodes: EpisodeService, rules: Rules, tokens: PageTokens, clock: Clock) -> None:
        """Serve `episodes`; requests are checked against `rules`."""
        self._episodes = episodes
        self._rules = rules
        self._tokens = tokens
        self._clock = clock

    async def StoreEpisodes(self, request: pb.StoreEpisodesRequest, _context: Context) -> pb.StoreEpisodesResponse:
        """See episodic.proto."""
        tenant_id = TenantId(current_principal().tenant_id)
        items = commands.store_items(request, tenant_id=tenant_id, now=self._clock.now(), rules=self._rules)
        results = await self._episodes.store_episodes(tenant_id, items, wait_until_active=request.wait_until_active)
        return convert.store_results_to_proto(results)

    async def GetEpisode(self, request: pb.GetEpisodeRequest, _context: Context) -> pb.GetEpisodeResponse:
        """See episodic.proto."""
        owner = commands.owner(current_principal().tenant_id, request.user_id, self._rules)
        episode = await self._episodes.get_episode(owner, commands.episode_id(request.episode_id))
        return pb.GetEpisodeResponse(episode=convert.episode_to_proto(episode, self._episodes.decay_factor))

    async def BatchGetEpisodes(
        self, request: pb.BatchGetEpisodesRequest, _context: Context
    ) -> pb.BatchGetEpisodesResponse:
        """See episodic.proto."""
        owner = commands.owner(current_principal().tenant_id, request.user_id, self._rules)
        ids = commands.episode_ids(request.episode_ids, count_max=self._rules.limits.get_batch_max)
        episodes = await self._episodes.batch_get(owner, ids)
        bytes_max = self._rules.limits.page_bytes_max
        return convert.batch_to_proto(episodes, self._episodes.decay_factor, bytes_max=bytes_max)

    async def ListEpisodes(self, request: pb.ListEpisodesRequest, _context: Context) -> pb.ListEpisodesResponse:
        """See episodic.proto."""
        tenant_id = current_principal().tenant_id
        page = await self._episodes.list_episodes(
            commands.owner(tenant_id, request.user_id, self._rules),
            commands.episode_filter(request, self._rules),
            page_size=commands.page_size(request.page_size, self._rules),
            after=commands.list_cursor(request, tenant_id=tenant_id, tokens=self._tokens),
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
        return convert.scored_to_proto(hits, self._episodes.decay_factor, bytes_max=self._rules.limits.page_bytes_max)

    async def SearchCandidates(
        self, request: pb.SearchCandidatesRequest, _context: Context
    ) -> pb.SearchCandidatesResponse:
        """See episodic.proto."""
        query = commands.candidate_query(request, tenant_id=current_principal().tenant_id, rules=self._rules)
        return convert.candidates_to_proto(await self._episodes.search_candidates(query))

    async def RecordFeedback(self, request: pb.RecordFeedbackRequest, _context: Context) -> pb.RecordFeedbackResponse:
        """See episodic.proto."""
        changed = await self._episodes.record_feedback(
            commands.owner(current_principal().tenant_id, request.user_id, self._rules),
            commands.episode_ids(request.episode_ids, count_max=self._rules.limits.update_batch_max),
            commands.feedback(request.feedback),
            request_id=commands.request_id(request.request_id, self._rules),
        )
        return pb.RecordFeedbackResponse(episode_ids=[str(episode_id) for episode_id in changed])

    async def RecordAccess(self, request: pb.RecordAccessRequest, _context: Context) -> pb.RecordAccessResponse:
        """See episodic.proto."""
        owner = commands.owner(current_principal().tenant_id, request.user_id, self._rules)
        ids = commands.episode_ids(request.episode_ids, count_max=self._rules.limits.update_batch_max)
        self._episodes.record_access(owner, ids)
        return pb.RecordAccessResponse()
