"""Searches every byte of every file below folders, and inside what is deflated there."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from bench.prove_erase.canaries import Canaries, Pattern

_STREAM: Final = re.compile(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08")
_INFLATED_BYTES_MAX: Final = 1 << 16
_WORD_BYTES: Final = 64
_BLOCK_BYTES: Final = 4 << 20
_OVERLAP_BYTES: Final = 256


@dataclass(frozen=True, slots=True)
class Hit:
    """A canary in a file."""

    store: str
    path: str
    offset: int
    name: str
    form: str


@dataclass
class Scan:
    """What was searched, and what was found."""

    files: Counter[str] = field(default_factory=Counter)
    """Files that were read, by store."""
    size: Counter[str] = field(default_factory=Counter)
    """Bytes that were read, by store."""
    hits: list[Hit] = field(default_factory=list)
    """Every place of every canary."""
    unread: list[str] = field(default_factory=list)
    """Files that could not be read."""

    def by_store(self) -> Counter[str]:
        """Hits by store."""
        return Counter(hit.store for hit in self.hits)


def scan_folders(folders: Mapping[str, Path], canaries: Canaries, vectors: Sequence[Pattern] = ()) -> Scan:
    """Search all files below the folders, which are named by their store.

    Args:
        folders: Where each store has its files; a file belongs to the innermost folder.
        canaries: The words.
        vectors: Further patterns, of vectors.
    """
    scan = Scan()
    patterns = [*canaries.patterns(), *vectors]
    inner = set(folders.values())
    for store, folder in folders.items():
        for path in _files(folder, skipped=inner - {folder}):
            try:
                _scan_file(store, path, path.relative_to(folder), canaries, patterns, scan)
            except OSError as error:
                scan.unread.append(f"{path}: {error.strerror}")
    return scan


def _files(folder: Path, *, skipped: set[Path]) -> Iterator[Path]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if path in skipped or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path, skipped=skipped)
        elif path.is_file():
            yield path


def _scan_file(store: str, path: Path, name: Path, canaries: Canaries, patterns: Sequence[Pattern], scan: Scan) -> None:
    scan.files[store] += 1
    size = path.stat().st_size
    if not size:
        return
    scan.size[store] += size
    with path.open("rb") as file:
        for start, content in _blocks(file):
            _scan_block(content, start, store, str(name), canaries, patterns, scan)


def _scan_block(
    content: bytes, start: int, store: str, name: str, canaries: Canaries, patterns: Sequence[Pattern], scan: Scan
) -> None:
    for offset, pattern in _found(content, patterns):
        named = pattern.name
        if named == "mark":
            named = canaries.named(pattern.form, content[offset : offset + _WORD_BYTES])
        scan.hits.append(Hit(store, name, start + offset, named, pattern.form))
    for match in _STREAM.finditer(content):
        inflated = _inflated(content[match.start() : match.start() + _INFLATED_BYTES_MAX])
        for _, pattern in _found(inflated, patterns):
            scan.hits.append(Hit(store, name, start + match.start(), pattern.name, f"deflated {pattern.form}"))


def _blocks(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Blocks of a file that hold something, each with the beginning of the next: nothing is cut in two."""
    start, behind = 0, file.read(_BLOCK_BYTES)
    while behind:
        block, behind = behind, file.read(_BLOCK_BYTES)
        if block.count(0) < len(block) or behind[:_OVERLAP_BYTES].strip(b"\x00"):
            yield start, block + behind[:_OVERLAP_BYTES]
        start += len(block)


def _found(content: bytes, patterns: Sequence[Pattern]) -> Iterator[tuple[int, Pattern]]:
    for pattern in patterns:
        offset = content.find(pattern.data)
        while offset >= 0:
            yield offset, pattern
            offset = content.find(pattern.data, offset + 1)


def _inflated(stream: bytes) -> bytes:
    """What a stream holds as far as it can be read; empty where it is none."""
    reader = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        return reader.decompress(stream, _INFLATED_BYTES_MAX)
    except zlib.error:
        return b""
