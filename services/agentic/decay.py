"""The decay of notes: a function of time, computed where it is needed and never stored (SPEC 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.agentic.model import Note
from services.common.clock import Clock
from services.common.decay import SECONDS_PER_DAY


def touched(note: Note) -> datetime:
    """When a note was last used, or written."""
    return max(note.create_time, note.last_access_time or note.create_time)


def decay_of(note: Note, time: datetime, *, scale_days: float) -> float:
    """Returns 1 / (1 + days / scale) with the days since the last use, in (0, 1]; see `common.decay.hyperbolic`."""
    days = max(0.0, (time - touched(note)).total_seconds() / SECONDS_PER_DAY)
    return 1.0 / (1.0 + days / scale_days)


def strength_of(note: Note, time: datetime, *, scale_days: float) -> float:
    """Importance x decay, in [0, 1]: what pruning compares with its threshold."""
    return note.importance * decay_of(note, time, scale_days=scale_days)


@dataclass(frozen=True, slots=True)
class Decay:
    """The decay of the notes of a response."""

    clock: Clock
    scale_days: float

    def now(self, note: Note) -> float:
        """As of now."""
        return decay_of(note, self.clock.now(), scale_days=self.scale_days)

    def when_written(self, note: Note) -> float:
        """As of the note's last change, so that a repeated write has the first response."""
        return decay_of(note, note.update_time, scale_days=self.scale_days)
