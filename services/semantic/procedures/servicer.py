"""The gRPC edge of procedures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.semantic.v1 import procedures_pb2 as pb
from mneme.semantic.v1 import procedures_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.paging import PageTokens
from services.common.reading import chosen_reader
from services.semantic.config import SemanticSettings
from services.semantic.procedures import commands, convert
from services.semantic.procedures.service import ProcedureService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["ProcedureService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "CreateProcedure": Role.WRITER,
    "GetProcedure": Role.READER,
    "ListProcedures": Role.READER,
    "UpdateProcedure": Role.WRITER,
    "DeleteProcedure": Role.WRITER,
}
"""The role that each method needs, by its name."""


class ProcedureServicer(procedures_pb2_grpc.ProcedureServiceServicer):
    """Handlers of ProcedureService: in, work, out."""

    def __init__(self, procedures: ProcedureService, settings: SemanticSettings, tokens: PageTokens) -> None:
        """Serve `procedures`; requests are checked against the limits of `settings`."""
        self._procedures = procedures
        self._limits = settings.facts
        self._settings = settings.procedures
        self._tokens = tokens

    async def CreateProcedure(
        self, request: pb.CreateProcedureRequest, _context: Context
    ) -> pb.CreateProcedureResponse:
        """See procedures.proto."""
        command = commands.create_command(request, current_principal(), limits=self._limits, settings=self._settings)
        created = await self._procedures.create(command)
        return pb.CreateProcedureResponse(procedure=convert.procedure_to_proto(created, request.user_id))

    async def GetProcedure(self, request: pb.GetProcedureRequest, _context: Context) -> pb.GetProcedureResponse:
        """See procedures.proto."""
        owner, procedure_id = commands.procedure_key(request, current_principal(), limits=self._limits)
        found = await self._procedures.get(owner, procedure_id, chosen_reader(request))
        return pb.GetProcedureResponse(procedure=convert.procedure_to_proto(found, request.user_id))

    async def ListProcedures(self, request: pb.ListProceduresRequest, _context: Context) -> pb.ListProceduresResponse:
        """See procedures.proto."""
        caller = current_principal()
        command = commands.list_command(request, caller, limits=self._limits, tokens=self._tokens)
        page, position = await self._procedures.list_page(
            command.owner, kind=command.kind, after=command.after, page_size=command.page_size, reader=command.reader
        )
        return convert.list_response(page, position, request, caller, tokens=self._tokens)

    async def UpdateProcedure(
        self, request: pb.UpdateProcedureRequest, _context: Context
    ) -> pb.UpdateProcedureResponse:
        """See procedures.proto."""
        command = commands.update_command(request, current_principal(), limits=self._limits)
        updated = await self._procedures.update(command)
        return pb.UpdateProcedureResponse(procedure=convert.procedure_to_proto(updated, request.user_id))

    async def DeleteProcedure(
        self, request: pb.DeleteProcedureRequest, _context: Context
    ) -> pb.DeleteProcedureResponse:
        """See procedures.proto."""
        command = commands.delete_command(request, current_principal(), limits=self._limits)
        await self._procedures.delete(command)
        return pb.DeleteProcedureResponse()
