"""The gRPC edge of what the gateway alone asks of the tier."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import grpc

from mneme.semantic.internal.v1 import semantic_pb2 as pb
from mneme.semantic.internal.v1 import semantic_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.model_change import SecondVectors
from services.common.owners import TenantId
from services.common.paging import PageTokens
from services.common.users import users_page
from services.semantic import commands, convert
from services.semantic.code.service import CodeService
from services.semantic.config import FactLimits
from services.semantic.content_keys import ContentKeys
from services.semantic.facts.feedback import FactFeedback
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.servicer import FactServicer
from services.semantic.intake import Intake
from services.semantic.procedures import commands as procedure_commands
from services.semantic.procedures.service import ProcedureService
from services.semantic.profile.service import ProfileService
from services.semantic.supersession import commands as supersession_commands
from services.semantic.supersession.service import SupersessionService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["SemanticInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "ExtractFacts": Role.SERVICE,
    "SearchCandidates": Role.SERVICE,
    "GetMarks": Role.SERVICE,
    "MarkSuperseded": Role.SERVICE,
    "ObserveInteractions": Role.SERVICE,
    "JudgeInteractions": Role.SERVICE,
    "JudgeRecall": Role.SERVICE,
    "ObserveProcedures": Role.SERVICE,
    "RecordFeedback": Role.SERVICE,
    "GetReadingProfile": Role.SERVICE,
    "ArchiveFacts": Role.SERVICE,
    "RestoreFacts": Role.SERVICE,
    "RemoveBySource": Role.SERVICE,
    "ListUsers": Role.SERVICE,
    "RemoveOwner": Role.SERVICE,
    "ForgetQueries": Role.SERVICE,
    "CheckModelVectors": Role.SERVICE,
}
"""The role that each method needs, by its name."""


@dataclass(frozen=True)
class Subjects:
    """Use cases of the tier's subjects other than facts."""

    profiles: ProfileService
    supersessions: SupersessionService
    procedures: ProcedureService
    code: CodeService
    keys: ContentKeys


