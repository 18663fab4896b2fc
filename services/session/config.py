"""Settings of the session tier."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from services.common.settings_types import Amount, Count, CountOrNone, Duration, DurationOrNone, Seconds, table
from services.common.turns import TurnLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDefaults:
    """What a session gets that asks for nothing."""

    window_turns: Count = 10
    ttl: Duration = timedelta(seconds=3_600)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """Bounds of requests; each exceeded one is an error that names it."""

    turn: TurnLimits = field(default_factory=TurnLimits, metadata=table("turn"))  # of one turn's texts
    id_chars_max: Count = 128  # user, session, turn and request ids
    window_turns_max: Count = 1_000
    ttl_min: Duration = timedelta(seconds=1)
    ttl_max: Duration = timedelta(days=30)
    append_turns_max: Count = 256  # turns in one AppendTurns
    page_size_default: Count = 50
    page_size_max: Count = 200
    answer_bytes_max: Count = 3_500_000  # of a window in an answer; gRPC clients take 4 MiB unless told otherwise
    count_inline_chars_max: Count = 20_000  # more characters are tokenized in a thread, beside the loop


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """What every driver keeps beside the windows."""

    remembered_turns: CountOrNone = 512  # turn ids that a session knows beyond its window, against repeats
    mark_lifetime: DurationOrNone = timedelta(hours=1)  # how long a repeated request is recognised


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """Bounds of the memory of one process."""

    sessions_max: Count = 10_000  # beyond it the expired go first, then the least recently active
    payload_bytes_max: Count = 256 * 1024 * 1024  # of all windows together; the same ones go
    marks_max: CountOrNone = 50_000  # requests that are recognised when they are repeated; the oldest go
    marks_bytes_max: CountOrNone = 64 * 1024 * 1024  # of their answers; that to a deletion holds the window


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisSettings:
    """How Redis is reached and used."""

    key_prefix: str = "mneme:session:"  # of every key; holds no braces, they are the mark of Cluster slots
    connections_max: Count = 32  # of this process; calls beyond wait for one until their deadline
    call_timeout_seconds: Seconds = 0.2  # with connecting; less than callers wait, so that memory can answer
    expire_grace: DurationOrNone = timedelta(seconds=60)  # by how much Redis drops keys later than they end


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackSettings:
    """What happens while Redis cannot be reached."""

    probe_seconds_min: Amount = 0.5  # first wait before Redis is tried again; doubles with each failure
    probe_seconds_max: Seconds = 15.0
    queued_writes_max: CountOrNone = 20_000  # writes kept to be replayed; beyond it writes fail as UNAVAILABLE
    queued_bytes_max: CountOrNone = 64 * 1024 * 1024  # of their texts
    close_timeout_seconds: Amount = 2.0  # for the last attempt to replay when the service stops


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Everything that can be set in this tier."""

    defaults: SessionDefaults = field(default_factory=SessionDefaults)
    limits: SessionLimits = field(default_factory=SessionLimits)
    store: StoreSettings = field(default_factory=StoreSettings)
    embedded: EmbeddedSettings = field(default_factory=EmbeddedSettings)
    redis: RedisSettings = field(default_factory=RedisSettings)
    fallback: FallbackSettings = field(default_factory=FallbackSettings)
