"""The files of a working tree that are worth indexing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.semantic.code.config import CodeLimits
from services.semantic.code.exclusion import content_refusal, path_refusal

_GIT_SECONDS: Final = 30
_BYTES_MAX: Final = CodeLimits().file_bytes_max


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file as the disk has it."""

    path: str
    """From the root, with slashes."""
    digest: str
    size_bytes: int


class SourceTree:
    """A folder. Files that did not change since they were read last are not read again."""

    def __init__(self, root: Path) -> None:
        """Look into a folder."""
        self._root = root
        self._known: dict[str, tuple[tuple[int, int], TreeFile | None]] = {}
        self._is_refused: dict[str, bool] = {}  # by path, of files and folders

    def files(self) -> dict[str, TreeFile]:
        """The files that are worth indexing, by path. Ignored ones are left out where the folder is a git work tree."""
        found: dict[str, TreeFile] = {}
        root = str(self._root)
        for path in sorted(path for path in self._paths() if not self._refused(path)):
            try:
                status = os.stat(f"{root}/{path}", follow_symlinks=False)  # noqa: PTH116 - a Path takes five times as long
                stamp = (status.st_mtime_ns, status.st_size)
                known = self._known.get(path)
                if known is None or known[0] != stamp:
                    known = self._known[path] = (stamp, self._read(path, status.st_size))
            except OSError:
                continue  # gone meanwhile, or not readable
            if known[1] is not None:
                found[path] = known[1]
        return found

    def contents(self, paths: Iterable[str]) -> dict[str, bytes]:
        """What files hold now, by path; without those that are gone."""
        found: dict[str, bytes] = {}
        for path in paths:
            with contextlib.suppress(OSError):
                found[path] = (self._root / path).read_bytes()
        return found

    def _read(self, path: str, size_bytes: int) -> TreeFile | None:
        file = self._root / path
        if size_bytes > _BYTES_MAX or file.is_symlink() or not file.is_file():
            return None
        content = file.read_bytes()
        if content_refusal(content, bytes_max=_BYTES_MAX):
            return None
        return TreeFile(path, hashlib.sha256(content).hexdigest(), len(content))

    def _paths(self) -> Iterator[str]:
        listed = _git_files(self._root)
        if listed is not None:
            yield from listed
            return
        root = str(self._root)
        for folder, names, files in os.walk(root):
            inner = folder[len(root) :].replace(os.sep, "/").lstrip("/")
            before = f"{inner}/" if inner else ""
            names[:] = [name for name in names if not self._refused(f"{before}{name}/")]
            yield from (f"{before}{name}" for name in files)

    def _refused(self, path: str) -> bool:
        """Whether nothing of this path, or of this folder with a slash, is indexed. Checked once: it takes time."""
        found = self._is_refused.get(path)
        if found is None:
            reason = path_refusal(path)
            found = self._is_refused[path] = "vendored" in reason if path.endswith("/") else bool(reason)
        return found


def _git_files(root: Path) -> list[str] | None:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        result = subprocess.run(command, capture_output=True, timeout=_GIT_SECONDS, check=False)  # noqa: S603 - fixed words
    except (OSError, subprocess.TimeoutExpired):
        return None
    if result.returncode:
        return None
    return [os.fsdecode(path) for path in result.stdout.split(b"\0") if path]
