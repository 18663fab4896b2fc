"""The tiers as the gateway calls them: one small client each, all with a deadline and the caller's identity.

Messages of the tiers' contracts pass through the gateway as they are (see docs/decisions/0003): it adds to them, and
does not translate them into models of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import grpc

from mneme.agentic.internal.v1 import notes_pb2, notes_pb2_grpc
from mneme.agentic.v1 import notes_pb2 as public_notes_pb2
from mneme.agentic.v1 import notes_pb2_grpc as public_notes_pb2_grpc
from mneme.episodic.internal.v1 import (
    activity_internal_pb2,
    activity_internal_pb2_grpc,
    episodic_internal_pb2,
    episodic_internal_pb2_grpc,
)
from mneme.episodic.v1 import episodic_pb2, episodic_pb2_grpc
from mneme.semantic.internal.v1 import semantic_pb2, semantic_pb2_grpc
from mneme.semantic.v1 import facts_pb2, facts_pb2_grpc
from mneme.session.internal.v1 import session_internal_pb2, session_internal_pb2_grpc
from mneme.session.v1 import session_pb2, session_pb2_grpc
from services.common.auth import Principal
from services.gateway.maintenance.client import MaintenanceClient
from services.gateway.upstream_client import MetadataSource, TierClient
from services.gateway.upstream_procedures import ProcedureClient
from services.gateway.upstream_profile import ProfileClient
from services.gateway.upstream_supersessions import SupersessionClient


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """How the gateway reaches the tiers."""

    in_process: bool = True  # tiers of the gateway's own process (`mneme up`) are called without a socket


@dataclass(frozen=True, slots=True, kw_only=True)
class TierChannels:
    """Channels to all tiers. Who opened them closes them."""

    session: grpc.aio.Channel
    episodic: grpc.aio.Channel
    semantic: grpc.aio.Channel
    agentic: grpc.aio.Channel


class SessionClient(TierClient):
    """The session tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("session", metadata)
        self._stub = session_pb2_grpc.SessionServiceStub(channel)
        self._internal = session_internal_pb2_grpc.SessionInternalServiceStub(channel)

    async def get(
        self, principal: Principal, request: session_pb2.GetSessionRequest, *, timeout_seconds: float
    ) -> session_pb2.GetSessionResponse:
        """See SessionService.GetSession."""
        return await self._call(self._stub.GetSession, request, principal, timeout_seconds)

    async def create_session(
        self, principal: Principal, request: session_pb2.CreateSessionRequest, *, timeout_seconds: float
    ) -> session_pb2.CreateSessionResponse:
        """See SessionService.CreateSession."""
        return await self._call(self._stub.CreateSession, request, principal, timeout_seconds)

    async def extend_session(
        self, principal: Principal, request: session_pb2.ExtendSessionRequest, *, timeout_seconds: float
    ) -> session_pb2.ExtendSessionResponse:
        """See SessionService.ExtendSession."""
        return await self._call(self._stub.ExtendSession, request, principal, timeout_seconds)

    async def delete_session(
        self, principal: Principal, request: session_pb2.DeleteSessionRequest, *, timeout_seconds: float
    ) -> session_pb2.DeleteSessionResponse:
        """See SessionService.DeleteSession."""
        return await self._call(self._stub.DeleteSession, request, principal, timeout_seconds)

    async def append(
        self, principal: Principal, request: session_internal_pb2.IngestTurnsRequest, *, timeout_seconds: float
    ) -> session_internal_pb2.IngestTurnsResponse:
        """See SessionInternalService.IngestTurns."""
        return await self._call(self._internal.IngestTurns, request, principal, timeout_seconds)

    async def delete(
        self, principal: Principal, request: session_internal_pb2.RemoveSessionsRequest, *, timeout_seconds: float
    ) -> session_internal_pb2.RemoveSessionsResponse:
        """See SessionInternalService.RemoveSessions."""
        return await self._call(self._internal.RemoveSessions, request, principal, timeout_seconds)

    async def log_events(
        self, principal: Principal, request: session_internal_pb2.ListLogEventsRequest, *, timeout_seconds: float
    ) -> session_internal_pb2.ListLogEventsResponse:
        """See SessionInternalService.ListLogEvents."""
        return await self._call(self._internal.ListLogEvents, request, principal, timeout_seconds)

    async def acknowledge(
        self,
        principal: Principal,
        request: session_internal_pb2.AcknowledgeLogEventsRequest,
        *,
        timeout_seconds: float,
    ) -> None:
        """See SessionInternalService.AcknowledgeLogEvents."""
        await self._call(self._internal.AcknowledgeLogEvents, request, principal, timeout_seconds)


