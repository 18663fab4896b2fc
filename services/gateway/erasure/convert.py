"""From erasures and plans to the messages of ErasureService. Pure functions."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mneme.gateway.v1 import erasure_pb2, memory_pb2, tiers_pb2
from services.common.convert import timestamp
from services.common.maintenance.purges import PurgeAfter
from services.gateway.erasure.correcting import Correction
from services.gateway.erasure.forgetting import Forgotten
from services.gateway.erasure.model import STORE_STEPS, Erasure, ErasureSettings, Plan, Planned, Store
from services.gateway.grants.model import MemoryKind
from services.gateway.tokens import ConsistencyTokens

_NOTHING_KNOWN: Final = PurgeAfter()

PURGE_NOTE: Final = (
    "No call returns what was erased. Files of the stores with bytes_may_remain may hold bytes of it until they are "
    "rewritten: run `mneme purge` for PostgreSQL and embedded engines, while services run or not; rewrite servers of "
    "your own (Redis, Neo4j, Qdrant) by their own means. Backups hold it until they expire."
)
"""What a receipt says of bytes in files."""
_SCHEDULED_NOTE: Final = (
    "No call returns what was erased. Files of the stores with bytes_may_remain may hold bytes of it: the maintenance "
    "job episodic.purge_files begins at {time} at the latest to rewrite those of PostgreSQL and embedded engines. "
)
_PURGED_NOTE: Final = (
    "No call returns what was erased. A purge {by}that began after the erasure and was done at {time} rewrote the "
    "files of PostgreSQL and of embedded vector indexes. "
)
_OTHERS_NOTE: Final = (
    "Other servers of your own (Redis, Neo4j, Qdrant) may hold bytes of it until they are rewritten by their own "
    "means, and backups until they expire."
)


def erasure_message(
    erasure: Erasure, settings: ErasureSettings, *, purge: PurgeAfter = _NOTHING_KNOWN
) -> erasure_pb2.Erasure:
    """An erasure with its receipt, and what becomes of its files."""
    state = erasure_pb2.ERASURE_STATE_DONE if erasure.is_done else erasure_pb2.ERASURE_STATE_PENDING
    message = erasure_pb2.Erasure(
        erasure_id=erasure.erasure_id,
        user_id=erasure.target.user_id,
        state=state,
        stores=[
            erasure_pb2.StoreReceipt(
                store=erasure_pb2.ErasureStore.Name(int(store)),
                done=erasure.step > STORE_STEPS[store],
                counts=dict(erasure.counts(store)),
                bytes_may_remain=bool(erasure.counts(store)),
            )
            for store in Store
        ],
        create_time=timestamp(erasure.create_time),
    )
    if any(erasure.counts(store) for store in Store):
        message.purge_note = _purge_note(purge)
        if purge.done_time is not None:
            message.purge_time.CopyFrom(timestamp(purge.done_time))
        elif purge.due_time is not None:
            message.purge_due_time.CopyFrom(timestamp(purge.due_time))
    if erasure.complete_time is not None:
        message.complete_time.CopyFrom(timestamp(erasure.complete_time))
        if settings.backup_retention:
            message.backup_expire_time.CopyFrom(timestamp(erasure.complete_time + settings.backup_retention))
    return message


def _purge_note(purge: PurgeAfter) -> str:
    if purge.done_time is not None:
        by = "by the schedule " if purge.is_scheduled else ""
        return _PURGED_NOTE.format(by=by, time=_second(purge.done_time)) + _OTHERS_NOTE
    if purge.due_time is not None:
        return _SCHEDULED_NOTE.format(time=_second(purge.due_time)) + _OTHERS_NOTE
    return PURGE_NOTE


def _second(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def forget_response(forgotten: Forgotten, settings: ErasureSettings) -> erasure_pb2.ForgetResponse:
    """What a query chose, and what became of it."""
    return erasure_pb2.ForgetResponse(
        erasure=erasure_message(forgotten.erasure, settings) if forgotten.erasure is not None else None,
        plan=plan_message(forgotten.plan, settings) if forgotten.plan is not None else None,
        plan_token=forgotten.plan_token,
        replayed=forgotten.replayed,
    )


def correct_response(
    correction: Correction, tenant_id: str, tokens: ConsistencyTokens, settings: ErasureSettings
) -> erasure_pb2.CorrectResponse:
    """What came of a correction."""
    appended = correction.appended
    return erasure_pb2.CorrectResponse(
        interaction_id=appended.interaction_ids[0] if appended is not None else "",
        consistency_token=tokens.encode(tenant_id, appended.span) if appended is not None else "",
        statements=[
            erasure_pb2.CorrectedStatement(
                interaction_id=wrong.corrected.interaction_id,
                preview=wrong.text[: settings.preview_chars],
                whole_turn=wrong.corrected.is_whole,
            )
            for wrong in correction.statements
        ],
        replayed=appended is not None and appended.replayed,
    )


def plan_message(plan: Plan, settings: ErasureSettings) -> erasure_pb2.ErasurePlan:
    """What would go, as far as it is shown."""
    return erasure_pb2.ErasurePlan(
        episodes=plan.counts.get(MemoryKind.EPISODE, 0),
        facts=plan.counts.get(MemoryKind.FACT, 0),
        notes=plan.counts.get(MemoryKind.NOTE, 0),
        memories=[_planned(one, settings.preview_chars) for one in plan.memories[: settings.previews_max]],
        near=[_planned(one, settings.preview_chars) for one in plan.near[: settings.previews_max]],
        degraded=plan.is_degraded,
    )


def _planned(planned: Planned, chars_max: int) -> erasure_pb2.PlannedMemory:
    kind = tiers_pb2.MemoryKind.Name(int(planned.kind))
    return erasure_pb2.PlannedMemory(
        memory=memory_pb2.MemoryReference(kind=kind, memory_id=planned.memory_id),
        preview=planned.text[:chars_max],
        time=timestamp(planned.time) if planned.time is not None else None,
        reason=erasure_pb2.PlannedReason.Name(int(planned.reason)),
    )
