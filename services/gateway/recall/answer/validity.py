"""When facts hold, as far as contradictions between them depend on it (SPEC 3.7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from mneme.semantic.v1 import facts_pb2

_NEAR_SECONDS: Final = timedelta(days=7).total_seconds()
"""What begins within this time counts as begun, as in `services/semantic/supersession/coming.py`."""


def are_apart(one: facts_pb2.Fact, other: facts_pb2.Fact, now: float) -> bool:
    """Whether one of two facts holds now and the other one is long to come, so that neither says anything of the other.

    Two plans are not apart: of these the one that was made last stands.

    Args:
        one: A fact.
        other: Another one.
        now: The time in question, in seconds since the epoch.
    """
    is_so = (_has_begun(one, now), _has_begun(other, now))
    is_near = (_has_begun(one, now + _NEAR_SECONDS), _has_begun(other, now + _NEAR_SECONDS))
    return (is_so[0] and not is_near[1]) or (is_so[1] and not is_near[0])


def was_given_up(fact: facts_pb2.Fact) -> bool:
    """Whether it is a plan that something superseded before its day: it never held."""
    is_over = fact.valid_to_time.ToMicroseconds() <= fact.valid_from_time.ToMicroseconds()
    return bool(fact.superseded_by) and fact.HasField("valid_from_time") and fact.HasField("valid_to_time") and is_over


def said_seconds(fact: facts_pb2.Fact, until: float, now: float) -> float:
    """When a fact was said last, as far as it is known: where that was after the time in question, first.

    What was said before it came true counts as said then.

    Args:
        fact: A fact.
        until: What was said later does not count, in seconds since the epoch.
        now: The time in question, in seconds since the epoch.
    """
    last = seconds_of(fact.last_confirmed_time)
    if last > until:
        last = seconds_of(fact.first_observed_time)
    if fact.HasField("valid_from_time") and _has_begun(fact, now):
        return max(last, seconds_of(fact.valid_from_time))
    return last


def seconds_of(time: Timestamp) -> float:
    """A time in seconds since the epoch."""
    return time.seconds + time.nanos / 1e9


def _has_begun(fact: facts_pb2.Fact, by: float) -> bool:
    return not fact.HasField("valid_from_time") or seconds_of(fact.valid_from_time) < by
