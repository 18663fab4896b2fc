"""The clock port: time is an argument, so that a test can make a year pass."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Source of the current time."""

    def now(self) -> datetime:
        """Current time as an aware datetime in UTC."""
        ...


class SystemClock:
    """The operating system's clock."""

    def now(self) -> datetime:
        """Current time as an aware datetime in UTC, microsecond resolution; may step back."""
        return datetime.now(UTC)
