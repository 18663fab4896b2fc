"""The file with the engines' addresses, for a shell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9_@%+=:,./-]*")
"""What a shell and an env file read alike, without quotes."""


def write_environment(file: Path, variables: Mapping[str, str]) -> None:
    """Writes one KEY=value per line, readable by its owner alone, all or nothing.

    Raises:
        ValueError: A value would need quotes.
    """
    for name, value in variables.items():
        if not _PLAIN.fullmatch(value):
            raise ValueError(f"{name} has characters that an environment file cannot hold as they are")
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600)
    fresh.write_text("".join(f"{name}={value}\n" for name, value in variables.items()), "utf-8")
    fresh.replace(file)
