"""What a response returned: counted as used, and recorded for feedback, links by use and the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from services.common.auth import Principal
from services.gateway.journal.recall_log import RecallLog
from services.gateway.recall.answer.assembly import Assembled, returned_ids
from services.gateway.recall.model import AppliedPattern, RecallQuery
from services.gateway.recall.stages.access import AccessRecorder


class Record(Protocol):
    """Records responses."""

    async def __call__(
        self,
        principal: Principal,
        query: RecallQuery,
        recall_id: str,
        returned: Assembled,
        applied: Sequence[AppliedPattern],
        *,
        seconds_left: float,
        also_read: Sequence[str] = (),
    ) -> None:
        """Records a response, before it is sent.

        Args:
            principal: Who receives the response.
            query: What was asked.
            recall_id: The id under which it is known.
            returned: What it holds.
            applied: The patterns that were applied.
            seconds_left: Until the call's deadline.
            also_read: Ids of what was read besides, for the audit log alone.
        """
        ...


class Recording:
    """Implements `Record`."""

    def __init__(self, access: AccessRecorder, recall_log: RecallLog | None) -> None:
        """Counts uses with `access`; without a log responses are not recorded."""
        self._access = access
        self._recall_log = recall_log

    async def __call__(
        self,
        principal: Principal,
        query: RecallQuery,
        recall_id: str,
        returned: Assembled,
        applied: Sequence[AppliedPattern],
        *,
        seconds_left: float,
        also_read: Sequence[str] = (),
    ) -> None:
        """See `Record`."""
        self._access.record(principal, query.user_id, [memory.memory_id for memory in returned.memories])
        if self._recall_log is None:
            return
        await self._recall_log.record(
            principal.tenant_id,
            query.user_id,
            recall_id,
            returned_ids(returned),
            query=query.text,
            scope=query.scope,
            procedure_ids=[pattern.procedure_id for pattern in applied if pattern.procedure_id],
            # Who asks for one memory uses none together: clients wait so for a write.
            counts_use=query.limit > 1,
            also_read=[*(turn.interaction_id for turn in returned.recent_turns), *also_read],
            method=query.method,
            seconds_left=seconds_left,
        )
