"""How to wait until writes can be found."""

from __future__ import annotations

import time

from mneme_client.errors import MnemeClientError
from mneme_client.retry import RetryPolicy

VISIBILITY_QUERY = "hello"
"""Any query will do: only `consistent` of the response is read."""

_CALL_TIMEOUT_SECONDS = 5.0  # the service waits this long before it responds that the write is not visible yet


class VisibilityWait:
    """The remaining time of a wait, and the delay between its calls."""

    def __init__(self, retry: RetryPolicy, timeout_seconds: float) -> None:
        """Starts the clock."""
        self._retry = retry
        self._timeout_seconds = timeout_seconds
        self._deadline = time.monotonic() + timeout_seconds
        self._last_error: MnemeClientError | None = None

    def call_timeout_seconds(self) -> float:
        """Deadline of the next call.

        Raises:
            TimeoutError: No time is left.
        """
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            because = f"; the last failure: {self._last_error}" if self._last_error else ""
            raise TimeoutError(f"not visible after {self._timeout_seconds:g} s{because}") from self._last_error
        return min(_CALL_TIMEOUT_SECONDS, remaining)

    def delay_seconds(self) -> float:
        """Delay before the next call, so that a service that responds at once is not called in a tight loop."""
        return self._retry.initial_backoff_seconds

    def check(self, error: MnemeClientError) -> None:
        """Keeps transient errors, of which the last is the cause of a TimeoutError, and raises the others."""
        if not error.retryable:
            raise error
        self._last_error = error
