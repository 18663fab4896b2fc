"""From the messages of CodeService to plain data. Pure functions."""

from __future__ import annotations

from mneme.semantic.v1 import code_pb2
from mneme_client import code as r
from mneme_client.enums import CodeFileStatus, RelationKind, SymbolKind
from mneme_client.from_wire import item_error, moment


def repository(message: code_pb2.CodeRepository) -> r.CodeRepository:
    """A repository."""
    return r.CodeRepository(
        repository_id=message.repository_id,
        file_count=message.file_count,
        line_count=message.line_count,
        revision=message.revision,
        create_time=moment(message, "create_time"),
        update_time=moment(message, "update_time"),
    )


def file(message: code_pb2.CodeFile) -> r.CodeFile:
    """A file."""
    return r.CodeFile(
        message.path, message.digest, message.language, CodeFileStatus(message.status), message.line_count
    )


def symbol(message: code_pb2.CodeSymbol) -> r.CodeSymbol:
    """A definition."""
    return r.CodeSymbol(
        symbol_id=message.symbol_id,
        path=message.path,
        name=message.name,
        qualified_name=message.qualified_name,
        kind=SymbolKind(message.kind),
        start_line=message.start_line,
        end_line=message.end_line,
        signature=message.signature,
    )


def imported(message: code_pb2.CodeImport) -> r.CodeImport:
    """A module that a file imports, or a name from it."""
    return r.CodeImport(message.module, message.name, message.alias, message.line, tuple(message.paths))


def symbol_match(message: code_pb2.SymbolMatch) -> r.SymbolMatch:
    """A definition that was found by name."""
    return r.SymbolMatch(symbol(message.symbol), message.score)


def relation(message: code_pb2.CodeRelation) -> r.CodeRelation:
    """An edge of the graph."""
    return r.CodeRelation(
        source=_node(getattr(message, "from")),  # a keyword of Python
        target=_node(message.to),
        kind=RelationKind(message.kind),
        line=message.line,
        confidence=message.confidence,
    )


def match(message: code_pb2.CodeMatch) -> r.CodeMatch:
    """A file that a question is about."""
    parts = {field.name: float(getattr(message.parts, field.name)) for field in message.parts.DESCRIPTOR.fields}
    return r.CodeMatch(
        file=file(message.file),
        score=message.score,
        parts=parts,
        start_line=message.start_line,
        end_line=message.end_line,
        symbols=tuple(symbol(one) for one in message.symbols),
        terms=tuple(message.terms),
        excerpts=tuple(r.CodeExcerpt(one.start_line, one.end_line, one.text) for one in message.excerpts),
    )


def outline(message: code_pb2.GetOutlineResponse) -> r.CodeOutline:
    """An outline."""
    return r.CodeOutline(message.text, message.token_count, message.tokenizer, message.file_count)


def index_result(message: code_pb2.IndexFilesResponse) -> r.IndexResult:
    """What an upload did."""
    return r.IndexResult(
        files=tuple(file(one.file) for one in message.results if one.WhichOneof("outcome") == "file"),
        refused={one.path: item_error(one.error) for one in message.results if one.WhichOneof("outcome") == "error"},
        removed=message.removed,
        repository=repository(message.repository),
    )


def _node(message: code_pb2.CodeNode) -> r.CodeNode:
    return r.CodeNode(message.path, symbol(message.symbol) if message.HasField("symbol") else None)
