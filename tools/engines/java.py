"""Which Java runs Neo4j."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VERSION_MIN: Final = 21
"""The oldest that the engine runs on."""

SYSTEM_FOLDER: Final = Path("/usr/lib/jvm")
"""Where Debian's and most vendors' packages put them."""

_VERSION: Final = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)
_MODULES: Final = re.compile(r'^MODULES="([^"]*)"', re.MULTILINE)


@dataclass(frozen=True)
class Java:
    """An installed Java."""

    home: Path
    version: int
    modules: frozenset[str]

    @property
    def program(self) -> str:
        """Path of its launcher."""
        return str(self.home / "bin" / "java")

    @property
    def options(self) -> list[str]:
        """What Neo4j wants of it. The vector module is left out of small runtimes, where search is a little slower."""
        vector = ["--add-modules=jdk.incubator.vector"] if "jdk.incubator.vector" in self.modules else []
        return [*vector, "--enable-native-access=ALL-UNNAMED"]


def find_java(environment: Mapping[str, str], *folders: Path) -> Java | None:
    """The Java of JAVA_HOME if it is new enough, else the newest in the folders; None where there is none.

    Args:
        environment: Environment variables.
        folders: Each a Java, or a folder of several.
    """
    named = _read(Path(environment["JAVA_HOME"])) if environment.get("JAVA_HOME") else None
    if named is not None and named.version >= VERSION_MIN:
        return named
    found = [java for java in map(_read, _homes(*folders)) if java is not None and java.version >= VERSION_MIN]
    return max(found, key=lambda java: java.version, default=None)


def _homes(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield folder
        if folder.is_dir():
            yield from sorted(folder.iterdir())


def _read(home: Path) -> Java | None:
    """What is written in a Java's own description, which is there from version 9 on."""
    file = home / "release"
    if not file.is_file() or not (home / "bin" / "java").is_file():
        return None
    text = file.read_text("utf-8")
    version = _VERSION.search(text)
    modules = _MODULES.search(text)
    if version is None:
        return None
    return Java(home, int(version[1]), frozenset(modules[1].split() if modules else ()))
