"""Settings of the session tier."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from services.common.settings_types import (
    Amount,
    Count,
    CountOrNone,
    Duration,
    DurationOrNone,
    ResponseBytes,
    Seconds,
    table,
)
from services.common.turns import TurnLimits
from services.session.context_window.config import ContextWindowSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDefaults:
    """What a session gets that asks for nothing."""

    window_turns: Count = 10  # newest turns in the window
    ttl: Duration = timedelta(seconds=3_600)  # lifetime after the last read or write


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """Bounds of requests; each exceeded one is an error that names it."""

    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))  # of one turn's texts
    id_chars_max: Count = 128  # user, session, turn and request ids
    window_turns_max: Count = 1_000  # turns of a window
    ttl_min: Duration = timedelta(seconds=1)  # shortest lifetime that may be asked for
    ttl_max: Duration = timedelta(days=30)  # longest
    append_turns_max: Count = 256  # turns in one AppendTurns
    page_size_default: Count = 50  # sessions of a page where no number is asked for
    page_size_max: Count = 200  # sessions of a page; more is cut to it
    response_bytes_max: ResponseBytes = 3_500_000  # of a response; gRPC clients accept 4 MiB by default
    count_inline_chars_max: Count = 20_000  # more characters are tokenized in a thread, beside the loop


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """What every driver stores beside the windows."""

    remembered_turns: CountOrNone = 512  # turn ids that a session knows beyond its window, against repeats
    events_max: Count = 10_000  # events of one user that wait for the log; beyond it reported writes are refused
    idempotency_retention: DurationOrNone = timedelta(days=7)  # how long a repeated request is recognised


@dataclass(frozen=True, slots=True, kw_only=True)
class LifetimeSettings:
    """How the conversation log learns of sessions that are only read."""

    report_seconds: Seconds = 1.0  # between looks for reads to report; each is reported after half of a time to live
    batch_max: Count = 256  # sessions that are reported at once
    sessions_max: Count = 50_000  # sessions of a process that may wait; reads of others are not reported


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """Bounds of the memory of one process."""

    sessions_max: Count = 10_000  # beyond it the expired go first, then the least recently active
    payload_bytes_max: Count = 256 * 1024 * 1024  # of all windows together; the same ones go
    idempotency_records_max: CountOrNone = 50_000  # requests that are recognised when they are repeated; the oldest go


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSettings:
    """How Redis is reached and used."""

    key_prefix: str = "mneme:session:"  # of every key; holds no braces, they mark Cluster slots
    connections_max: Count = 32  # of this process; calls beyond wait for one until their deadline
    call_timeout_seconds: Seconds = 0.2  # with connecting; less than callers wait, so that memory can take over
    sentinel_timeout_seconds: Seconds = 0.1  # of a question to the Sentinels, within the time of a call
    sentinel_tls: bool = True  # with rediss+sentinel, the Sentinels are asked by TLS as well
    expire_grace: DurationOrNone = timedelta(seconds=60)  # by how much Redis drops keys later than they end


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAccess:
    """Credentials and certificates for Redis, which do not belong into a URL."""

    user: str = ""  # of the data; takes the place of the one in the URL
    password: str = field(default="", repr=False)
    sentinel_user: str = ""  # of the sentinels, which know other users than the data's servers
    sentinel_password: str = field(default="", repr=False)
    authority: Path | None = None  # PEM of the authority of the servers' certificates; None: those that everyone trusts
    certificate: Path | None = None  # PEM of this service's own certificate, where servers ask for one
    key: Path | None = None  # PEM of its private key


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackSettings:
    """What happens while Redis cannot be reached."""

    probe_seconds_min: Amount = 0.5  # first wait before Redis is tried again; doubles with each failure
    probe_seconds_max: Seconds = 15.0  # longest such wait
    queued_writes_max: CountOrNone = 20_000  # writes that wait to be replayed; beyond it writes fail as UNAVAILABLE
    queued_bytes_max: CountOrNone = 64 * 1024 * 1024  # of their texts
    repeated_time: DurationOrNone = timedelta(seconds=10)  # appends so long before the loss are repeated after it
    repeated_sessions_max: CountOrNone = 500  # sessions of which they are; the last ones
    close_timeout_seconds: Amount = 2.0  # for the last attempt to replay when the service stops


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Everything that can be set in this tier."""

    defaults: SessionDefaults = field(default_factory=SessionDefaults)
    limits: SessionLimits = field(default_factory=SessionLimits)
    store: StoreSettings = field(default_factory=StoreSettings)
    lifetimes: LifetimeSettings = field(default_factory=LifetimeSettings)
    embedded: EmbeddedSettings = field(default_factory=EmbeddedSettings)
    redis: RedisSettings = field(default_factory=RedisSettings)
    fallback: FallbackSettings = field(default_factory=FallbackSettings)
    context_window: ContextWindowSettings = field(default_factory=ContextWindowSettings)
