"""The stored form of a file: compressed JSON, and behind it the compressed text. Pure functions."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, Final

from services.semantic.code.model import (
    Chunk,
    FileStatus,
    Import,
    PackedFile,
    ParsedFile,
    Reference,
    ReferenceKind,
    Symbol,
    SymbolKind,
)

PARSED_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of a file's JSON; more is made of no file that is taken."""


def pack(file: ParsedFile, text: bytes = b"") -> PackedFile:
    """A file as it is stored; an empty `text` is not."""
    body = {
        "symbols": [
            [s.name, int(s.kind), s.container, s.start_line, s.end_line, s.signature, s.parent] for s in file.symbols
        ],
        "imports": [[one.module, one.name, one.alias, one.line] for one in file.imports],
        "references": [[r.name, r.qualifier, int(r.kind), r.line, r.source] for r in file.references],
        "chunks": [[c.start_line, c.end_line, dict(c.terms)] for c in file.chunks],
        "package": file.package,
        "types": dict(file.types),
        "exports": dict(file.exports),
        "summary": file.summary,
    }
    # Surrogates and NUL cannot come in: they are escaped.
    content = zlib.compress(json.dumps(body, separators=(",", ":")).encode("ascii"), 1)
    if text:
        content += zlib.compress(text, 1)
    return PackedFile(file.path, file.digest, file.language, file.status, file.line_count, content)


def unpack(packed: PackedFile) -> ParsedFile:
    """A file as it was parsed."""
    body: Mapping[str, Any] = json.loads(zlib.decompressobj().decompress(packed.content))
    return ParsedFile(
        path=packed.path,
        digest=packed.digest,
        language=packed.language,
        status=FileStatus(packed.status),
        line_count=packed.line_count,
        symbols=[Symbol(row[0], SymbolKind(row[1]), *row[2:]) for row in body["symbols"]],
        imports=[Import(*row) for row in body["imports"]],
        references=[Reference(row[0], row[1], ReferenceKind(row[2]), row[3], row[4]) for row in body["references"]],
        chunks=[Chunk(*row) for row in body["chunks"]],
        package=body["package"],
        types=body["types"],
        exports=body.get("exports", {}),  # not in files that were stored before
        summary=body["summary"],
    )


def text_of(packed: PackedFile) -> str | None:
    """The text of a file; None where it was stored without."""
    reader = zlib.decompressobj()
    reader.decompress(packed.content)
    return zlib.decompress(reader.unused_data).decode("utf-8", "replace") if reader.unused_data else None


def without_text(content: bytes) -> bytes:
    """The content of a packed file without its text."""
    reader = zlib.decompressobj()
    reader.decompress(content)
    return content[: len(content) - len(reader.unused_data)]


def check_packed(packed: PackedFile, *, text_bytes_max: int) -> None:
    """Checks a file that comes from elsewhere, without unpacking more than any file that is taken has.

    Raises:
        ValueError: `unpack` and `text_of` could not read it.
    """
    try:
        rest = _ended(packed.content, PARSED_BYTES_MAX)
        is_whole = not rest or not _ended(rest, text_bytes_max)
        if is_whole:
            unpack(packed)
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("the content of a file cannot be unpacked") from error
    if not is_whole:
        raise ValueError("something stands behind the content of a file")


def _ended(content: bytes, bytes_max: int) -> bytes:
    """What stands behind compressed data."""
    reader = zlib.decompressobj()
    reader.decompress(content, bytes_max)
    # What was not asked for is not there, unless the end alone was left.
    if not reader.eof and (reader.decompress(reader.unconsumed_tail, 1) or not reader.eof):
        raise ValueError("incomplete or too large")
    return reader.unused_data
