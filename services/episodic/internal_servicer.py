"""The gRPC edge of the episodic tier for the gateway alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.episodic.internal.v1 import episodic_internal_pb2 as internal_pb
from mneme.episodic.internal.v1 import episodic_internal_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.episodic import commands, convert, internal_commands, new_episodes
from services.episodic.commands import Rules
from services.episodic.comparison import ModelComparer
from services.episodic.model import TenantId
from services.episodic.service import EpisodeService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = internal_pb.DESCRIPTOR.services_by_name["EpisodicInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = dict.fromkeys(
    ("StoreEpisodes", "SearchCandidates", "RecordFeedback", "RecordAccess", "DeleteEpisodes", "CheckModelIndex"),
    Role.SERVICE,
)
"""Every method is for other services alone."""


class EpisodicInternalServicer(episodic_internal_pb2_grpc.EpisodicInternalServiceServicer):
    """Handlers of EpisodicInternalService: in, work, out."""

    def __init__(self, episodes: EpisodeService, comparer: ModelComparer, rules: Rules, clock: Clock) -> None:
        """Serve `episodes`; `comparer` knows the indexes of two models; requests are checked against `rules`."""
        self._comparer = comparer
        self._episodes = episodes
        self._rules = rules
        self._clock = clock

    async def StoreEpisodes(
        self, request: internal_pb.StoreEpisodesRequest, _context: Context
    ) -> internal_pb.StoreEpisodesResponse:
        """See episodic_internal.proto."""
        tenant_id = TenantId(current_principal().tenant_id)
        items = new_episodes.store_items(request, tenant_id=tenant_id, now=self._clock.now(), rules=self._rules)
        results = await self._episodes.store_episodes(tenant_id, items, wait_until_active=request.wait_until_active)
        return convert.store_results_to_proto(results)

    async def SearchCandidates(
        self, request: internal_pb.SearchCandidatesRequest, _context: Context
    ) -> internal_pb.SearchCandidatesResponse:
        """See episodic_internal.proto."""
        query = internal_commands.candidate_query(request, tenant_id=current_principal().tenant_id, rules=self._rules)
        return convert.candidates_to_proto(await self._episodes.search_candidates(query))

    async def RecordFeedback(
        self, request: internal_pb.RecordFeedbackRequest, _context: Context
    ) -> internal_pb.RecordFeedbackResponse:
        """See episodic_internal.proto."""
        principal = current_principal()
        changed = await self._episodes.record_feedback(
            commands.owner(principal.tenant_id, request.user_id, self._rules),
            commands.episode_ids(request.episode_ids, count_max=self._rules.limits.update_batch_max),
            internal_commands.feedback(request),
            key=internal_commands.write_key(request, principal, self._rules),
        )
        return internal_pb.RecordFeedbackResponse(episode_ids=[str(episode_id) for episode_id in changed])

    async def RecordAccess(
        self, request: internal_pb.RecordAccessRequest, _context: Context
    ) -> internal_pb.RecordAccessResponse:
        """See episodic_internal.proto."""
        owner = commands.owner(current_principal().tenant_id, request.user_id, self._rules)
        ids = commands.episode_ids(request.episode_ids, count_max=self._rules.limits.update_batch_max)
        self._episodes.record_access(owner, ids)
        return internal_pb.RecordAccessResponse()

    async def DeleteEpisodes(
        self, request: internal_pb.DeleteEpisodesRequest, _context: Context
    ) -> internal_pb.DeleteEpisodesResponse:
        """See episodic_internal.proto."""
        principal = current_principal()
        deletion = internal_commands.deletion(request, tenant_id=principal.tenant_id, rules=self._rules)
        key = internal_commands.write_key(request, principal, self._rules)
        deleted = await self._episodes.delete(deletion, key=key)
        return internal_pb.DeleteEpisodesResponse(deleted_count=deleted.episodes, destroyed_data_keys=deleted.data_keys)

    async def CheckModelIndex(
        self, request: internal_pb.CheckModelIndexRequest, _context: Context
    ) -> internal_pb.CheckModelIndexResponse:
        """See episodic_internal.proto."""
        return internal_pb.CheckModelIndexResponse(lacking_user_count=await self._comparer.count_lacking(request.model))
