"""The gRPC edge of the agentic tier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.agentic.v1 import notes_pb2 as pb
from mneme.agentic.v1 import notes_pb2_grpc
from services.agentic import commands, convert
from services.agentic.commands import VectorForm
from services.agentic.config import NoteLimits
from services.agentic.service import NoteService
from services.common.auth import Role, current_principal
from services.common.paging import PageTokens

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["NoteService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "CreateNote": Role.WRITER,
    "GetNote": Role.READER,
    "ListNotes": Role.READER,
    "SearchNotes": Role.READER,
    "CreateLink": Role.WRITER,
    "DeleteLink": Role.WRITER,
}
"""The role that each method needs, by its name."""


class NoteServicer(notes_pb2_grpc.NoteServiceServicer):
    """Handlers of NoteService: in, work, out."""

    def __init__(
        self,
        notes: NoteService,
        limits: NoteLimits,
        tokens: PageTokens,
        vector_form: VectorForm,
    ) -> None:
        """Serve `notes`; requests are checked against `limits`."""
        self._notes = notes
        self._limits = limits
        self._tokens = tokens
        self._vector_form = vector_form

    async def CreateNote(self, request: pb.CreateNoteRequest, _context: Context) -> pb.CreateNoteResponse:
        """See notes.proto."""
        command = commands.create_note_command(request, current_principal(), limits=self._limits)
        return convert.create_note_response(await self._notes.create(command))

    async def GetNote(self, request: pb.GetNoteRequest, _context: Context) -> pb.GetNoteResponse:
        """See notes.proto."""
        owner, note_id = commands.note_key(request, current_principal(), limits=self._limits)
        return convert.get_note_response(await self._notes.get(owner, note_id))

    async def ListNotes(self, request: pb.ListNotesRequest, _context: Context) -> pb.ListNotesResponse:
        """See notes.proto."""
        caller = current_principal()
        command = commands.list_notes_command(request, caller, limits=self._limits, tokens=self._tokens)
        page = await self._notes.list_notes(command)
        bytes_max = self._limits.page_bytes_max
        return convert.list_notes_response(page, request, caller, tokens=self._tokens, bytes_max=bytes_max)

    async def SearchNotes(self, request: pb.SearchNotesRequest, _context: Context) -> pb.SearchNotesResponse:
        """See notes.proto."""
        command = commands.search_notes_command(
            request, current_principal(), limits=self._limits, vector_form=self._vector_form
        )
        hits = await self._notes.search(command)
        return convert.search_notes_response(hits, bytes_max=self._limits.page_bytes_max)

    async def CreateLink(self, request: pb.CreateLinkRequest, _context: Context) -> pb.CreateLinkResponse:
        """See notes.proto."""
        command = commands.create_link_command(request, current_principal(), limits=self._limits)
        return pb.CreateLinkResponse(link=convert.link_to_proto(await self._notes.create_link(command)))

    async def DeleteLink(self, request: pb.DeleteLinkRequest, _context: Context) -> pb.DeleteLinkResponse:
        """See notes.proto."""
        command = commands.delete_link_command(request, current_principal(), limits=self._limits)
        await self._notes.delete_link(command)
        return pb.DeleteLinkResponse()
