"""How many calls a second each tenant may make, by kind of call.

A token bucket for each tenant and kind holds what a tenant may do at once and fills at its rate. Replicas that share a
rate each have a bucket with a share of it: the calls that a replica was asked for, as a part of the calls that all were
asked for. The bucket decides without asking anybody; shares follow behind the calls (`SharedRates`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

import structlog

from services.common.background import BackgroundWork, every
from services.common.errors import LimitExceeded, MnemeError, Reason
from services.common.settings_types import Amount, Factor, Seconds

_log = structlog.get_logger(__name__)

_BUCKETS_MAX: Final = 10_000
_WAIT_SECONDS_MAX: Final = 60.0
_TOKEN: Final = 1.0 - 1e-9  # after the time that a refusal named there must be one, however sums are rounded


class CallKind(StrEnum):
    """What a call does, by the role that its method needs."""

    READ = "reads"
    WRITE = "writes"
    ADMIN = "administration"


Key = tuple[str, CallKind]
"""A tenant's id, and a kind of call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSettings:
    """Calls a second of one tenant, over all replicas of the gateway. Beyond them calls fail with RATE_LIMITED."""

    reads_per_second: Amount = 0.0  # Recall, contexts, lists, gets; 0: no limit
    writes_per_second: Amount = 0.0  # Remember, Feedback, erasures; a batch or a stream is one call. 0: no limit
    administration_per_second: Amount = 0.0  # methods for administrators; 0: no limit
    tenant_reads_per_second: Mapping[str, Amount] = field(default_factory=dict)  # by tenant, instead; 0: no limit
    tenant_writes_per_second: Mapping[str, Amount] = field(default_factory=dict)  # by tenant, instead
    tenant_administration_per_second: Mapping[str, Amount] = field(default_factory=dict)  # by tenant, instead
    burst_seconds: Factor = 2.0  # what may come at once after a pause: the calls of so many seconds
    share_seconds: Seconds = 1.0  # how often replicas compare what they were asked for

    def per_second(self, tenant_id: str, kind: CallKind) -> float:
        """The limit of a tenant; 0 for none."""
        match kind:
            case CallKind.READ:
                return self.tenant_reads_per_second.get(tenant_id, self.reads_per_second)
            case CallKind.WRITE:
                return self.tenant_writes_per_second.get(tenant_id, self.writes_per_second)
            case CallKind.ADMIN:
                return self.tenant_administration_per_second.get(tenant_id, self.administration_per_second)

    @property
    def limits_any(self) -> bool:
        """Whether there is a limit at all."""
        given = (self.reads_per_second, self.writes_per_second, self.administration_per_second)
        by_tenant = (
            self.tenant_reads_per_second,
            self.tenant_writes_per_second,
            self.tenant_administration_per_second,
        )
        return any(given) or any(any(rates.values()) for rates in by_tenant)


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float
    asked: int = 0  # calls since demand was taken last, refused ones included
    share: float = 1.0


class RateLimiter:
    """The buckets of one process."""

    def __init__(self, settings: RateSettings, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """All buckets are full, and not shared yet."""
        self.settings = settings
        self._monotonic = monotonic
        self._buckets: dict[Key, _Bucket] = {}

    def admit(self, tenant_id: str, kind: CallKind) -> None:
        """Counts a call.

        Raises:
            LimitExceeded: RATE_LIMITED; says after which time a call would be let in.
        """
        limit = self.settings.per_second(tenant_id, kind)
        if limit <= 0:
            return
        now = self._monotonic()
        bucket = self._buckets.get((tenant_id, kind))
        if bucket is None:
            self._make_space(now)
            bucket = self._buckets[tenant_id, kind] = _Bucket(self._size(limit, 1.0), now)
        rate = limit * bucket.share
        bucket.tokens = min(self._size(limit, bucket.share), bucket.tokens + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        bucket.asked += 1
        if bucket.tokens < _TOKEN:
            raise LimitExceeded(
                f"rates.{kind}_per_second",
                limit,
                reason=Reason.RATE_LIMITED,
                retry_after_seconds=min((1.0 - bucket.tokens) / rate, _WAIT_SECONDS_MAX),
            )
        bucket.tokens -= 1.0

    def take_demand(self) -> dict[Key, int]:
        """The calls since the last time, by tenant and kind, zeros included; forgets buckets that stayed unused."""
        demand = {key: bucket.asked for key, bucket in self._buckets.items()}
        now = self._monotonic()
        for key, bucket in tuple(self._buckets.items()):
            if not bucket.asked and now - bucket.filled_at > self.settings.burst_seconds / bucket.share:
                del self._buckets[key]  # full again, so that a new one is the same
            bucket.asked = 0
        return demand

    def share(self, own: Mapping[Key, int], others: Mapping[Key, int]) -> None:
        """Divides the rates.

        Args:
            own: What this process was asked for.
            others: What the other replicas were asked for in the same time.
        """
        for key, bucket in self._buckets.items():
            asked = max(1, own.get(key, 0))  # each caller gets a token at times
            bucket.share = asked / (asked + others.get(key, 0))

    def _size(self, limit: float, share: float) -> float:
        return max(1.0, limit * share * self.settings.burst_seconds)

    def _make_space(self, now: float) -> None:
        """Bounds the memory, whatever is used: the buckets that were used longest ago go."""
        if len(self._buckets) < _BUCKETS_MAX:
            return
        oldest = sorted(self._buckets, key=lambda key: now - self._buckets[key].filled_at, reverse=True)
        for key in oldest[: _BUCKETS_MAX // 10]:
            del self._buckets[key]


class DemandStore(Protocol):
    """Where replicas report what they were asked for."""

    async def exchange(self, replica_id: str, demand: Mapping[Key, int], *, seconds: float) -> Mapping[Key, int]:
        """Stores a replica's demand in place of its earlier one, and returns the sum of all others'.

        Args:
            replica_id: Of this replica alone.
            demand: By tenant and kind. The sums are of these.
            seconds: How old the report of another replica may be.

        Raises:
            StoreUnavailable: The store is away.
        """
        ...


class SharedRates:
    """Keeps the shares of a replica up to date, behind its calls."""

    def __init__(self, limiter: RateLimiter, store: DemandStore, replica_id: str) -> None:
        """Reports as `replica_id`."""
        self._limiter = limiter
        self._store = store
        self._replica_id = replica_id
        self._is_away = False

    def start(self, background: BackgroundWork[str]) -> None:
        """Compares demands from time to time, where anything is limited."""
        settings = self._limiter.settings
        if settings.limits_any:
            background.keep_running("share-rates", every(settings.share_seconds, self.run_once))

    async def run_once(self) -> None:
        """Reports and divides once; while the store is away the shares stay as they are."""
        demand = self._limiter.take_demand()
        if not demand:
            return
        try:
            others = await self._store.exchange(
                self._replica_id, demand, seconds=3 * self._limiter.settings.share_seconds
            )
        except MnemeError as error:
            if not self._is_away:
                _log.warning("rates_not_shared", reason=error.reason)
            self._is_away = True
            return
        self._is_away = False
        self._limiter.share(demand, others)


def sums(rows: Iterable[tuple[str, str, int]]) -> dict[Key, int]:
    """Demands by tenant and kind, from rows of a store."""
    return {(tenant_id, CallKind(kind)): count for tenant_id, kind, count in rows}
