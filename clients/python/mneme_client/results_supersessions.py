"""What is known of superseded statements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mneme_client.enums_decisions import (
    SupersessionDecider,
    SupersessionReason,
    SupersessionState,
)


@dataclass(frozen=True, slots=True)
class Supersession:
    """A statement of a turn that holds no more, or may not, and the one that takes its place."""

    supersession_id: str  # names the pair, whichever side of it stands
    memory_id: str  # the turn with the statement that holds no more
    statement: str  # the sentence; empty where it is all of the turn
    whole_turn: bool  # the turn says nothing else
    superseded_by: str  # the turn that stands
    standing_statement: str  # its sentence; may be empty
    reason: SupersessionReason
    state: SupersessionState
    end_time: datetime | None  # since when the statement does not hold
    create_time: datetime | None  # when it was recorded
    premise: str = ""  # the superseded statement that this one rests on; empty but with PREMISE_ENDED
    decided_by: SupersessionDecider = SupersessionDecider.UNSPECIFIED  # the rules, or nobody yet
    decision_reason: str = ""  # why, in words, where a policy or a language model decided
