"""From requests of mneme.semantic.v1.CodeService to what is asked for. Pure functions; they check form, never state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mneme.semantic.v1 import code_pb2 as pb
from services.common.auth import Principal
from services.common.idempotency.model import IdempotencyKey
from services.common.idempotency.requests import idempotency_key
from services.common.owners import Owner
from services.common.paging import Cursor, PageTokens
from services.common.validation import Violations
from services.semantic.code.config import CodeLimits
from services.semantic.code.model import RelationKind, SymbolKind
from services.semantic.code.service import UploadedFile
from services.semantic.commands import owner_of

if TYPE_CHECKING:
    from google.protobuf.message import Message


class _OfRepository(Protocol):
    """A request about a repository."""

    user_id: str
    repository_id: str


@dataclass(frozen=True, slots=True)
class IndexFiles:
    """Files to add, and paths to remove."""

    owner: Owner
    key: IdempotencyKey
    repository_id: str
    files: tuple[UploadedFile, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list."""

    size: int
    after: Cursor | None


def index_command(request: pb.IndexFilesRequest, caller: Principal, *, limits: CodeLimits) -> IndexFiles:
    """Which files to index.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = _checked(request, limits)
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.count("files", len(request.files), count_max=limits.files_max)
    v.count("removed_paths", len(request.removed_paths), count_max=limits.removed_paths_max)
    seen: set[str] = set()
    for i, file in enumerate(request.files[: limits.files_max]):
        _check_path(v, f"files[{i}].path", file.path, limits)
        if file.path in seen:
            v.add(f"files[{i}].path", "stands in the request twice")
        seen.add(file.path)
    for i, path in enumerate(request.removed_paths[: limits.removed_paths_max]):
        _check_path(v, f"removed_paths[{i}]", path, limits)
        if path in seen:
            v.add(f"removed_paths[{i}]", "is also among the files")
    v.raise_if_any()
    return IndexFiles(
        owner_of(request.user_id, caller),
        idempotency_key(request, caller),
        request.repository_id,
        tuple(UploadedFile(file.path, file.content) for file in request.files),
        tuple(request.removed_paths),
    )


def check_deletion(request: pb.DeleteRepositoryRequest, *, limits: CodeLimits) -> None:
    """Checks a deletion.

    Raises:
        InvalidArgument: A field is missing or malformed.
    """
    v = _checked(request, limits)
    v.identifier("request_id", request.request_id, chars_max=limits.id_chars_max)
    v.raise_if_any()


def check_named(
    request: _OfRepository, named: Sequence[tuple[str, str, int]], *, limits: CodeLimits, limit: int = 0
) -> None:
    """Checks a query of a repository.

    Args:
        request: The request.
        named: Required texts: their field, value and characters at most.
        limits: Bounds.
        limit: Hits that are asked for.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = _checked(request, limits)
    for field_path, value, chars_max in named:
        v.text(field_path, value, chars_max=chars_max)
    v.number("limit", limit, low=0, high=limits.limit_max)
    v.raise_if_any()


def check_search(request: pb.SearchCodeRequest, *, limits: CodeLimits) -> None:
    """Checks a search for relevant code.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = _checked(request, limits)
    v.text("query", request.query, chars_max=limits.query_chars_max)
    v.text("folder", request.folder, chars_max=limits.path_chars_max, required=False)
    v.number("limit", request.limit, low=0, high=limits.limit_max)
    v.count("related_paths", len(request.related_paths), count_max=limits.related_paths_max)
    v.number("lines_max", request.lines_max, low=0, high=limits.excerpt_lines_max)
    v.number("lines_min", request.lines_min, low=0, high=max(request.lines_max, 0))
    v.raise_if_any()


def check_outline(request: pb.GetOutlineRequest, *, limits: CodeLimits) -> None:
    """Checks the request of an outline.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = _checked(request, limits)
    v.text("query", request.query, chars_max=limits.query_chars_max, required=False)
    v.number("token_budget", request.token_budget, low=0, high=limits.token_budget_max)
    v.raise_if_any()


