"""Checksums of a shard's files, written when it is closed and compared when it is opened again."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Final

CHECKSUMS_FILE: Final = "mneme-checksums"
_BLOCK_BYTES: Final = 65_536
_ZEROS: Final = bytes(_BLOCK_BYTES)


def take_checksums(folder: Path) -> None:
    """Write the checksum of each file below `folder`. They must be removed before the shard is opened for writing."""
    fresh = folder / f"{CHECKSUMS_FILE}.new"
    fresh.write_text(json.dumps(_checksums(folder)), "ascii")
    fresh.replace(folder / CHECKSUMS_FILE)


def verify_checksums(folder: Path) -> list[str] | None:
    """Files that differ from their checksums, which are removed; None where there are none, as after a crash."""
    file = folder / CHECKSUMS_FILE
    try:
        text = file.read_text("ascii")
        file.unlink()
        expected = json.loads(text)
    except FileNotFoundError:
        return None
    except ValueError:
        return [CHECKSUMS_FILE]
    if not isinstance(expected, dict):
        return [CHECKSUMS_FILE]
    found = _checksums(folder)
    return sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))


def _checksums(folder: Path) -> dict[str, list[int]]:
    found = {}
    for file in folder.rglob("*"):
        if file.is_file() and not file.name.startswith(CHECKSUMS_FILE):
            found[str(file.relative_to(folder))] = [file.stat().st_size, _checksum(file)]
    return found


def _checksum(file: Path) -> int:
    """Checksum of the blocks that are not all zero and of their places: most files are sparse."""
    checksum = 0
    with file.open("rb", buffering=0) as stream:
        descriptor, size = stream.fileno(), os.fstat(stream.fileno()).st_size
        position = 0
        while position < size:
            try:
                position = os.lseek(descriptor, position, os.SEEK_DATA)
            except OSError:  # nothing but a hole up to the end
                break
            position -= position % _BLOCK_BYTES
            block = os.pread(descriptor, _BLOCK_BYTES, position)
            if block != _ZEROS[: len(block)]:
                checksum = zlib.crc32(block, zlib.crc32(position.to_bytes(8, "little"), checksum))
            position += _BLOCK_BYTES
    return checksum
