"""What users state, and which statements superseded which. Pure data."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final

from services.common.owners import InteractionId

WHOLE: Final = -1
"""The number of a statement that stands for all of its turn."""
_NUMBER_MIN: Final = -(2**31)
"""Stores hold numbers of 32 bits."""


class Reason(IntEnum):
    """Why a statement holds no more; the numbers are those of the wire format."""

    UPDATED = 1
    CONTRADICTED = 2
    CORRECTED = 3
    PREMISE_ENDED = 4


class State(IntEnum):
    """What became of a supersession; the numbers are those of the wire format."""

    APPLIED = 1
    PENDING = 2
    REJECTED = 3
    REDUCED = 4  # neither is marked; the facts that were read in both are believed half as much


READ_STATES: Final = frozenset({State.APPLIED, State.PENDING, State.REDUCED})
"""Of the pairs that recalls show."""


class Decision(IntEnum):
    """What shall become of a supersession; the numbers are those of the wire format."""

    LATER_STANDS = 1
    EARLIER_STANDS = 2
    BOTH_STAND = 3
    BOTH_REDUCED = 4


class Decider(IntEnum):
    """Who decided about a supersession; the numbers are those of the wire format."""

    NOBODY = 0  # the rules, as the statements arrived; or it waits
    USER = 1
    POLICY = 2
    LANGUAGE_MODEL = 3


class QueuePolicy(IntEnum):
    """How pairs of statements that wait for a decision are decided without the user."""

    RECENCY = 1
    """The later one stands, as the rules decide at once: pairs of the same time wait for the user."""
    CONFIDENCE = 2
    """The one whose facts are believed more."""
    IMPORTANCE = 3
    """The one whose facts are more important."""
    USER = 4
    """The user alone decides."""
    LANGUAGE_MODEL = 5
    """A language model decides, in batches."""
    REDUCE = 6
    """Neither is marked, and the facts of both are believed half as much."""


class ClearPolicy(IntEnum):
    """What becomes of two statements of one slot that contradict each other, both believed and one of them later."""

    SUPERSEDE = 1
    """The later one stands."""
    REDUCE = 2
    """Neither ends, and the facts of both are believed half as much until the user decides."""


@dataclass(frozen=True, slots=True)
class Place:
    """A statement's place: the turn and the number of the sentence in it."""

    interaction_id: InteractionId
    number: int = WHOLE  # from 0

    def __str__(self) -> str:
        """The place as a part of an id."""
        return f"{self.interaction_id}:{self.number}"

    @classmethod
    def parse(cls, text: str) -> Place:
        """Reads a place back.

        Raises:
            ValueError: It is none.
        """
        interaction_id, _, number = text.rpartition(":")
        return cls(InteractionId(interaction_id), int(number))


@dataclass(frozen=True, slots=True)
class Assertion:
    """One sentence of a turn in which a person states something."""

    place: Place
    text: str
    speaker: str  # may be empty
    time: datetime  # when it was said; aware, UTC
    scope_key: str
    keys: tuple[int, ...]  # digests of its content words, by which others about the same are found
    is_only: bool = False  # the turn says nothing else
    is_announced: bool = False  # the turn says that something in it replaces what was said before

    @property
    def order(self) -> tuple[datetime, str, int]:
        """Sorts by when it was said, never by when it arrived; ties by id."""
        return (self.time, self.place.interaction_id, self.place.number)


@dataclass(frozen=True, slots=True)
class Supersession:
    """A statement that holds no more, and the one that stands."""

    loser: Place
    winner: Place
    reason: Reason
    state: State
    end_time: datetime  # since when the earlier statement does not hold where the later one stands; aware, UTC
    create_time: datetime  # aware, UTC
    statement: str = ""  # of the loser
    standing_statement: str = ""  # of the winner
    is_whole: bool = False  # the loser is all that its turn says
    is_turned: bool = False  # the earlier statement stands, by a decision
    # With PREMISE_ENDED the superseded statement that the loser rests on. With CORRECTED what the correction is about;
    # empty where that is all of the loser. Else empty.
    premise: str = ""
    is_called_wrong: bool = False  # with CORRECTED: the premise has the words of the loser that were called wrong
    premise_place: Place | None = None  # its place; with UPDATED where the superseded statement is so again: its place
    decided_by: Decider = Decider.NOBODY  # with PENDING: who left it to the user
    decision_reason: str = ""  # why, in words; empty where the user decided, or nobody

    @property
    def supersession_id(self) -> str:
        """Names the pair, whichever side of it stands."""
        return "/".join(sorted((str(self.loser), str(self.winner))))

    @property
    def over_time(self) -> datetime:
        """Since when the loser does not hold: an earlier statement that stands calls off a change that is to come."""
        return min(self.end_time, self.create_time) if self.is_turned else self.end_time

    @property
    def ends_premises(self) -> bool:
        """Whether statements that rest on the loser hold no more either."""
        return self.state is State.APPLIED and self.reason in {Reason.UPDATED, Reason.CONTRADICTED}


@dataclass(frozen=True, slots=True)
class Strength:
    """How far the facts that were read in a statement are believed, and how much they matter: the highest of each."""

    confidence: float  # in [0, 1]
    importance: float  # in [0, 1]


@dataclass(frozen=True, slots=True)
class QueuedPair:
    """A pair of statements that waits for a decision."""

    supersession: Supersession  # its loser is the earlier statement
    earlier: Strength | None = None  # None: no fact is known to be read in the statement
    later: Strength | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What somebody other than the user says about a queued pair."""

    decision: Decision | None  # None: the user shall decide, and nobody else is asked any more
    by: Decider
    reason: str  # in words


@dataclass(frozen=True, slots=True)
class Marks:
    """The superseded statements of a user, and the pairs of which neither stands."""

    revision: int
    superseded: Sequence[Supersession] | None  # newest first; None: those of the revision that the caller has
    reduced: Sequence[Supersession] = ()  # pairs of which neither is marked, or not yet, newest first
    is_incremental: bool = False  # only those that were added since the revision that the caller has

    @classmethod
    def of(cls, revision: int, found: Sequence[Supersession], *, is_incremental: bool = False) -> Marks:
        """The marks of a revision, told apart by their states."""
        return cls(
            revision,
            [one for one in found if one.state is State.APPLIED],
            [one for one in found if one.state in {State.PENDING, State.REDUCED}],
            is_incremental,
        )


@dataclass(frozen=True, slots=True)
class SupersessionPosition:
    """Where a page of supersessions begins."""

    create_time: datetime
    supersession_id: str


def corrected_number(text: str) -> int:
    """The number by which a correction names a sentence of a turn, below all others; an empty text is all of the turn.

    It follows from the text: a turn may be corrected before its sentences are read.
    """
    if not text:
        return WHOLE
    return max(_NUMBER_MIN, WHOLE - 1 - (zlib.crc32(text.encode("utf-8", "surrogatepass")) >> 1))