def check_path(request: pb.GetCodePathRequest, *, limits: CodeLimits) -> None:
    """Checks the request of a path.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = _checked(request, limits)
    v.text("from_node", request.from_node, chars_max=limits.node_chars_max)
    v.text("to_node", request.to_node, chars_max=limits.node_chars_max)
    v.number("hops_max", request.hops_max, low=0, high=limits.hops_max)
    v.raise_if_any()


def symbol_kind(request: pb.SearchSymbolsRequest) -> SymbolKind | None:
    """The kind that is asked for; None: any.

    Raises:
        InvalidArgument: It is not known.
    """
    if not request.kind:
        return None
    v = Violations()
    v.enum("kind", request.kind, SymbolKind)
    v.raise_if_any()
    return SymbolKind(request.kind)


def check_relations(request: pb.ListRelationsRequest, *, limits: CodeLimits) -> None:
    """Checks the request of relations.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit.
    """
    v = _checked(request, limits)
    v.text("node", request.node, chars_max=limits.node_chars_max)
    if request.direction not in (pb.RELATION_DIRECTION_INCOMING, pb.RELATION_DIRECTION_OUTGOING):
        v.add("direction", "is required" if not request.direction else "has an unknown value")
    for i, kind in enumerate(request.kinds):
        v.enum(f"kinds[{i}]", kind, RelationKind)
    v.raise_if_any()


def relation_kinds(request: pb.ListRelationsRequest) -> frozenset[RelationKind]:
    """The kinds that a checked request asks for."""
    return frozenset(RelationKind(k) for k in request.kinds) or frozenset(RelationKind) - {RelationKind.CONTAINS}


def page_of(
    request: Message, caller: Principal, *, tokens: PageTokens, default: int, maximum: int, limits: CodeLimits
) -> Page:
    """Which page of a list.

    Raises:
        InvalidArgument: The size is negative, or the token was issued for another query.
    """
    fields = request.DESCRIPTOR.fields_by_name
    v = _checked(request, limits) if "repository_id" in fields else Violations()  # type: ignore[arg-type]
    user_id: str = getattr(request, "user_id")  # noqa: B009 - every list has it
    v.identifier("user_id", user_id, chars_max=limits.id_chars_max)
    size = v.page_size(getattr(request, "page_size"), default=default, maximum=maximum)  # noqa: B009
    v.raise_if_any()
    after = tokens.decode(
        getattr(request, "page_token"),  # noqa: B009
        tenant_id=caller.tenant_id,
        query=list_query(request),
    )
    return Page(size, after)


def list_query(request: Message) -> Cursor:
    """What must be the same for the next page: all but the page itself."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("page_size")
    content.ClearField("page_token")
    return (request.DESCRIPTOR.name, content.SerializeToString(deterministic=True).hex())


def check_stored(repository_id: str, path: str | None, limits: CodeLimits) -> None:
    """Checks the names of a repository and of a file in it that an export had.

    Raises:
        InvalidArgument: No repository or file could have been stored under them.
    """
    v = Violations()
    v.identifier("repository_id", repository_id, chars_max=limits.id_chars_max)
    if path is not None:
        _check_path(v, "path", path, limits)
    v.raise_if_any()


def _checked(request: _OfRepository, limits: CodeLimits) -> Violations:
    v = Violations()
    v.identifier("user_id", request.user_id, chars_max=limits.id_chars_max)
    v.identifier("repository_id", request.repository_id, chars_max=limits.id_chars_max)
    return v


def _check_path(v: Violations, field_path: str, path: str, limits: CodeLimits) -> None:
    if not v.identifier(field_path, path, chars_max=limits.path_chars_max):
        return
    if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        v.add(field_path, "must be relative, with slashes and without '.' and '..'")
