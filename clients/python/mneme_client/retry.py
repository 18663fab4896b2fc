"""When a failed call is repeated. Every write carries a request id, which makes repeats safe."""

from __future__ import annotations

import random
from dataclasses import dataclass

from mneme_client.errors import TRANSIENT_CODES, MnemeClientError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with full jitter within the call's deadline: for UNAVAILABLE, and CANCELLED by a server."""

    attempts_max: int = 6  # the first one included
    initial_backoff_seconds: float = 0.1  # upper bound of the first wait; doubles each time
    backoff_seconds_max: float = 2.0  # upper bound of any wait, unless the service asks for a longer one

    def delay_seconds(self, error: MnemeClientError, *, attempt: int, remaining_seconds: float) -> float | None:
        """How long to wait before the next attempt, or None when there should be none.

        Args:
            error: What the last attempt failed with.
            attempt: How many attempts were made, from 1.
            remaining_seconds: Time left of the call's deadline. A wait that would use it up is not begun.
        """
        if error.code not in TRANSIENT_CODES or attempt >= self.attempts_max:
            return None
        bound = min(self.backoff_seconds_max, self.initial_backoff_seconds * 2.0 ** (attempt - 1))
        # Jitter keeps the clients of a restarted server from coming back all at once.
        delay = max(error.retry_after_seconds or 0.0, random.uniform(bound / 2, bound))  # noqa: S311
        return delay if delay < remaining_seconds else None


NEVER = RetryPolicy(attempts_max=1)
"""For calls that cannot be sent again."""
