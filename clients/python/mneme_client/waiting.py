"""How to wait until writes can be found."""

from __future__ import annotations

import time

from mneme_client.errors import MnemeClientError
from mneme_client.retry import RetryPolicy

VISIBILITY_QUERY = "hello"
"""Any query does: only the answer's `consistent` is looked at."""

_CALL_TIMEOUT_SECONDS = 5.0  # the service waits this long before it says that it is not so far yet


class VisibilityWait:
    """The time left of a wait, and the pauses in it."""

    def __init__(self, retry: RetryPolicy, timeout_seconds: float) -> None:
        """Starts the clock."""
        self._retry = retry
        self._timeout_seconds = timeout_seconds
        self._deadline = time.monotonic() + timeout_seconds

    def call_timeout_seconds(self) -> float:
        """Deadline of the next call.

        Raises:
            TimeoutError: No time is left.
        """
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError(f"not visible after {self._timeout_seconds:g} s")
        return min(_CALL_TIMEOUT_SECONDS, remaining)

    def delay_seconds(self) -> float:
        """Pause before the next call: a service that answers at once is not called in a tight loop."""
        return self._retry.initial_backoff_seconds

    @staticmethod
    def check(error: MnemeClientError) -> None:
        """Lets errors pass that time may heal, and raises the others."""
        if not error.retryable:
            raise error
