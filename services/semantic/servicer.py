"""The gRPC edge of what the gateway alone asks of the tier."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.semantic.internal.v1 import semantic_pb2 as pb
from mneme.semantic.internal.v1 import semantic_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.owners import TenantId
from services.semantic import commands, convert
from services.semantic.config import FactLimits
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.servicer import FactServicer
from services.semantic.intake import Intake
from services.semantic.profile.service import ProfileService
from services.semantic.supersession import commands as supersession_commands
from services.semantic.supersession.service import SupersessionService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["SemanticInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "ExtractFacts": Role.SERVICE,
    "SearchCandidates": Role.SERVICE,
    "MarkSuperseded": Role.SERVICE,
    "ObserveInteractions": Role.SERVICE,
    "JudgeInteractions": Role.SERVICE,
    "GetReadingProfile": Role.SERVICE,
    "ArchiveFacts": Role.SERVICE,
    "RestoreFacts": Role.SERVICE,
    "RemoveBySource": Role.SERVICE,
    "RemoveOwner": Role.SERVICE,
}
"""The role that each method needs, by its name."""


class SemanticInternalServicer(semantic_pb2_grpc.SemanticInternalServiceServicer):
    """Handlers of SemanticInternalService: in, work, out."""

    def __init__(
        self,
        facts: FactServicer,
        removal: FactRemoval,
        profiles: ProfileService,
        supersessions: SupersessionService,
        intake: Intake,
        limits: FactLimits,
        clock: Clock,
    ) -> None:
        """Serve the use cases; requests are checked against `limits`, searches as the servicer of facts does."""
        self._facts = facts
        self._removal = removal
        self._profiles = profiles
        self._supersessions = supersessions
        self._intake = intake
        self._limits = limits
        self._clock = clock

    async def ExtractFacts(self, request: pb.ExtractFactsRequest, _context: Context) -> pb.ExtractFactsResponse:
        """See semantic.proto."""
        batch = commands.extraction_batch(request, now=self._clock.now(), limits=self._limits)
        results = await self._intake.take_in(TenantId(current_principal().tenant_id), batch.sources)
        return convert.extraction_response(batch, results)

    async def SearchCandidates(
        self, request: pb.SearchCandidatesRequest, context: Context
    ) -> pb.SearchCandidatesResponse:
        """See semantic.proto."""
        owner = commands.owner_of(request.search.user_id, current_principal())
        cached_revision = request.cached_revision if request.HasField("cached_revision") else None
        facts, marks = await asyncio.gather(
            self._facts.SearchFacts(request.search, context),
            self._supersessions.marks(owner, cached_revision=cached_revision),
        )
        return convert.candidates_response(facts, marks)

    async def MarkSuperseded(self, request: pb.MarkSupersededRequest, _context: Context) -> pb.MarkSupersededResponse:
        """See semantic.proto."""
        command = supersession_commands.mark_command(request, current_principal(), limits=self._limits)
        marked = await self._supersessions.mark(
            command.owner, command.statements, command.standing_id, end_time=command.end_time
        )
        return pb.MarkSupersededResponse(marked=marked)

    async def ObserveInteractions(
        self, request: pb.ObserveInteractionsRequest, _context: Context
    ) -> pb.ObserveInteractionsResponse:
        """See semantic.proto."""
        sources = commands.observed_interactions(request, now=self._clock.now(), limits=self._limits)
        counted = await self._profiles.observe(TenantId(current_principal().tenant_id), sources)
        return pb.ObserveInteractionsResponse(counted=counted)

    async def JudgeInteractions(
        self, request: pb.JudgeInteractionsRequest, _context: Context
    ) -> pb.JudgeInteractionsResponse:
        """See semantic.proto."""
        owner, interaction_ids, feedback = commands.judgement(request, current_principal(), limits=self._limits)
        await self._profiles.judge(owner, interaction_ids, feedback)
        return pb.JudgeInteractionsResponse()

    async def GetReadingProfile(
        self, request: pb.GetReadingProfileRequest, _context: Context
    ) -> pb.GetReadingProfileResponse:
        """See semantic.proto."""
        owner, reader = commands.profile_reader(request, current_principal(), limits=self._limits)
        return convert.reading_profile(await self._profiles.for_reading(owner, reader.visible_keys()))

    async def ArchiveFacts(self, request: pb.ArchiveFactsRequest, _context: Context) -> pb.ArchiveFactsResponse:
        """See semantic.proto."""
        owner, fact_ids = commands.named_facts(request, current_principal(), limits=self._limits)
        return pb.ArchiveFactsResponse(archived=await self._removal.archive(owner, fact_ids))

    async def RestoreFacts(self, request: pb.RestoreFactsRequest, _context: Context) -> pb.RestoreFactsResponse:
        """See semantic.proto."""
        owner, fact_ids = commands.named_facts(request, current_principal(), limits=self._limits)
        return pb.RestoreFactsResponse(restored=await self._removal.restore(owner, fact_ids))

    async def RemoveBySource(self, request: pb.RemoveBySourceRequest, _context: Context) -> pb.RemoveBySourceResponse:
        """See semantic.proto."""
        owner, interaction_ids = commands.named_sources(request, current_principal(), limits=self._limits)
        await self._profiles.remove(owner, interaction_ids)
        await self._supersessions.remove_sources(owner, interaction_ids)
        result = await self._removal.remove_by_source(owner, interaction_ids)
        return pb.RemoveBySourceResponse(removed_facts=result.removed, reduced_facts=result.reduced)

    async def RemoveOwner(self, request: pb.RemoveOwnerRequest, _context: Context) -> pb.RemoveOwnerResponse:
        """See semantic.proto."""
        owner = commands.named_owner(request, current_principal(), limits=self._limits)
        had_profile = await self._profiles.remove_owner(owner)
        await self._supersessions.remove_owner(owner)
        return pb.RemoveOwnerResponse(
            removed_facts=await self._removal.remove_owner(owner), removed_profile=had_profile
        )
