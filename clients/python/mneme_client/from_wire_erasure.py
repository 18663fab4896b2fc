"""From the messages of ErasureService to results."""

from __future__ import annotations

from mneme.gateway.v1 import erasure_pb2
from mneme_client import results_erasure as r
from mneme_client.enums import ErasureState, ErasureStore, MemoryKind, PlannedReason
from mneme_client.from_wire import moment


def erasure(message: erasure_pb2.Erasure) -> r.Erasure:
    """An erasure."""
    return r.Erasure(
        erasure_id=message.erasure_id,
        user_id=message.user_id,
        state=ErasureState(message.state),
        stores=tuple(
            r.StoreReceipt(ErasureStore(s.store), s.done, dict(s.counts), s.bytes_may_remain) for s in message.stores
        ),
        create_time=moment(message, "create_time"),
        complete_time=moment(message, "complete_time"),
        backup_expire_time=moment(message, "backup_expire_time"),
        purge_note=message.purge_note,
        purge_time=moment(message, "purge_time"),
        purge_due_time=moment(message, "purge_due_time"),
    )


def plan(message: erasure_pb2.ErasurePlan) -> r.ErasurePlan:
    """What would go."""
    return r.ErasurePlan(
        episodes=message.episodes,
        facts=message.facts,
        notes=message.notes,
        memories=tuple(map(_planned, message.memories)),
        near=tuple(map(_planned, message.near)),
        degraded=message.degraded,
    )


def _planned(m: erasure_pb2.PlannedMemory) -> r.PlannedMemory:
    return r.PlannedMemory(
        MemoryKind(m.memory.kind), m.memory.memory_id, m.preview, moment(m, "time"), PlannedReason(m.reason)
    )


def forget_result(message: erasure_pb2.ForgetResponse) -> r.ForgetResult:
    """What a query chose."""
    return r.ForgetResult(
        erasure=erasure(message.erasure) if message.HasField("erasure") else None,
        plan=plan(message.plan) if message.HasField("plan") else None,
        plan_token=message.plan_token,
        replayed=message.replayed,
    )


def correction(message: erasure_pb2.CorrectResponse) -> r.Correction:
    """What came of a correction."""
    return r.Correction(
        interaction_id=message.interaction_id,
        consistency_token=message.consistency_token,
        statements=tuple(r.CorrectedStatement(s.interaction_id, s.preview, s.whole_turn) for s in message.statements),
        replayed=message.replayed,
    )
