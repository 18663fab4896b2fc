"""Token buckets of tenants, and their division among replicas."""

from __future__ import annotations

import pytest

from services.common.errors import LimitExceeded, Reason
from services.common.rates import CallKind, RateLimiter, RateSettings

SETTINGS = RateSettings(
    reads_per_second=10.0, writes_per_second=5.0, tenant_reads_per_second={"large": 100.0, "free": 0.0}
)


class Time:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def limiter(time: Time) -> RateLimiter:
    return RateLimiter(SETTINGS, monotonic=time)


def admitted(limiter: RateLimiter, calls: int, tenant: str = "acme", kind: CallKind = CallKind.READ) -> int:
    """How many of some calls are let in."""
    count = 0
    for _ in range(calls):
        try:
            limiter.admit(tenant, kind)
        except LimitExceeded:
            continue
        count += 1
    return count


def test_spec_7_2_a_tenant_has_its_rate_and_a_burst(limiter: RateLimiter, time: Time) -> None:
    assert admitted(limiter, 1_000) == 20
    for _ in range(10):
        time.now += 0.1
        assert admitted(limiter, 100) == 1
    time.now += 3600
    assert admitted(limiter, 1_000) == 20


def test_spec_7_2_each_tenant_and_kind_of_call_has_a_rate_of_its_own(limiter: RateLimiter) -> None:
    assert admitted(limiter, 1_000) == 20
    assert admitted(limiter, 1_000, kind=CallKind.WRITE) == 10
    assert admitted(limiter, 1_000, "globex") == 20
    assert admitted(limiter, 1_000, "large") == 200
    assert admitted(limiter, 1_000, "free") == 1_000
    assert admitted(limiter, 1_000, kind=CallKind.ADMIN) == 1_000, "0 means no limit"


def test_spec_7_2_a_refusal_says_when_to_try_again(limiter: RateLimiter, time: Time) -> None:
    admitted(limiter, 20)
    with pytest.raises(LimitExceeded) as caught:
        limiter.admit("acme", CallKind.READ)
    assert caught.value.reason is Reason.RATE_LIMITED
    assert caught.value.metadata == {"limit_name": "rates.reads_per_second", "limit": "10"}
    delay = caught.value.retry_after_seconds or 0.0
    assert delay == pytest.approx(0.1)
    time.now += delay
    limiter.admit("acme", CallKind.READ)


def test_spec_7_2_replicas_divide_a_rate_by_what_they_are_asked_for(time: Time) -> None:
    replicas = [RateLimiter(SETTINGS, monotonic=time) for _ in range(3)]
    asked = (300, 100, 0)  # calls a second
    let_in: list[int] = []
    for _ in range(10):
        time.now += 1.0
        let_in.append(sum(admitted(replica, calls) for replica, calls in zip(replicas, asked, strict=True)))
        demands = [replica.take_demand() for replica in replicas]
        for replica, own in zip(replicas, demands, strict=True):
            key = ("acme", CallKind.READ)
            replica.share(own, {key: sum(other.get(key, 0) for other in demands) - own.get(key, 0)})
    assert let_in[0] == 40, "both bursts, before the replicas knew of each other"
    assert sum(let_in[4:]) == 60
    assert set(let_in[4:]) <= {9, 10, 11}, "shares of 7.5 and 2.5 calls"


def test_a_share_is_never_nothing(limiter: RateLimiter, time: Time) -> None:
    admitted(limiter, 20)
    limiter.share({}, {("acme", CallKind.READ): 1_000})
    time.now += 101.0  # 10 a second, of which it has the thousandth part
    assert admitted(limiter, 10) == 1


def test_the_buckets_of_tenants_that_do_nothing_are_forgotten(limiter: RateLimiter, time: Time) -> None:
    admitted(limiter, 3)
    assert limiter.take_demand() == {("acme", CallKind.READ): 3}
    assert limiter.take_demand() == {("acme", CallKind.READ): 0}
    time.now += 60.0
    limiter.take_demand()
    assert limiter.take_demand() == {}


def test_the_number_of_buckets_is_bounded(limiter: RateLimiter) -> None:
    for number in range(12_000):
        limiter.admit(f"tenant-{number}", CallKind.READ)
    assert len(limiter.take_demand()) <= 10_000


def test_limits_of_single_tenants_alone_are_limits() -> None:
    assert not RateSettings().limits_any
    assert not RateSettings(tenant_reads_per_second={"free": 0.0}).limits_any
    assert RateSettings(tenant_writes_per_second={"acme": 1.0}).limits_any
