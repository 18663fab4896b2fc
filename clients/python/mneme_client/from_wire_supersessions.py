"""From the messages of SupersessionService to results."""

from __future__ import annotations

from mneme.semantic.v1 import supersessions_pb2
from mneme_client.enums_decisions import (
    SupersessionDecider,
    SupersessionReason,
    SupersessionState,
)
from mneme_client.from_wire import moment
from mneme_client.results_supersessions import Supersession


def supersession(message: supersessions_pb2.Supersession) -> Supersession:
    """A supersession."""
    return Supersession(
        supersession_id=message.supersession_id,
        memory_id=message.memory_id,
        statement=message.statement,
        whole_turn=message.whole_turn,
        superseded_by=message.superseded_by,
        standing_statement=message.standing_statement,
        reason=SupersessionReason(message.reason),
        state=SupersessionState(message.state),
        end_time=moment(message, "end_time"),
        create_time=moment(message, "create_time"),
        premise=message.premise,
        decided_by=SupersessionDecider(message.decided_by),
        decision_reason=message.decision_reason,
    )
