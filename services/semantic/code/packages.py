"""Which files packages and mapped paths mean, by the manifests of a repository."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from services.semantic.code.model import ParsedFile

_CONFIGURATIONS: Final = ("tsconfig.json", "jsconfig.json")
_EXTENDED_MAX: Final = 5
_BUILT: Final = frozenset("build cjs dist es esm lib out output types".split())  # noqa: SIM905
"""Folders that a build makes from `src`: the repository mostly lacks them."""


class Packages:
    """Knows the manifests that were added and not removed."""

    def __init__(self) -> None:
        """No manifests yet."""
        self._by_path: dict[str, ParsedFile] = {}
        self._by_folder: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[tuple[str, str], set[str]] = defaultdict(set)

    def add(self, file: ParsedFile) -> None:
        """Know a manifest."""
        self._by_path[file.path] = file
        self._by_folder[posixpath.dirname(file.path)].add(file.path)
        if file.package:
            self._by_name[file.language, file.package].add(file.path)

    def remove(self, file: ParsedFile) -> None:
        """Know a manifest no more."""
        self._by_path.pop(file.path, None)
        self._by_folder[posixpath.dirname(file.path)].discard(file.path)
        if file.package:
            self._by_name[file.language, file.package].discard(file.path)

    def script_paths(self, path: str, module: str) -> Iterator[str]:
        """Paths, mostly without their extension, that a script's import of a name may mean, the likeliest first."""
        folder = posixpath.dirname(path)
        while self._by_path:
            for manifest in sorted(self._by_folder.get(folder, ()), key=_configuration_order):
                is_package = posixpath.basename(manifest) == "package.json"
                if is_package == module.startswith("#"):
                    yield from self._mapped(self._by_path[manifest], module, depth=0)
            if not folder:
                break
            folder = posixpath.dirname(folder)
        parts = module.split("/")
        size = 2 if module.startswith("@") else 1
        name, rest = "/".join(parts[:size]), "/".join(parts[size:])
        for package in self._nearest("json", name, path):
            yield from self._of_package(package, rest)

    def crate(self, name: str, near: str) -> str:
        """The file that a crate of Rust begins with; empty where no manifest names it."""
        found = self._nearest("toml", name, near)
        return found[0].exports.get("", "") if found else ""

    def _nearest(self, language: str, name: str, near: str) -> Sequence[ParsedFile]:
        found = self._by_name.get((language, name), ())
        ordered = sorted(found, key=lambda p: (-len(posixpath.commonprefix([p, near])), len(p), p))
        return [self._by_path[path] for path in ordered]

    def _mapped(self, manifest: ParsedFile, name: str, *, depth: int) -> Iterator[str]:
        """What a manifest, and those that it extends, map a name to: the pattern with the longest beginning first."""
        patterns = manifest.exports
        for pattern in sorted(patterns, key=lambda key: ("*" in key, -len(key.partition("*")[0]), key)):
            before, star, after = pattern.partition("*")
            if star and name.startswith(before) and name.endswith(after) and len(name) >= len(before + after):
                inner = name[len(before) : len(name) - len(after)]
                yield from (path.replace("*", inner) for path in patterns[pattern].split("\n"))
            elif name == pattern:
                yield from patterns[pattern].split("\n")
        for path in manifest.types.values() if depth < _EXTENDED_MAX else ():
            if (other := self._by_path.get(path)) is not None:
                yield from self._mapped(other, name, depth=depth + 1)

    def _of_package(self, manifest: ParsedFile, rest: str) -> Iterator[str]:
        folder = posixpath.dirname(manifest.path)
        for path in self._mapped(manifest, f"/{rest}" if rest else "", depth=0):
            yield path
            yield from _sources_of(folder, path)
        for inner in ("src", "", "lib"):
            yield posixpath.join(folder, inner, rest or "index")


def _configuration_order(path: str) -> tuple[bool, str]:
    return posixpath.basename(path) not in _CONFIGURATIONS, path


def _sources_of(folder: str, path: str) -> Iterator[str]:
    """What a file that a build makes may be made from."""
    first, *inner = posixpath.relpath(path, folder or ".").split("/")
    while first in _BUILT and inner:
        yield posixpath.join(folder, "src", *inner)
        first, *inner = inner
