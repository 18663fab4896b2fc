"""The gRPC edge of facts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import grpc

from mneme.semantic.v1 import facts_pb2 as pb
from mneme.semantic.v1 import facts_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.model_change import FormerVectors
from services.common.paging import PageTokens
from services.common.reading import chosen_reader
from services.semantic.config import SemanticSettings
from services.semantic.facts import commands, convert, merge_commands, merge_convert
from services.semantic.facts.commands import VectorForm
from services.semantic.facts.comparison import FactComparer
from services.semantic.facts.merging import FactMerging
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["FactService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "CreateFact": Role.WRITER,
    "GetFact": Role.READER,
    "ListFacts": Role.READER,
    "SearchFacts": Role.READER,
    "GetFactModelComparison": Role.READER,
    "UpdateFact": Role.WRITER,
    "DeleteFact": Role.WRITER,
    "ListMergeGroups": Role.READER,
    "ResolveMergeGroup": Role.WRITER,
}
"""The role that each method needs, by its name."""


class FactServicer(facts_pb2_grpc.FactServiceServicer):
    """Handlers of FactService: in, work, out."""

    def __init__(
        self,
        facts: FactService,
        removal: FactRemoval,
        merging: FactMerging,
        settings: SemanticSettings,
        tokens: PageTokens,
        vector_form: VectorForm,
        former: FormerVectors,
        comparer: FactComparer,
    ) -> None:
        """Serve the use cases; requests are checked against the limits of `settings`."""
        self._facts = facts
        self._removal = removal
        self._merging = merging
        self._limits = settings.facts
        self._confident_above = settings.use.passive_confidence_above
        self._tokens = tokens
        self._vector_form = vector_form
        self._former = former
        self._comparer = comparer
        self._model_change = settings.model_change

    async def CreateFact(self, request: pb.CreateFactRequest, _context: Context) -> pb.CreateFactResponse:
        """See facts.proto."""
        command = commands.create_fact_command(request, current_principal(), limits=self._limits)
        return pb.CreateFactResponse(fact=convert.fact_to_proto(await self._facts.create(command)))

    async def GetFact(self, request: pb.GetFactRequest, _context: Context) -> pb.GetFactResponse:
        """See facts.proto."""
        caller, reader = current_principal(), chosen_reader(request)
        owner, fact_id = commands.fact_key(request, caller, limits=self._limits)
        fact = await self._facts.get(owner, fact_id, reader=reader, include_low_confidence=caller.may(Role.ADMIN))
        return pb.GetFactResponse(fact=convert.fact_to_proto(fact))

    async def ListFacts(self, request: pb.ListFactsRequest, _context: Context) -> pb.ListFactsResponse:
        """See facts.proto."""
        caller = current_principal()
        command = commands.list_facts_command(request, caller, limits=self._limits, tokens=self._tokens)
        page = await self._facts.list_facts(command)
        bytes_max = self._limits.page_bytes_max
        return convert.list_facts_response(page, request, caller, tokens=self._tokens, bytes_max=bytes_max)

    async def SearchFacts(self, request: pb.SearchFactsRequest, _context: Context) -> pb.SearchFactsResponse:
        """See facts.proto."""
        command = commands.search_facts_command(
            request, current_principal(), limits=self._limits, vector_form=self._vector_form
        )
        hits, lacks_facts = await asyncio.gather(self._facts.search(command), self._former.lacks(command.owner))
        return convert.search_facts_response(
            hits,
            confident_above=self._confident_above,
            bytes_max=self._limits.page_bytes_max,
            lacks_facts=lacks_facts,
        )

    async def GetFactModelComparison(
        self, request: pb.GetFactModelComparisonRequest, _context: Context
    ) -> pb.GetFactModelComparisonResponse:
        """See facts.proto."""
        owner, questions, reader = commands.comparison_command(
            request, current_principal(), limits=self._limits, settings=self._model_change
        )
        return convert.comparison_response(await self._comparer.compare(owner, questions, reader=reader))

    async def UpdateFact(self, request: pb.UpdateFactRequest, _context: Context) -> pb.UpdateFactResponse:
        """See facts.proto."""
        command = commands.update_fact_command(request, current_principal(), limits=self._limits)
        return pb.UpdateFactResponse(fact=convert.fact_to_proto(await self._facts.update(command)))

    async def DeleteFact(self, request: pb.DeleteFactRequest, _context: Context) -> pb.DeleteFactResponse:
        """See facts.proto."""
        await self._removal.delete(commands.delete_fact_command(request, current_principal(), limits=self._limits))
        return pb.DeleteFactResponse()

    async def ListMergeGroups(
        self, request: pb.ListMergeGroupsRequest, _context: Context
    ) -> pb.ListMergeGroupsResponse:
        """See facts.proto."""
        caller = current_principal()
        command = merge_commands.list_command(request, caller, limits=self._limits, tokens=self._tokens)
        page = await self._merging.list_groups(command)
        bytes_max = self._limits.page_bytes_max
        return merge_convert.list_response(page, request, caller, tokens=self._tokens, bytes_max=bytes_max)

    async def ResolveMergeGroup(
        self, request: pb.ResolveMergeGroupRequest, _context: Context
    ) -> pb.ResolveMergeGroupResponse:
        """See facts.proto."""
        command = merge_commands.resolve_command(request, current_principal(), limits=self._limits)
        return pb.ResolveMergeGroupResponse(group=merge_convert.group_to_proto(await self._merging.resolve(command)))
