"""What waits for a decision about facts and statements, and what is decided."""

from __future__ import annotations

from mneme_client.enums import WireEnum


class MergeGroupState(WireEnum):
    """What became of a group of facts that may say the same."""

    UNSPECIFIED = 0
    WAITING = 1
    UNITED = 2
    KEPT_APART = 3


class MergeDecision(WireEnum):
    """What shall become of a group of facts."""

    UNSPECIFIED = 0
    UNITE = 1
    KEEP_APART = 2


class SupersessionReason(WireEnum):
    """Why a statement holds no more."""

    UNSPECIFIED = 0
    UPDATED = 1
    CONTRADICTED = 2
    CORRECTED = 3
    PREMISE_ENDED = 4


class SupersessionState(WireEnum):
    """What became of a supersession."""

    UNSPECIFIED = 0
    APPLIED = 1
    PENDING = 2
    REJECTED = 3
    REDUCED = 4


class SupersessionDecider(WireEnum):
    """Who decided about a supersession."""

    UNSPECIFIED = 0
    USER = 1
    POLICY = 2
    LANGUAGE_MODEL = 3


class SupersessionDecision(WireEnum):
    """Which of two statements stands."""

    UNSPECIFIED = 0
    LATER_STANDS = 1
    EARLIER_STANDS = 2
    BOTH_STAND = 3
    BOTH_REDUCED = 4


class GateReason(WireEnum):
    """Why the write gate kept a turn as a memory, or left it in the conversation log alone."""

    UNSPECIFIED = 0  # the gate is off
    STATED_IMPORTANCE = 1
    EXPLICIT_REQUEST = 2
    CORRECTION = 3
    DECISION = 4
    PERSONAL = 5
    DETAIL = 6
    NEW_INFORMATION = 7
    ANSWER = 8
    GREETING = 9
    ACKNOWLEDGEMENT = 10
    NOISE = 11
