"""Deterministic doubles of the clock and id ports."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
"""Where a `FakeClock` stands unless told otherwise."""


class FakeClock:
    """A clock that only moves when told to."""

    def __init__(self, start: datetime = START) -> None:
        """Stand at `start`, an aware datetime."""
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        """The time it was last set to."""
        return self._now

    def advance(
        self,
        delta: timedelta | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
    ) -> datetime:
        """Move by `delta` plus the named amounts (negative moves back) and return the new time."""
        self._now += (delta or timedelta()) + timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._now

    def set(self, moment: datetime) -> None:
        """Jump to `moment`, an aware datetime."""
        self._now = moment.astimezone(UTC)


class SequentialIds:
    """Ids `<prefix>000001`, `<prefix>000002`, ... which sort in the order of creation."""

    def __init__(self, prefix: str = "id-") -> None:
        """Start counting at 1."""
        self._prefix = prefix
        self._count = 0

    def new_id(self) -> str:
        """The next id."""
        self._count += 1
        return f"{self._prefix}{self._count:06d}"
