"""What a check of the installation found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"  # Mneme runs, with less than it could have
    FAILED = "failed"  # Mneme does not run like this


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    subject: str
    verdict: Verdict
    detail: str
    hint: str = ""  # what to do about it