class EpisodicClient(TierClient):
    """The episodic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("episodic", metadata)
        self._stub = episodic_pb2_grpc.EpisodicServiceStub(channel)
        self._internal = episodic_internal_pb2_grpc.EpisodicInternalServiceStub(channel)
        self._activity = activity_internal_pb2_grpc.ActivityInternalServiceStub(channel)

    async def store(
        self, principal: Principal, request: episodic_internal_pb2.StoreEpisodesRequest, *, timeout_seconds: float
    ) -> episodic_internal_pb2.StoreEpisodesResponse:
        """See EpisodicInternalService.StoreEpisodes."""
        return await self._call(self._internal.StoreEpisodes, request, principal, timeout_seconds)

    async def search_candidates(
        self, principal: Principal, request: episodic_internal_pb2.SearchCandidatesRequest, *, timeout_seconds: float
    ) -> episodic_internal_pb2.SearchCandidatesResponse:
        """See EpisodicInternalService.SearchCandidates."""
        return await self._call(self._internal.SearchCandidates, request, principal, timeout_seconds)

    async def batch_get(
        self, principal: Principal, request: episodic_pb2.BatchGetEpisodesRequest, *, timeout_seconds: float
    ) -> episodic_pb2.BatchGetEpisodesResponse:
        """See EpisodicService.BatchGetEpisodes."""
        return await self._call(self._stub.BatchGetEpisodes, request, principal, timeout_seconds)

    async def record_feedback(
        self, principal: Principal, request: episodic_internal_pb2.RecordFeedbackRequest, *, timeout_seconds: float
    ) -> None:
        """See EpisodicInternalService.RecordFeedback."""
        await self._call(self._internal.RecordFeedback, request, principal, timeout_seconds)

    async def record_access(
        self, principal: Principal, request: episodic_internal_pb2.RecordAccessRequest, *, timeout_seconds: float
    ) -> None:
        """See EpisodicInternalService.RecordAccess."""
        await self._call(self._internal.RecordAccess, request, principal, timeout_seconds)

    async def delete(
        self, principal: Principal, request: episodic_internal_pb2.DeleteEpisodesRequest, *, timeout_seconds: float
    ) -> episodic_internal_pb2.DeleteEpisodesResponse:
        """See EpisodicInternalService.DeleteEpisodes."""
        return await self._call(self._internal.DeleteEpisodes, request, principal, timeout_seconds)

    async def count_lacking(self, principal: Principal, model: str, timeout_seconds: float) -> int:
        """See EpisodicInternalService.CheckModelIndex."""
        request = episodic_internal_pb2.CheckModelIndexRequest(model=model)
        call = self._call(self._internal.CheckModelIndex, request, principal, timeout_seconds)
        return (await call).lacking_user_count

    async def append_activity(
        self, principal: Principal, request: activity_internal_pb2.AppendActivityRequest, *, timeout_seconds: float
    ) -> activity_internal_pb2.AppendActivityResponse:
        """See ActivityInternalService.AppendActivity."""
        return await self._call(self._activity.AppendActivity, request, principal, timeout_seconds)

    async def remove_activity(
        self, principal: Principal, request: activity_internal_pb2.RemoveActivityRequest, *, timeout_seconds: float
    ) -> activity_internal_pb2.RemoveActivityResponse:
        """See ActivityInternalService.RemoveActivity."""
        return await self._call(self._activity.RemoveActivity, request, principal, timeout_seconds)

    async def list_owner_patterns(
        self, principal: Principal, request: activity_internal_pb2.ListOwnerPatternsRequest, *, timeout_seconds: float
    ) -> activity_internal_pb2.ListOwnerPatternsResponse:
        """See ActivityInternalService.ListOwnerPatterns."""
        return await self._call(self._activity.ListOwnerPatterns, request, principal, timeout_seconds)


class FactClient(TierClient):
    """The facts of the semantic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("semantic", metadata)
        self._stub = facts_pb2_grpc.FactServiceStub(channel)
        self._internal = semantic_pb2_grpc.SemanticInternalServiceStub(channel)

    async def count_lacking(self, principal: Principal, model: str, timeout_seconds: float) -> int:
        """See SemanticInternalService.CheckModelVectors."""
        request = semantic_pb2.CheckModelVectorsRequest(model=model)
        call = self._call(self._internal.CheckModelVectors, request, principal, timeout_seconds)
        return (await call).lacking_count

    async def extract(
        self, principal: Principal, request: semantic_pb2.ExtractFactsRequest, *, timeout_seconds: float
    ) -> semantic_pb2.ExtractFactsResponse:
        """See SemanticInternalService.ExtractFacts."""
        return await self._call(self._internal.ExtractFacts, request, principal, timeout_seconds)

    async def search_candidates(
        self, principal: Principal, request: semantic_pb2.SearchCandidatesRequest, *, timeout_seconds: float
    ) -> semantic_pb2.SearchCandidatesResponse:
        """See SemanticInternalService.SearchCandidates."""
        return await self._call(self._internal.SearchCandidates, request, principal, timeout_seconds)

    async def marks(
        self, principal: Principal, request: semantic_pb2.GetMarksRequest, *, timeout_seconds: float
    ) -> semantic_pb2.GetMarksResponse:
        """See SemanticInternalService.GetMarks."""
        return await self._call(self._internal.GetMarks, request, principal, timeout_seconds)

    async def mark_superseded(
        self, principal: Principal, request: semantic_pb2.MarkSupersededRequest, *, timeout_seconds: float
    ) -> semantic_pb2.MarkSupersededResponse:
        """See SemanticInternalService.MarkSuperseded."""
        return await self._call(self._internal.MarkSuperseded, request, principal, timeout_seconds)

    async def record_feedback(
        self, principal: Principal, request: semantic_pb2.RecordFeedbackRequest, *, timeout_seconds: float
    ) -> None:
        """See SemanticInternalService.RecordFeedback."""
        await self._call(self._internal.RecordFeedback, request, principal, timeout_seconds)

    async def get(
        self, principal: Principal, request: facts_pb2.GetFactRequest, *, timeout_seconds: float
    ) -> facts_pb2.Fact:
        """See FactService.GetFact."""
        return (await self._call(self._stub.GetFact, request, principal, timeout_seconds)).fact

    async def update(
        self, principal: Principal, request: facts_pb2.UpdateFactRequest, *, timeout_seconds: float
    ) -> None:
        """See FactService.UpdateFact."""
        await self._call(self._stub.UpdateFact, request, principal, timeout_seconds)

    async def list_facts(
        self, principal: Principal, request: facts_pb2.ListFactsRequest, *, timeout_seconds: float
    ) -> facts_pb2.ListFactsResponse:
        """See FactService.ListFacts."""
        return await self._call(self._stub.ListFacts, request, principal, timeout_seconds)

    async def delete(
        self, principal: Principal, request: facts_pb2.DeleteFactRequest, *, timeout_seconds: float
    ) -> None:
        """See FactService.DeleteFact."""
        await self._call(self._stub.DeleteFact, request, principal, timeout_seconds)

    async def remove_by_source(
        self, principal: Principal, request: semantic_pb2.RemoveBySourceRequest, *, timeout_seconds: float
    ) -> semantic_pb2.RemoveBySourceResponse:
        """See SemanticInternalService.RemoveBySource."""
        return await self._call(self._internal.RemoveBySource, request, principal, timeout_seconds)

    async def list_users(
        self, principal: Principal, request: semantic_pb2.ListUsersRequest, *, timeout_seconds: float
    ) -> semantic_pb2.ListUsersResponse:
        """See SemanticInternalService.ListUsers."""
        return await self._call(self._internal.ListUsers, request, principal, timeout_seconds)

    async def remove_owner(
        self, principal: Principal, request: semantic_pb2.RemoveOwnerRequest, *, timeout_seconds: float
    ) -> semantic_pb2.RemoveOwnerResponse:
        """See SemanticInternalService.RemoveOwner."""
        return await self._call(self._internal.RemoveOwner, request, principal, timeout_seconds)