class SemanticInternalServicer(semantic_pb2_grpc.SemanticInternalServiceServicer):
    """Handlers of SemanticInternalService: in, work, out."""

    def __init__(
        self,
        facts: FactServicer,
        removal: FactRemoval,
        subjects: Subjects,
        feedback: FactFeedback,
        intake: Intake,
        limits: FactLimits,
        clock: Clock,
        tokens: PageTokens,
        second: SecondVectors,
    ) -> None:
        """Serve the use cases; requests are checked against `limits`, searches as the servicer of facts does."""
        self._facts = facts
        self._removal = removal
        self._profiles = subjects.profiles
        self._supersessions = subjects.supersessions
        self._procedures = subjects.procedures
        self._feedback = feedback
        self._code = subjects.code
        self._keys = subjects.keys
        self._intake = intake
        self._limits = limits
        self._clock = clock
        self._tokens = tokens
        self._second = second

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
            self._supersessions.marks(owner, cached_revision=cached_revision, incremental=request.incremental),
        )
        return await convert.candidates_response(facts, marks)

    async def GetMarks(self, request: pb.GetMarksRequest, _context: Context) -> pb.GetMarksResponse:
        """See semantic.proto."""
        owner = commands.named_owner(request, current_principal(), limits=self._limits)
        cached_revision = request.cached_revision if request.HasField("cached_revision") else None
        found = await self._supersessions.marks(owner, cached_revision=cached_revision, incremental=request.incremental)
        return await convert.marks_response(found)

    async def MarkSuperseded(self, request: pb.MarkSupersededRequest, _context: Context) -> pb.MarkSupersededResponse:
        """See semantic.proto."""
        command = supersession_commands.mark_command(request, current_principal(), limits=self._limits)
        marked = await self._supersessions.mark(
            command.owner,
            command.statements,
            command.standing_id,
            end_time=command.end_time,
            about=command.about,
            is_called_wrong=command.is_called_wrong,
        )
        await self._procedures.take_back_definitions(command.owner, command.statements)
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

    async def JudgeRecall(self, request: pb.JudgeRecallRequest, _context: Context) -> pb.JudgeRecallResponse:
        """See semantic.proto."""
        owner, judged = procedure_commands.judged_recall(request, current_principal(), limits=self._limits)
        await self._procedures.judge(owner, judged)
        return pb.JudgeRecallResponse()

    async def ObserveProcedures(
        self, request: pb.ObserveProceduresRequest, _context: Context
    ) -> pb.ObserveProceduresResponse:
        """See semantic.proto."""
        owner, shown = procedure_commands.observed_procedures(
            request, current_principal(), limits=self._limits, settings=self._procedures.settings
        )
        found = await self._procedures.observe(owner, shown)
        return pb.ObserveProceduresResponse(changed_count=found.changed, deleted_count=found.deleted)

    async def RecordFeedback(self, request: pb.RecordFeedbackRequest, _context: Context) -> pb.RecordFeedbackResponse:
        """See semantic.proto."""
        caller = current_principal()
        owner, fact_ids, feedback, key = commands.fact_judgement(request, caller, limits=self._limits)
        judged = await self._feedback.record(owner, fact_ids, feedback, key=key)
        return pb.RecordFeedbackResponse(fact_ids=judged.fact_ids)

    async def GetReadingProfile(
        self, request: pb.GetReadingProfileRequest, _context: Context
    ) -> pb.GetReadingProfileResponse:
        """See semantic.proto."""
        owner, reader = commands.profile_reader(request, current_principal(), limits=self._limits)
        cached = request.cached_procedures_revision if request.HasField("cached_procedures_revision") else None
        learned, (revision, procedures) = await asyncio.gather(
            self._profiles.for_reading(owner, reader.visible_keys()),
            self._procedures.trusted(owner, cached_revision=cached),
        )
        return convert.reading_profile(learned, revision, procedures or (), owner)

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
        # After the marks of the extraction: what is not marked yet may still be learned from.
        removed = await self._procedures.remove_sources(owner, interaction_ids)
        return pb.RemoveBySourceResponse(
            removed_facts=result.removed, reduced_facts=result.reduced, removed_procedures=removed
        )

    async def ListUsers(self, request: pb.ListUsersRequest, _context: Context) -> pb.ListUsersResponse:
        """See semantic.proto. Users with facts come first, then those with profiles, procedures, code, keys."""
        tenant_id = TenantId(current_principal().tenant_id)
        user_ids, token = await users_page(
            self._tokens,
            tenant_id,
            [self._removal.users, self._profiles.users, self._procedures.users, self._code.users, self._keys.users],
            page_size=request.page_size,
            page_token=request.page_token,
        )
        return pb.ListUsersResponse(user_ids=user_ids, next_page_token=token)

    async def RemoveOwner(self, request: pb.RemoveOwnerRequest, _context: Context) -> pb.RemoveOwnerResponse:
        """See semantic.proto."""
        owner = commands.named_owner(request, current_principal(), limits=self._limits)
        # First what may take longest and is not counted: a call that ends here leaves the counts to its repeat.
        await self._supersessions.remove_owner(owner)
        await self._code.remove_owner(owner)
        facts = await self._removal.remove_owner(owner)
        procedures = await self._procedures.remove_owner(owner)
        had_profile = await self._profiles.remove_owner(owner)
        return pb.RemoveOwnerResponse(
            removed_facts=facts,
            removed_profile=had_profile,
            removed_procedures=procedures,
            destroyed_data_keys=await self._keys.destroy(owner),
        )

    async def ForgetQueries(self, request: pb.ForgetQueriesRequest, _context: Context) -> pb.ForgetQueriesResponse:
        """See semantic.proto."""
        owner, scope = commands.forgotten_scope(request, current_principal(), limits=self._limits)
        removed = await self._procedures.forget_queries(owner, scope, with_nested=request.with_nested)
        return pb.ForgetQueriesResponse(removed_queries=removed)

    async def CheckModelVectors(
        self, request: pb.CheckModelVectorsRequest, _context: Context
    ) -> pb.CheckModelVectorsResponse:
        """See semantic.proto."""
        return pb.CheckModelVectorsResponse(lacking_count=await self._second.count_lacking(request.model))
