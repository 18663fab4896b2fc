"""Reads the files that say by which names other files are imported: of npm, TypeScript and Cargo. Pure functions."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from services.semantic.code.languages import MANIFEST_NAME

_BYTES_MAX: Final = 256 * 1024
_NAMES_MAX: Final = 500
_PATH_CHARS_MAX: Final = 300
_DEPTH_MAX: Final = 5

# A string or a comment that does not end reaches to the end of the text: each letter is read once.
_STRING: Final = r'"(?:[^"\\\n]|\\.)*"?'
_COMMENT: Final = re.compile(rf"({_STRING})|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?")
_LAST_COMMA: Final = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")


class Manifest(NamedTuple):
    """What a file says about names of others."""

    package: str = ""
    """The name by which others import what stands in its folder."""
    paths: Mapping[str, str] = {}
    """Names, or patterns with one "*", to paths from the root of the repository, one a line. "" stands for the
    package itself, "/name" for a part of it; others are names that files below the folder may import."""
    extended: Mapping[str, str] = {}
    """Numbers from "0" to the paths of files that it takes more from."""


def is_manifest(path: str) -> bool:
    """Whether a file says by which names others are imported."""
    return MANIFEST_NAME.fullmatch(posixpath.basename(path)) is not None


def read_manifest(path: str, content: bytes) -> Manifest:
    """What a manifest says; nothing where it cannot be read.

    Raises:
        RecursionError: It is nested too deeply.
    """
    if len(content) > _BYTES_MAX:
        return Manifest()
    text = content.decode("utf-8", errors="replace").removeprefix("\ufeff")
    folder, name = posixpath.split(path)
    try:
        read = tomllib.loads(text) if name == "Cargo.toml" else json.loads(_plain_json(text))
    except ValueError:
        return Manifest()
    if not isinstance(read, dict):
        return Manifest()
    if name == "Cargo.toml":
        return _cargo(folder, read)
    return _npm(folder, read) if name == "package.json" else _typescript(folder, read)


def _plain_json(text: str) -> str:
    """JSON without the comments and last commas that TypeScript allows."""
    return _LAST_COMMA.sub(lambda m: m[1] or "", _COMMENT.sub(lambda m: m[1] or " ", text))


def _npm(folder: str, read: Mapping[str, Any]) -> Manifest:
    paths: dict[str, str] = {}
    entries = [value for name in ("source", "types", "typings", "module", "main") for value in _leaves(read.get(name))]
    exports = read.get("exports")
    parts = (
        exports if isinstance(exports, dict) and any(str(key).startswith(".") for key in exports) else {".": exports}
    )
    for key, value in parts.items():
        found = [*_leaves(value), *(entries if key == "." else ())]
        _put(paths, key.removeprefix("."), folder, found)
    if entries and "." not in parts:
        _put(paths, "", folder, entries)
    own = read.get("imports")
    for key, value in own.items() if isinstance(own, dict) else ():
        if key.startswith("#"):
            _put(paths, key, folder, list(_leaves(value)))
    return Manifest(_text(read.get("name")), paths)


def _typescript(folder: str, read: Mapping[str, Any]) -> Manifest:
    options = read.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    paths: dict[str, str] = {}
    base = options.get("baseUrl")
    root = posixpath.join(folder, base) if isinstance(base, str) else folder
    mapped = options.get("paths")
    for key, value in mapped.items() if isinstance(mapped, dict) else ():
        _put(paths, key, root, list(_leaves(value)))
    if isinstance(base, str):
        paths.setdefault("*", posixpath.normpath(posixpath.join(root, "*")))
    extended = read.get("extends")
    found = [one for one in _leaves(extended) if one.startswith(".")]
    joined = [posixpath.normpath(posixpath.join(folder, one)) for one in found[:_DEPTH_MAX]]
    return Manifest(
        "", paths, {str(n): one if one.endswith(".json") else f"{one}.json" for n, one in enumerate(joined)}
    )


def _cargo(folder: str, read: Mapping[str, Any]) -> Manifest:
    package, library = read.get("package"), read.get("lib")
    name = package.get("name") if isinstance(package, dict) else ""
    path = "src/lib.rs"
    if isinstance(library, dict):
        name = library.get("name", name)
        path = library.get("path", path)
    paths: dict[str, str] = {}
    _put(paths, "", folder, list(_leaves(path)))
    return Manifest(_text(name).replace("-", "_"), paths)


def _put(paths: dict[str, str], key: str, folder: str, found: list[str]) -> None:
    joined = [posixpath.normpath(posixpath.join(folder, one)) for one in dict.fromkeys(found)]
    inside = [one for one in joined if not one.startswith("../") and len(one) <= _PATH_CHARS_MAX]
    if inside and len(paths) < _NAMES_MAX and len(key) <= _PATH_CHARS_MAX:
        paths[key] = "\n".join(inside[:_DEPTH_MAX])


def _leaves(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a value, such as the paths of all conditions of an export."""
    if isinstance(value, str):
        yield _text(value)
    elif isinstance(value, dict | list) and depth < _DEPTH_MAX:
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one, depth + 1)


def _text(value: Any) -> str:
    return value if isinstance(value, str) and "\n" not in value else ""
