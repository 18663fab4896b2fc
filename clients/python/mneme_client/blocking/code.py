# Generated from aio/code.py by `make client`, not to be edited.
"""Source code: indexing repositories, and asking about them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from mneme.semantic.v1 import code_pb2
from mneme_client import code as r
from mneme_client import from_wire_code, to_wire
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_all, read_one, read_page
from mneme_client.enums import RelationKind, SymbolKind

_SERVICE = "/mneme.semantic.v1.CodeService"


class CodeOperations(Operations):
    """Indexes source code and finds definitions, relations and relevant files."""

    def index_files(
        self,
        user_id: str,
        repository_id: str,
        files: Mapping[str, bytes],
        *,
        removed_paths: Collection[str] = (),
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.IndexResult:
        """Adds and replaces files of a repository, and removes others. The first files create it.

        Args:
            user_id: Whose memory.
            repository_id: Which repository.
            files: Contents by path, at most 512, a few MiB together.
            removed_paths: Paths of files that are gone.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = code_pb2.IndexFilesRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            repository_id=repository_id,
            files=[code_pb2.SourceFile(path=path, content=content) for path, content in files.items()],
            removed_paths=removed_paths,
        )
        call = Call(f"{_SERVICE}/IndexFiles", request, code_pb2.IndexFilesResponse, from_wire_code.index_result)
        return self._call(call, timeout_seconds)

    def delete_repository(
        self, user_id: str, repository_id: str, *, request_id: str | None = None, timeout_seconds: float | None = None
    ) -> int:
        """Deletes a repository; how many files it had. Fails with NOT_FOUND if there is none."""
        request = code_pb2.DeleteRepositoryRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, repository_id=repository_id
        )
        read = read_one("removed_files", int)
        call = Call(f"{_SERVICE}/DeleteRepository", request, code_pb2.DeleteRepositoryResponse, read)
        return self._call(call, timeout_seconds)

    def list_repositories(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[r.CodeRepository]:
        """A user's repositories, by id; pages are fetched as they are needed."""
        request = code_pb2.ListRepositoriesRequest(user_id=user_id, page_size=page_size)
        read = read_page("repositories", from_wire_code.repository)
        call = Call(f"{_SERVICE}/ListRepositories", request, code_pb2.ListRepositoriesResponse, read)
        return self._pages(call, timeout_seconds)

    def list_files(
        self, user_id: str, repository_id: str, *, page_size: int = 0, timeout_seconds: float | None = None
    ) -> Iterator[r.CodeFile]:
        """The files of a repository, by path; pages are fetched as they are needed."""
        request = code_pb2.ListFilesRequest(user_id=user_id, repository_id=repository_id, page_size=page_size)
        read = read_page("files", from_wire_code.file)
        return self._pages(Call(f"{_SERVICE}/ListFiles", request, code_pb2.ListFilesResponse, read), timeout_seconds)

    def list_symbols(
        self,
        user_id: str,
        repository_id: str,
        path: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.CodeSymbol]:
        """What a file defines, by line; pages are fetched as they are needed."""
        request = code_pb2.ListSymbolsRequest(
            user_id=user_id, repository_id=repository_id, path=path, page_size=page_size
        )
        read = read_page("symbols", from_wire_code.symbol)
        call = Call(f"{_SERVICE}/ListSymbols", request, code_pb2.ListSymbolsResponse, read)
        return self._pages(call, timeout_seconds)

    def list_imports(
        self,
        user_id: str,
        repository_id: str,
        path: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.CodeImport]:
        """What a file imports, by line, also from outside of the repository; pages are fetched as they are needed."""
        request = code_pb2.ListImportsRequest(
            user_id=user_id, repository_id=repository_id, path=path, page_size=page_size
        )
        read = read_page("imports", from_wire_code.imported)
        call = Call(f"{_SERVICE}/ListImports", request, code_pb2.ListImportsResponse, read)
        return self._pages(call, timeout_seconds)

    def search_symbols(
        self,
        user_id: str,
        repository_id: str,
        query: str,
        *,
        kind: SymbolKind | None = None,
        limit: int = 10,
        timeout_seconds: float | None = None,
    ) -> tuple[r.SymbolMatch, ...]:
        """Definitions by name, the best first.

        Args:
            user_id: Whose memory.
            repository_id: Which repository.
            query: A name or qualified name, or a part or a misspelling of one.
            kind: Only this kind; None means any.
            limit: At most this many, up to 200.
            timeout_seconds: Deadline of this call.
        """
        request = code_pb2.SearchSymbolsRequest(
            user_id=user_id,
            repository_id=repository_id,
            query=query,
            kind=to_wire.optional_enum_number(kind),
            limit=limit,
        )
        read = read_all("matches", from_wire_code.symbol_match)
        call = Call(f"{_SERVICE}/SearchSymbols", request, code_pb2.SearchSymbolsResponse, read)
        return self._call(call, timeout_seconds)

    def list_relations(
        self,
        user_id: str,
        repository_id: str,
        node: str,
        *,
        incoming: bool = False,
        kinds: Collection[RelationKind] = (),
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[r.CodeRelation]:
        """What a symbol or file refers to, or what refers to it; the most confident first.

        Args:
            user_id: Whose memory.
            repository_id: Which repository.
            node: A symbol id or a path.
            incoming: What refers to it, such as callers, instead of what it refers to.
            kinds: Only these; empty means all but CONTAINS.
            page_size: Relations in a page, at most 200.
            timeout_seconds: Deadline of the call for each page.
        """
        outgoing, other = code_pb2.RELATION_DIRECTION_OUTGOING, code_pb2.RELATION_DIRECTION_INCOMING
        request = code_pb2.ListRelationsRequest(
            user_id=user_id,
            repository_id=repository_id,
            node=node,
            direction=other if incoming else outgoing,
            kinds=[to_wire.enum_number(kind) for kind in kinds],
            page_size=page_size,
        )
        read = read_page("relations", from_wire_code.relation)
        call = Call(f"{_SERVICE}/ListRelations", request, code_pb2.ListRelationsResponse, read)
        return self._pages(call, timeout_seconds)

    def get_code_path(
        self,
        user_id: str,
        repository_id: str,
        from_node: str,
        to_node: str,
        *,
        hops_max: int = 0,
        timeout_seconds: float | None = None,
    ) -> tuple[r.CodeRelation, ...]:
        """A shortest path of relations between two symbols or files; empty where there is none."""
        request = code_pb2.GetCodePathRequest(
            user_id=user_id, repository_id=repository_id, from_node=from_node, to_node=to_node, hops_max=hops_max
        )
        read = read_all("relations", from_wire_code.relation)
        call = Call(f"{_SERVICE}/GetCodePath", request, code_pb2.GetCodePathResponse, read)
        return self._call(call, timeout_seconds)

    def search_code(
        self,
        user_id: str,
        repository_id: str,
        query: str,
        *,
        limit: int = 10,
        folder: str = "",
        related_paths: Sequence[str] = (),
        lines_max: int = 0,
        lines_min: int = 0,
        timeout_seconds: float | None = None,
    ) -> tuple[r.CodeMatch, ...]:
        """The files and symbols that a question or the text of an issue is about, the best first, and why.

        Args:
            user_id: Whose memory.
            repository_id: Which repository.
            query: The question.
            limit: Files at most, up to 200.
            folder: Only files below it; empty means all.
            related_paths: Files that are favoured, with what they refer to.
            lines_max: Lines of source text for each file, at most 400; 0: no text.
            lines_min: Each file has half the lines of the one before, but at least these; 0: each has `lines_max`.
            timeout_seconds: Deadline of this call.
        """
        request = code_pb2.SearchCodeRequest(
            user_id=user_id,
            repository_id=repository_id,
            query=query,
            limit=limit,
            folder=folder,
            related_paths=related_paths,
            lines_max=lines_max,
            lines_min=lines_min,
        )
        read = read_all("matches", from_wire_code.match)
        call = Call(f"{_SERVICE}/SearchCode", request, code_pb2.SearchCodeResponse, read)
        return self._call(call, timeout_seconds)

    def get_outline(
        self,
        user_id: str,
        repository_id: str,
        *,
        token_budget: int = 0,
        query: str = "",
        timeout_seconds: float | None = None,
    ) -> r.CodeOutline:
        """The most important definitions, or those that a question is about, within a budget of tokens."""
        request = code_pb2.GetOutlineRequest(
            user_id=user_id, repository_id=repository_id, token_budget=token_budget, query=query
        )
        call = Call(f"{_SERVICE}/GetOutline", request, code_pb2.GetOutlineResponse, from_wire_code.outline)
        return self._call(call, timeout_seconds)
