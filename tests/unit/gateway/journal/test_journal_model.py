"""Delays between attempts."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.gateway.journal.model import RetryPolicy


def test_spec_6_1_delays_double_up_to_a_bound() -> None:
    policy = RetryPolicy(first_delay=timedelta(seconds=1), factor=2.0, delay_max=timedelta(seconds=10))
    assert [policy.delay(n).total_seconds() for n in range(1, 7)] == [1, 2, 4, 8, 10, 10]


@given(attempts=st.integers(min_value=1, max_value=10_000))
def test_spec_6_1_no_delay_is_shorter_than_the_one_before(attempts: int) -> None:
    policy = RetryPolicy()
    assert policy.first_delay <= policy.delay(attempts) <= policy.delay(attempts + 1) <= policy.delay_max
