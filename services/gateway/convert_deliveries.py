"""From deliveries to the messages of mneme.gateway.v1. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from mneme.errors.v1 import error_reason_pb2
from mneme.gateway.v1 import deliveries_pb2, tiers_pb2
from services.common.convert import timestamp
from services.gateway.convert import duration
from services.gateway.journal.model import DeadLetter, TierBacklog

_REASONS: Final[Mapping[str, int]] = dict(error_reason_pb2.ErrorReason.items())


def tier_backlog(model: TierBacklog, now_seconds: float) -> deliveries_pb2.TierBacklog:
    """Counts of one tier's deliveries."""
    message = deliveries_pb2.TierBacklog(
        tier=tiers_pb2.Tier.Name(int(model.tier)), pending_count=model.pending_count, dead_count=model.dead_count
    )
    if model.oldest_create_time is not None:
        message.oldest_age.CopyFrom(duration(max(0.0, now_seconds - model.oldest_create_time.timestamp())))
    return message


def dead_letter(model: DeadLetter) -> deliveries_pb2.DeadLetter:
    """A delivery that was given up."""
    return deliveries_pb2.DeadLetter(
        delivery_id=str(model.delivery_id),
        tier=tiers_pb2.Tier.Name(int(model.tier)),
        subject_id=model.subject_id,
        user_id=model.user_id,
        attempt_count=model.attempts,
        reason=_error_reason(model.last_reason),
        detail=model.last_detail,
        give_up_time=timestamp(model.given_up_time),
    )


def _error_reason(reason: str) -> error_reason_pb2.ErrorReason:
    """A reason by name; one that this version does not know is INTERNAL."""
    number = _REASONS.get(f"ERROR_REASON_{reason}", error_reason_pb2.ERROR_REASON_INTERNAL)
    return cast("error_reason_pb2.ErrorReason", number)
