"""From the messages of ProcedureService to results."""

from __future__ import annotations

from mneme.semantic.v1 import procedures_pb2
from mneme_client.enums import ProcedureKind, ProcedureOrigin
from mneme_client.from_wire import moment, scope
from mneme_client.results_procedures import Procedure


def procedure(message: procedures_pb2.Procedure) -> Procedure:
    """A procedure."""
    return Procedure(
        procedure_id=message.procedure_id,
        user_id=message.user_id,
        kind=ProcedureKind(message.kind),
        trigger=message.trigger,
        action=message.action,
        expands=message.expands,
        confidence=message.confidence,
        initial_confidence=message.initial_confidence,
        success_count=message.success_count,
        failure_count=message.failure_count,
        origin=ProcedureOrigin(message.origin),
        derived_from=tuple(message.derived_from),
        scope=scope(message.scope),
        create_time=moment(message, "create_time"),
        update_time=moment(message, "update_time"),
        etag=message.etag,
        observed_count=message.observed_count,
        contrary_count=message.contrary_count,
    )
