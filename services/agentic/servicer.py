"""The gRPC edge of the agentic tier."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.agentic.v1 import notes_pb2 as pb
from mneme.agentic.v1 import notes_pb2_grpc
from services.agentic import commands, convert, link_commands
from services.agentic.commands import VectorForm
from services.agentic.comparison import NoteComparer
from services.agentic.config import NoteLimits
from services.agentic.decay import Decay
from services.agentic.links import LinkService
from services.agentic.model import NoteStatus
from services.agentic.service import NoteService
from services.common.auth import Role, current_principal
from services.common.model_change import FormerVectors, ModelChangeSettings
from services.common.paging import PageTokens
from services.common.reading import chosen_reader

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["NoteService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "CreateNote": Role.WRITER,
    "GetNote": Role.READER,
    "ListNotes": Role.READER,
    "SearchNotes": Role.READER,
    "GetNoteModelComparison": Role.READER,
    "UpdateNote": Role.WRITER,
    "DeleteNote": Role.WRITER,
    "ArchiveNotes": Role.WRITER,
    "RestoreNotes": Role.WRITER,
    "CreateLink": Role.WRITER,
    "ListLinks": Role.READER,
    "UpdateLink": Role.WRITER,
    "DeleteLink": Role.WRITER,
}
"""The role that each method needs, by its name."""


class NoteServicer(notes_pb2_grpc.NoteServiceServicer):
    """Handlers of NoteService."""

    def __init__(
        self,
        notes: NoteService,
        links: LinkService,
        limits: NoteLimits,
        tokens: PageTokens,
        vector_form: VectorForm,
        decay: Decay,
        former: FormerVectors,
        comparer: NoteComparer,
        model_change: ModelChangeSettings,
    ) -> None:
        """Serve the use cases; requests are checked against `limits`, and searches marked that lack notes."""
        self._notes = notes
        self._links = links
        self._limits = limits
        self._tokens = tokens
        self._vector_form = vector_form
        self._decay = decay
        self._former = former
        self._comparer = comparer
        self._model_change = model_change

    async def CreateNote(self, request: pb.CreateNoteRequest, _context: Context) -> pb.CreateNoteResponse:
        """See notes.proto."""
        command = commands.create_note_command(request, current_principal(), limits=self._limits)
        return convert.create_note_response(await self._notes.create(command), self._decay.when_written)

    async def GetNote(self, request: pb.GetNoteRequest, _context: Context) -> pb.GetNoteResponse:
        """See notes.proto."""
        owner, note_id = commands.note_key(request, current_principal(), limits=self._limits)
        return convert.get_note_response(await self._notes.get(owner, note_id, chosen_reader(request)), self._decay.now)

    async def ListNotes(self, request: pb.ListNotesRequest, _context: Context) -> pb.ListNotesResponse:
        """See notes.proto."""
        caller = current_principal()
        command = commands.list_notes_command(request, caller, limits=self._limits, tokens=self._tokens)
        page = await self._notes.list_notes(command)
        bytes_max, decay = self._limits.page_bytes_max, self._decay.now
        return convert.list_notes_response(page, request, caller, tokens=self._tokens, bytes_max=bytes_max, decay=decay)

    async def UpdateNote(self, request: pb.UpdateNoteRequest, _context: Context) -> pb.UpdateNoteResponse:
        """See notes.proto."""
        command = commands.update_note_command(request, current_principal(), limits=self._limits)
        return convert.update_note_response(await self._notes.update(command), self._decay.when_written)

    async def DeleteNote(self, request: pb.DeleteNoteRequest, _context: Context) -> pb.DeleteNoteResponse:
        """See notes.proto."""
        command = commands.delete_note_command(request, current_principal(), limits=self._limits)
        await self._notes.delete(command)
        return pb.DeleteNoteResponse()

    async def ArchiveNotes(self, request: pb.ArchiveNotesRequest, _context: Context) -> pb.ArchiveNotesResponse:
        """See notes.proto."""
        caller, status = current_principal(), NoteStatus.ARCHIVED
        command = commands.set_status_command(request, caller, status=status, limits=self._limits)
        states = await self._notes.set_status(command)
        return pb.ArchiveNotesResponse(results=convert.status_results(command, states))

    async def RestoreNotes(self, request: pb.RestoreNotesRequest, _context: Context) -> pb.RestoreNotesResponse:
        """See notes.proto."""
        caller, status = current_principal(), NoteStatus.ACTIVE
        command = commands.set_status_command(request, caller, status=status, limits=self._limits)
        states = await self._notes.set_status(command)
        return pb.RestoreNotesResponse(results=convert.status_results(command, states))

    async def SearchNotes(self, request: pb.SearchNotesRequest, _context: Context) -> pb.SearchNotesResponse:
        """See notes.proto."""
        command = commands.search_notes_command(
            request, current_principal(), limits=self._limits, vector_form=self._vector_form
        )
        hits, lacks_notes = await asyncio.gather(self._notes.search(command), self._former.lacks(command.owner))
        return convert.search_notes_response(
            hits, bytes_max=self._limits.page_bytes_max, decay=self._decay.now, lacks_notes=lacks_notes
        )

    async def GetNoteModelComparison(
        self, request: pb.GetNoteModelComparisonRequest, _context: Context
    ) -> pb.GetNoteModelComparisonResponse:
        """See notes.proto."""
        owner, questions, reader = commands.comparison_command(
            request, current_principal(), limits=self._limits, settings=self._model_change
        )
        return convert.comparison_response(await self._comparer.compare(owner, questions, reader=reader))

    async def CreateLink(self, request: pb.CreateLinkRequest, _context: Context) -> pb.CreateLinkResponse:
        """See notes.proto."""
        command = link_commands.create_link_command(request, current_principal(), limits=self._limits)
        return pb.CreateLinkResponse(link=convert.link_to_proto(await self._links.create(command)))

    async def ListLinks(self, request: pb.ListLinksRequest, _context: Context) -> pb.ListLinksResponse:
        """See notes.proto."""
        caller = current_principal()
        command = link_commands.list_links_command(request, caller, limits=self._limits, tokens=self._tokens)
        page = await self._links.list_links(command)
        return convert.list_links_response(page, request, caller, tokens=self._tokens)

    async def UpdateLink(self, request: pb.UpdateLinkRequest, _context: Context) -> pb.UpdateLinkResponse:
        """See notes.proto."""
        command = link_commands.update_link_command(request, current_principal(), limits=self._limits)
        return pb.UpdateLinkResponse(link=convert.link_to_proto(await self._links.update(command)))

    async def DeleteLink(self, request: pb.DeleteLinkRequest, _context: Context) -> pb.DeleteLinkResponse:
        """See notes.proto."""
        command = link_commands.delete_link_command(request, current_principal(), limits=self._limits)
        await self._links.delete(command)
        return pb.DeleteLinkResponse()