class NoteClient(TierClient):
    """The agentic tier."""

    def __init__(self, channel: grpc.aio.Channel, metadata: MetadataSource) -> None:
        """Calls over the channel."""
        super().__init__("agentic", metadata)
        self._stub = notes_pb2_grpc.NoteInternalServiceStub(channel)
        self._notes = public_notes_pb2_grpc.NoteServiceStub(channel)

    async def count_lacking(self, principal: Principal, model: str, timeout_seconds: float) -> int:
        """See NoteInternalService.CheckModelVectors."""
        request = notes_pb2.CheckModelVectorsRequest(model=model)
        call = self._call(self._stub.CheckModelVectors, request, principal, timeout_seconds)
        return (await call).lacking_count

    async def generate(
        self, principal: Principal, request: notes_pb2.GenerateNotesRequest, *, timeout_seconds: float
    ) -> notes_pb2.GenerateNotesResponse:
        """See NoteInternalService.GenerateNotes."""
        return await self._call(self._stub.GenerateNotes, request, principal, timeout_seconds)

    async def record_feedback(
        self, principal: Principal, request: notes_pb2.RecordFeedbackRequest, *, timeout_seconds: float
    ) -> None:
        """See NoteInternalService.RecordFeedback."""
        await self._call(self._stub.RecordFeedback, request, principal, timeout_seconds)

    async def record_use(
        self, principal: Principal, request: notes_pb2.RecordUseRequest, *, timeout_seconds: float
    ) -> None:
        """See NoteInternalService.RecordUse."""
        await self._call(self._stub.RecordUse, request, principal, timeout_seconds)

    async def search(
        self, principal: Principal, request: notes_pb2.SearchNotesRequest, *, timeout_seconds: float
    ) -> notes_pb2.SearchNotesResponse:
        """See NoteInternalService.SearchNotes."""
        return await self._call(self._stub.SearchNotes, request, principal, timeout_seconds)

    async def get(
        self, principal: Principal, request: public_notes_pb2.GetNoteRequest, *, timeout_seconds: float
    ) -> public_notes_pb2.Note:
        """See NoteService.GetNote."""
        return (await self._call(self._notes.GetNote, request, principal, timeout_seconds)).note

    async def update(
        self, principal: Principal, request: public_notes_pb2.UpdateNoteRequest, *, timeout_seconds: float
    ) -> None:
        """See NoteService.UpdateNote."""
        await self._call(self._notes.UpdateNote, request, principal, timeout_seconds)

    async def list_notes(
        self, principal: Principal, request: public_notes_pb2.ListNotesRequest, *, timeout_seconds: float
    ) -> public_notes_pb2.ListNotesResponse:
        """See NoteService.ListNotes."""
        return await self._call(self._notes.ListNotes, request, principal, timeout_seconds)

    async def delete(
        self, principal: Principal, request: public_notes_pb2.DeleteNoteRequest, *, timeout_seconds: float
    ) -> None:
        """See NoteService.DeleteNote."""
        await self._call(self._notes.DeleteNote, request, principal, timeout_seconds)

    async def remove_by_source(
        self, principal: Principal, request: notes_pb2.RemoveBySourceRequest, *, timeout_seconds: float
    ) -> notes_pb2.RemoveBySourceResponse:
        """See NoteInternalService.RemoveBySource."""
        return await self._call(self._stub.RemoveBySource, request, principal, timeout_seconds)

    async def list_users(
        self, principal: Principal, request: notes_pb2.ListUsersRequest, *, timeout_seconds: float
    ) -> notes_pb2.ListUsersResponse:
        """See NoteInternalService.ListUsers."""
        return await self._call(self._stub.ListUsers, request, principal, timeout_seconds)

    async def remove_owner(
        self, principal: Principal, request: notes_pb2.RemoveOwnerRequest, *, timeout_seconds: float
    ) -> notes_pb2.RemoveOwnerResponse:
        """See NoteInternalService.RemoveOwner."""
        return await self._call(self._stub.RemoveOwner, request, principal, timeout_seconds)


@dataclass(frozen=True, slots=True)
class Upstream:
    """All tiers."""

    session: SessionClient
    episodic: EpisodicClient
    facts: FactClient
    profile: ProfileClient
    procedures: ProcedureClient
    supersessions: SupersessionClient
    notes: NoteClient
    maintenance: Mapping[str, MaintenanceClient]  # of the tiers that run jobs, by the names that these begin with

    @classmethod
    def over(cls, channels: TierChannels, metadata: MetadataSource) -> Upstream:
        """The clients over these channels."""
        with_jobs = ("agentic", "episodic", "semantic")
        return cls(
            session=SessionClient(channels.session, metadata),
            episodic=EpisodicClient(channels.episodic, metadata),
            facts=FactClient(channels.semantic, metadata),
            profile=ProfileClient(channels.semantic, metadata),
            procedures=ProcedureClient(channels.semantic, metadata),
            supersessions=SupersessionClient(channels.semantic, metadata),
            notes=NoteClient(channels.agentic, metadata),
            maintenance={name: MaintenanceClient(getattr(channels, name), metadata, name) for name in with_jobs},
        )
