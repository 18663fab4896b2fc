"""From the code graph to messages. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mneme.semantic.v1 import code_pb2 as pb
from services.common.convert import timestamp
from services.common.errors import FieldViolation, InvalidArgument
from services.common.errors_grpc import item_status
from services.semantic.code.excerpts import FoundFile
from services.semantic.code.model import (
    Excerpt,
    FileState,
    Import,
    IndexOutcome,
    ParsedFile,
    Refusal,
    Relation,
    Repository,
    SymbolRef,
)
from services.semantic.code.relevance import Match
from services.semantic.code.repository import RepositoryIndex

_IMPORTED_FILES_MAX: Final = 20
"""Of one import; a package may have hundreds."""
_FRAME_BYTES: Final = 8
"""Of a message inside of another one."""


def repository_to_proto(one: Repository) -> pb.CodeRepository:
    """The message of a repository."""
    return pb.CodeRepository(
        repository_id=one.repository_id,
        file_count=one.file_count,
        line_count=one.line_count,
        revision=one.revision,
        create_time=timestamp(one.create_time),
        update_time=timestamp(one.update_time),
    )


def file_to_proto(file: FileState | ParsedFile) -> pb.CodeFile:
    """The message of a file."""
    return pb.CodeFile(
        path=file.path,
        digest=file.digest,
        language=file.language,
        status=pb.CodeFileStatus.Name(int(file.status)),
        line_count=file.line_count,
    )


def index_response(outcome: IndexOutcome, request: pb.IndexFilesRequest) -> pb.IndexFilesResponse:
    """What became of each file, in the order of the request."""
    states = {file.path: file for file in outcome.files}
    refusals = {one.path: one for one in outcome.refused}
    results = []
    for place, file in enumerate(request.files):
        if file.path in refusals:
            error = item_status(_error(refusals[file.path], place))
            results.append(pb.IndexedFile(path=file.path, error=error))
        else:
            results.append(pb.IndexedFile(path=file.path, file=file_to_proto(states[file.path])))
    return pb.IndexFilesResponse(
        results=results, removed=outcome.removed, repository=repository_to_proto(outcome.repository)
    )


def _error(refusal: Refusal, place: int) -> InvalidArgument:
    violation = FieldViolation(f"files[{place}]", refusal.reason)
    return InvalidArgument("the file is not indexed", violations=[violation])


def symbol_to_proto(index: RepositoryIndex, ref: SymbolRef) -> pb.CodeSymbol:
    """The message of a symbol."""
    symbol = index.symbol(ref)
    return pb.CodeSymbol(
        symbol_id=index.symbol_id(ref),
        path=ref.path,
        name=symbol.name,
        qualified_name=symbol.qualified_name,
        kind=pb.SymbolKind.Name(int(symbol.kind)),
        start_line=symbol.start_line,
        end_line=symbol.end_line,
        signature=symbol.signature,
    )


def import_to_proto(one: Import, paths: Sequence[str]) -> pb.CodeImport:
    """The message of an import, with the files that are meant."""
    return pb.CodeImport(
        module=one.module, name=one.name, alias=one.alias, line=one.line, paths=sorted(paths)[:_IMPORTED_FILES_MAX]
    )


def relation_to_proto(index: RepositoryIndex, one: Relation) -> pb.CodeRelation:
    """The message of a relation."""
    message = pb.CodeRelation(
        to=_node(index, one.to_path, one.to_symbol),
        kind=pb.RelationKind.Name(int(one.kind)),
        line=one.line,
        confidence=round(one.confidence, 4),
    )
    # "from" is a keyword of Python.
    getattr(message, "from").CopyFrom(_node(index, one.from_path, one.from_symbol))
    return message


def match_to_proto(index: RepositoryIndex, one: Match) -> pb.CodeMatch:
    """The message of a file that was found."""
    parts = one.parts
    return pb.CodeMatch(
        file=file_to_proto(index.file(one.path)),
        score=one.score,
        parts=pb.CodeScore(
            body=parts.body,
            names=parts.names,
            definitions=parts.definitions,
            paths=parts.paths,
            graph=parts.graph,
            factor=parts.factor,
        ),
        start_line=one.start_line,
        end_line=one.end_line,
        symbols=[symbol_to_proto(index, ref) for ref in one.symbols],
        terms=one.terms,
    )


def found_file(index: RepositoryIndex, one: Match) -> FoundFile:
    """What is shown of a file that was found."""
    symbols = [index.symbol(ref) for ref in one.symbols]
    return FoundFile(one.path, index.file(one.path).digest, symbols, (one.start_line, one.end_line))


def add_excerpts(response: pb.SearchCodeResponse, texts: Sequence[Sequence[Excerpt]], *, bytes_max: int) -> None:
    """Adds lines to the files of a response, the best files first, while it stays below `bytes_max`."""
    size = response.ByteSize()
    for match, excerpts in zip(response.matches, texts, strict=True):
        found = [pb.CodeExcerpt(start_line=e.start_line, end_line=e.end_line, text=e.text) for e in excerpts]
        size += sum(message.ByteSize() + _FRAME_BYTES for message in found)
        if size > bytes_max:
            return
        match.excerpts.extend(found)


def _node(index: RepositoryIndex, path: str, symbol: SymbolRef | None) -> pb.CodeNode:
    return pb.CodeNode(path=path, symbol=None if symbol is None else symbol_to_proto(index, symbol))
