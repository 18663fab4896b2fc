"""Results of checks of the installation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"  # Mneme runs, with limits
    FAILED = "failed"  # Mneme does not run


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    subject: str
    verdict: Verdict
    detail: str
    hint: str = ""  # what to do about it
