"""Scripts that Redis runs in one atomic step."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Argument: TypeAlias = str | bytes | int


@dataclass(frozen=True, slots=True)
class Script:
    """A script and the digest that the server knows it by."""

    text: str
    sha: str

    @classmethod
    def load(cls, name: str, folder: Path = Path(__file__).parent) -> Script:
        """A file of a folder, of this one by default."""
        text = (folder / name).read_text(encoding="utf-8")
        return cls(text, hashlib.sha1(text.encode("utf-8"), usedforsecurity=False).hexdigest())
