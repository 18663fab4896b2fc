"""The gRPC edge of the code graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from mneme.semantic.v1 import code_pb2 as pb
from mneme.semantic.v1 import code_pb2_grpc
from services.common.auth import Role, current_principal
from services.common.idempotency.requests import idempotency_key
from services.common.owners import Owner
from services.common.paging import PageTokens, cut_page
from services.common.tokens import token_counter
from services.common.validation import Violations
from services.semantic.code import commands, convert
from services.semantic.code.config import CodeLimits
from services.semantic.code.excerpts import FoundFile
from services.semantic.code.question import question_of
from services.semantic.code.repository import RepositoryIndex
from services.semantic.code.service import CodeService
from services.semantic.commands import owner_of

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
T = TypeVar("T")
_M = TypeVar("_M", bound=Message)


class _OfUser(Protocol):
    user_id: str


class _OfRepository(_OfUser, Protocol):
    repository_id: str


SERVICE_NAME: Final = pb.DESCRIPTOR.services_by_name["CodeService"].full_name

ROLES: Final[Mapping[str, Role]] = {
    "IndexFiles": Role.WRITER,
    "DeleteRepository": Role.WRITER,
    "ListRepositories": Role.READER,
    "ListFiles": Role.READER,
    "ListSymbols": Role.READER,
    "ListImports": Role.READER,
    "SearchSymbols": Role.READER,
    "ListRelations": Role.READER,
    "GetCodePath": Role.READER,
    "SearchCode": Role.READER,
    "GetOutline": Role.READER,
}
"""The role that each method needs, by its name."""


class CodeServicer(code_pb2_grpc.CodeServiceServicer):
    """Handlers of CodeService: in, work, out."""

    def __init__(self, code: CodeService, limits: CodeLimits, tokens: PageTokens) -> None:
        """Serve the use cases; requests are checked against `limits`."""
        self._code = code
        self._limits = limits
        self._tokens = tokens

    async def IndexFiles(self, request: pb.IndexFilesRequest, _context: Context) -> pb.IndexFilesResponse:
        """See code.proto."""
        command = commands.index_command(request, current_principal(), limits=self._limits)
        outcome = await self._code.index(
            command.owner, command.key, command.repository_id, command.files, command.removed
        )
        return convert.index_response(outcome, request)

    async def DeleteRepository(
        self, request: pb.DeleteRepositoryRequest, _context: Context
    ) -> pb.DeleteRepositoryResponse:
        """See code.proto."""
        caller = current_principal()
        commands.check_deletion(request, limits=self._limits)
        key = idempotency_key(request, caller)
        deletion = await self._code.delete(owner_of(request.user_id, caller), key, request.repository_id)
        return pb.DeleteRepositoryResponse(removed_files=deletion.removed_files)

    async def ListRepositories(
        self, request: pb.ListRepositoriesRequest, _context: Context
    ) -> pb.ListRepositoriesResponse:
        """See code.proto."""
        page = self._page(request)
        found, after = await self._code.list_repositories(
            self._owner(request), after=str(page.after[0]) if page.after else None, page_size=page.size
        )
        return pb.ListRepositoriesResponse(
            repositories=[convert.repository_to_proto(one) for one in found],
            next_page_token=self._token(None if after is None else (after,), request),
        )

    async def ListFiles(self, request: pb.ListFilesRequest, _context: Context) -> pb.ListFilesResponse:
        """See code.proto."""
        sizes = (self._limits.files_page_size_default, self._limits.files_page_size_max)
        page = self._page(request, *sizes)
        found, after = await self._code.list_files(
            self._owner(request),
            request.repository_id,
            after=str(page.after[0]) if page.after else None,
            page_size=page.size,
        )
        files, cursor = cut_page(
            [convert.file_to_proto(file) for file in found],
            has_more=after is not None,
            bytes_max=self._limits.page_bytes_max,
            cursor_of=lambda at: (found[at].path,),
        )
        return pb.ListFilesResponse(files=files, next_page_token=self._token(cursor, request))

    async def ListSymbols(self, request: pb.ListSymbolsRequest, _context: Context) -> pb.ListSymbolsResponse:
        """See code.proto."""
        named = [("path", request.path, self._limits.path_chars_max)]
        page = self._page_of(request, lambda: commands.check_named(request, named, limits=self._limits))

        def found(index: RepositoryIndex) -> Sequence[pb.CodeSymbol]:
            refs = index.symbols_of(request.path)[_start(page) : _start(page) + page.size + 1]
            return [convert.symbol_to_proto(index, ref) for ref in refs]

        symbols, token = self._cut(await self._ask(request, found), page, request)
        return pb.ListSymbolsResponse(symbols=symbols, next_page_token=token)

    async def ListImports(self, request: pb.ListImportsRequest, _context: Context) -> pb.ListImportsResponse:
        """See code.proto."""
        named = [("path", request.path, self._limits.path_chars_max)]
        page = self._page_of(request, lambda: commands.check_named(request, named, limits=self._limits))

        def found(index: RepositoryIndex) -> Sequence[pb.CodeImport]:
            imports = index.imports_of(request.path)[_start(page) : _start(page) + page.size + 1]
            return [convert.import_to_proto(*one) for one in imports]

        imports, token = self._cut(await self._ask(request, found), page, request)
        return pb.ListImportsResponse(imports=imports, next_page_token=token)

    async def SearchSymbols(self, request: pb.SearchSymbolsRequest, _context: Context) -> pb.SearchSymbolsResponse:
        """See code.proto."""
        named = [("query", request.query, self._limits.name_chars_max)]
        commands.check_named(request, named, limits=self._limits, limit=request.limit)
        kind, limit = commands.symbol_kind(request), request.limit or self._limits.limit_default

        def found(index: RepositoryIndex) -> pb.SearchSymbolsResponse:
            matches = index.find(request.query, kind=kind, limit=limit)
            return pb.SearchSymbolsResponse(
                matches=[
                    pb.SymbolMatch(symbol=convert.symbol_to_proto(index, one.ref), score=one.score) for one in matches
                ]
            )

        return await self._ask(request, found)

    async def ListRelations(self, request: pb.ListRelationsRequest, _context: Context) -> pb.ListRelationsResponse:
        """See code.proto."""
        page = self._page_of(request, lambda: commands.check_relations(request, limits=self._limits))
        kinds = commands.relation_kinds(request)

        def found(index: RepositoryIndex) -> Sequence[pb.CodeRelation]:
            relations = index.relations(
                *index.node(request.node),
                is_incoming=request.direction == pb.RELATION_DIRECTION_INCOMING,
                kinds=kinds,
                limit=self._limits.relations_max,
            )
            return [
                convert.relation_to_proto(index, one) for one in relations[_start(page) : _start(page) + page.size + 1]
            ]

        relations, token = self._cut(await self._ask(request, found), page, request)
        return pb.ListRelationsResponse(relations=relations, next_page_token=token)

    async def GetCodePath(self, request: pb.GetCodePathRequest, _context: Context) -> pb.GetCodePathResponse:
        """See code.proto."""
        commands.check_path(request, limits=self._limits)
        hops_max = request.hops_max or self._limits.hops_default

        def found(index: RepositoryIndex) -> pb.GetCodePathResponse:
            start, end = index.node(request.from_node), index.node(request.to_node)
            path = index.path(start, end, hops_max=hops_max, nodes_max=self._limits.path_nodes_max)
            return pb.GetCodePathResponse(relations=[convert.relation_to_proto(index, one) for one in path])

        return await self._ask(request, found)

    async def SearchCode(self, request: pb.SearchCodeRequest, _context: Context) -> pb.SearchCodeResponse:
        """See code.proto."""
        commands.check_search(request, limits=self._limits)
        limit = request.limit or self._limits.limit_default

        def found(index: RepositoryIndex) -> tuple[pb.SearchCodeResponse, list[FoundFile]]:
            question = question_of(request.query)
            matches = index.search(question, limit=limit, folder=request.folder, related=request.related_paths)
            response = pb.SearchCodeResponse(matches=[convert.match_to_proto(index, one) for one in matches])
            return response, [convert.found_file(index, one) for one in matches]

        response, files = await self._ask(request, found)
        if request.lines_max:
            texts = await self._code.excerpts(
                self._owner(request),
                request.repository_id,
                files,
                lines_max=request.lines_max,
                lines_min=request.lines_min,
            )
            convert.add_excerpts(response, texts, bytes_max=self._limits.page_bytes_max)
        return response

    async def GetOutline(self, request: pb.GetOutlineRequest, _context: Context) -> pb.GetOutlineResponse:
        """See code.proto."""
        commands.check_outline(request, limits=self._limits)
        outline = await self._code.outline(
            self._owner(request),
            request.repository_id,
            token_budget=request.token_budget or self._limits.token_budget_default,
            query=request.query,
        )
        return pb.GetOutlineResponse(
            text=outline.text,
            token_count=outline.token_count,
            tokenizer=token_counter().name,
            file_count=outline.file_count,
        )

    async def _ask(self, request: _OfRepository, question: Callable[[RepositoryIndex], T]) -> T:
        return await self._code.ask(self._owner(request), request.repository_id, question)

    @staticmethod
    def _owner(request: _OfUser) -> Owner:
        return owner_of(request.user_id, current_principal())

    def _page_of(self, request: Message, check: Callable[[], None]) -> commands.Page:
        """Which page of a list, once all else is checked: whatever is wrong is named at once."""
        violations, first = Violations(), commands.Page(0, None)
        violations.read(check, None)
        page = violations.read(lambda: self._page(request), first)
        violations.raise_if_any()
        return page

    def _page(self, request: Message, default: int | None = None, maximum: int | None = None) -> commands.Page:
        return commands.page_of(
            request,
            current_principal(),
            tokens=self._tokens,
            default=default or self._limits.page_size_default,
            maximum=maximum or self._limits.page_size_max,
            limits=self._limits,
        )

    def _token(self, cursor: tuple[str | int | float, ...] | None, request: Message) -> str:
        caller = current_principal()
        return self._tokens.next_token(cursor, tenant_id=caller.tenant_id, query=commands.list_query(request))

    def _cut(self, found: Sequence[_M], page: commands.Page, request: Message) -> tuple[Sequence[_M], str]:
        """A page of a list that is numbered from its beginning, and the token of the next one."""
        messages, cursor = cut_page(
            found[: page.size],
            has_more=len(found) > page.size,
            bytes_max=self._limits.page_bytes_max,
            cursor_of=lambda at: (_start(page) + at + 1,),
        )
        return messages, self._token(cursor, request)


def _start(page: commands.Page) -> int:
    return int(page.after[0]) if page.after else 0
