"""What is known of procedures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums import ProcedureKind, ProcedureOrigin
from mneme_client.types import Scope


@dataclass(frozen=True, slots=True)
class Procedure:
    """A learned pattern of how to search or to respond."""

    procedure_id: str
    user_id: str
    kind: ProcedureKind
    trigger: str  # words of a query that it is for; empty: every query
    action: str  # what it does, such as the words that take the place of the trigger
    expands: bool  # a rewriting adds the action behind the trigger instead
    confidence: float  # in [0, 1]; applied above 0.6
    initial_confidence: float  # before the first outcome
    success_count: int  # recalls that applied it and were judged good
    failure_count: int  # recalls that applied it and were judged bad
    origin: ProcedureOrigin
    derived_from: tuple[str, ...]  # turns that define it
    scope: Scope
    create_time: datetime | None
    update_time: datetime | None
    etag: str
    observed_count: int = 0  # tasks of the activity log that show it
    contrary_count: int = 0  # tasks that could have shown it
