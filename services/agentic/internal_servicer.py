"""The gRPC edge of the agentic tier for the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.agentic.internal.v1 import notes_pb2 as pb
from mneme.agentic.internal.v1 import notes_pb2_grpc
from services.agentic import internal_commands as commands
from services.agentic import internal_convert as convert
from services.agentic.commands import VectorForm
from services.agentic.config import NoteLimits
from services.agentic.decay import Decay
from services.agentic.feedback import NoteFeedback
from services.agentic.ingest import NoteIngest
from services.agentic.removal import NoteRemoval
from services.agentic.service import NoteService
from services.agentic.use import NoteUses
from services.common.auth import Role, current_principal
from services.common.clock import Clock
from services.common.model_change import FormerVectors, SecondVectors
from services.common.owners import TenantId
from services.common.paging import PageTokens
from services.common.users import users_page

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["NoteInternalService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "GenerateNotes": Role.SERVICE,
    "SearchNotes": Role.SERVICE,
    "RecordFeedback": Role.SERVICE,
    "RecordUse": Role.SERVICE,
    "RemoveBySource": Role.SERVICE,
    "ListUsers": Role.SERVICE,
    "RemoveOwner": Role.SERVICE,
    "CheckModelVectors": Role.SERVICE,
}
"""The role that each method needs, by its name."""


class NoteInternalServicer(notes_pb2_grpc.NoteInternalServiceServicer):
    """Handlers of NoteInternalService."""

    def __init__(
        self,
        ingest: NoteIngest,
        notes: NoteService,
        removal: NoteRemoval,
        feedback: NoteFeedback,
        uses: NoteUses,
        limits: NoteLimits,
        vector_form: VectorForm,
        clock: Clock,
        tokens: PageTokens,
        decay: Decay,
        former: FormerVectors,
        second: SecondVectors,
    ) -> None:
        """Serve the use cases; requests are checked against `limits`."""
        self._ingest = ingest
        self._notes = notes
        self._removal = removal
        self._feedback = feedback
        self._uses = uses
        self._limits = limits
        self._vector_form = vector_form
        self._clock = clock
        self._tokens = tokens
        self._decay = decay
        self._former = former
        self._second = second

    async def GenerateNotes(self, request: pb.GenerateNotesRequest, _context: Context) -> pb.GenerateNotesResponse:
        """See notes.proto."""
        batch = commands.generation_batch(request, now=self._clock.now(), limits=self._limits)
        results = await self._ingest.generate(TenantId(current_principal().tenant_id), batch.sources)
        return convert.generation_response(batch, results)

    async def SearchNotes(self, request: pb.SearchNotesRequest, _context: Context) -> pb.SearchNotesResponse:
        """See notes.proto."""
        command = commands.search_notes_command(
            request, current_principal(), limits=self._limits, vector_form=self._vector_form
        )
        hits, lacks_notes = await asyncio.gather(self._notes.search(command), self._former.lacks(command.owner))
        return convert.search_notes_response(
            hits, bytes_max=self._limits.page_bytes_max, decay=self._decay.now, lacks_notes=lacks_notes
        )

    async def RecordFeedback(self, request: pb.RecordFeedbackRequest, _context: Context) -> pb.RecordFeedbackResponse:
        """See notes.proto."""
        owner, note_ids, feedback, key = commands.feedback_command(request, current_principal(), limits=self._limits)
        judged = await self._feedback.record(owner, note_ids, feedback, key=key)
        return pb.RecordFeedbackResponse(note_ids=judged.note_ids, judged_links=judged.links)

    async def RecordUse(self, request: pb.RecordUseRequest, _context: Context) -> pb.RecordUseResponse:
        """See notes.proto."""
        owner, uses = commands.use_command(request, current_principal(), limits=self._limits)
        return convert.record_use_response(await self._uses.record(owner, uses))

    async def RemoveBySource(self, request: pb.RemoveBySourceRequest, _context: Context) -> pb.RemoveBySourceResponse:
        """See notes.proto."""
        owner, interaction_ids = commands.remove_by_source_command(request, current_principal(), limits=self._limits)
        return convert.remove_by_source_response(await self._removal.by_source(owner, interaction_ids))

    async def ListUsers(self, request: pb.ListUsersRequest, _context: Context) -> pb.ListUsersResponse:
        """See notes.proto."""
        user_ids, token = await users_page(
            self._tokens,
            TenantId(current_principal().tenant_id),
            [self._removal.users],
            page_size=request.page_size,
            page_token=request.page_token,
        )
        return pb.ListUsersResponse(user_ids=user_ids, next_page_token=token)

    async def RemoveOwner(self, request: pb.RemoveOwnerRequest, _context: Context) -> pb.RemoveOwnerResponse:
        """See notes.proto."""
        owner = commands.remove_owner_command(request, current_principal(), limits=self._limits)
        return convert.remove_owner_response(await self._removal.of_owner(owner, notes_max=request.notes_max))

    async def CheckModelVectors(
        self, request: pb.CheckModelVectorsRequest, _context: Context
    ) -> pb.CheckModelVectorsResponse:
        """See notes.proto."""
        return pb.CheckModelVectorsResponse(lacking_count=await self._second.count_lacking(request.model))
