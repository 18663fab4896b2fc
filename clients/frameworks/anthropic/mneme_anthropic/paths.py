"""Paths of the memory tool as keys of documents, and texts as it shows them. Pure functions."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from anthropic.lib.tools import ToolError

ROOT = "/memories"
LINES_MAX = 999_999
_NUMBER_WIDTH = len(str(LINES_MAX))
_LEVELS_SHOWN = 2
_UNITS = "BKMG"


def key_of(path: str) -> str:
    """The key of a file's document: the path below the root, such as "notes/ana.md"; empty for the root itself.

    Raises:
        ToolError: The path is not below the root.
    """
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    relative = posixpath.normpath(path[len(ROOT) :].lstrip("/") or ".")
    if relative.split("/")[0] == "..":
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return "" if relative == "." else relative


def folder_key(key: str) -> str:
    """The key of a folder's document, with which all keys in the folder begin; empty for the root."""
    return f"{key}/" if key else ""


def parents(key: str) -> list[str]:
    """The keys of the folders that a file or folder is in, without the root."""
    parts = key.rstrip("/").split("/")
    return [f"{'/'.join(parts[:count])}/" for count in range(1, len(parts))]


def listing(path: str, prefix: str, sizes: Iterable[tuple[str, int]]) -> str:
    """What a view of a folder shows: two levels, without hidden items; a folder is as large as the files in it.

    Args:
        path: As it was asked for.
        prefix: The folder's key.
        sizes: Keys in the folder, with sizes in bytes.
    """
    total = 0
    shown: dict[tuple[str, ...], int] = {}
    for key, size in sizes:
        total += size
        parts = key[len(prefix) :].rstrip("/").split("/")
        if not parts[0] or any(part.startswith(".") for part in parts[:_LEVELS_SHOWN]):
            continue
        is_folder = key.endswith("/")
        for level in range(1, min(len(parts), _LEVELS_SHOWN) + 1):
            name = (*parts[:level], "") if level < len(parts) or is_folder else tuple(parts)
            shown[name] = shown.get(name, 0) + size
    header = f"Here're the files and directories up to {_LEVELS_SHOWN} levels deep in {path}, excluding hidden items:"
    lines = [f"{shown_size(total)}\t{path}"]
    lines += [f"{shown_size(size)}\t{path}/{'/'.join(name)}" for name, size in sorted(shown.items())]
    return "\n".join([header, *lines])


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers from `first` on."""
    return "\n".join(f"{str(number).rjust(_NUMBER_WIDTH)}\t{line}" for number, line in enumerate(lines, start=first))


def shown_size(size: int) -> str:
    """A size as the tool shows it, such as "1.5K"."""
    if size == 0:
        return "0B"
    unit = min((size.bit_length() - 1) // 10, len(_UNITS) - 1)
    value = size / 1024**unit
    return f"{int(value)}{_UNITS[unit]}" if value == int(value) else f"{value:.1f}{_UNITS[unit]}"
