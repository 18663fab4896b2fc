"""Methods of context windows that the gateway serves itself, because they need the journal; see door.py."""

from __future__ import annotations

from typing import Any, Final

from mneme.gateway.v1 import prepare_pb2
from mneme.session.v1 import context_window_pb2 as pb
from services.common.auth import current_principal
from services.common.convert import scope_from_proto
from services.common.idempotency.requests import request_digest
from services.common.rpc.deadline import seconds_left
from services.common.rpc.interceptors.base import Context
from services.common.scope import GLOBAL_SCOPE
from services.common.telemetry import traceparent
from services.common.validation import Violations
from services.gateway.context_window.preparing import PrepareCommand, Preparing
from services.gateway.context_window.pruning import WindowChange, WindowPruning, WindowRequest
from services.gateway.context_window.settings import ContextWindowSettings
from services.gateway.context_window.sources import Question
from services.gateway.door import Handler
from services.gateway.journal.model import Caller
from services.gateway.requests import RequestReader

_SERVICE: Final = "mneme.session.v1.ContextWindowService"


class ContextWindowHandlers:
    """Handlers of pruning, of bringing items back, and of PrepareContext."""

    def __init__(
        self,
        pruning: WindowPruning,
        preparing: Preparing,
        reader: RequestReader,
        settings: ContextWindowSettings,
        *,
        deadline_seconds: float,
    ) -> None:
        """Calls `pruning` and `preparing`; `deadline_seconds` is for a call whose deadline is not known."""
        self._pruning = pruning
        self._preparing = preparing
        self._reader = reader
        self._settings = settings
        self._deadline_seconds = deadline_seconds

    def by_name(self) -> dict[str, Handler]:
        """The handlers by the full names of their methods."""
        return {
            f"{_SERVICE}.PruneContextWindow": self.prune,
            f"{_SERVICE}.RestoreContextItems": self.restore,
        }

    async def prune(self, request: pb.PruneContextWindowRequest, _context: Context) -> pb.PruneContextWindowResponse:
        """What goes is in the journal, with its delivery to the episodic tier, before it goes."""
        self._checked(request).raise_if_any()
        asked, change = self._request(request), WindowChange(force=request.force)
        if request.dry_run:
            plan = await self._pruning.plan(asked, change)
            snapshot = plan.snapshot if plan.HasField("snapshot") else None
            return pb.PruneContextWindowResponse(snapshot=snapshot, window=plan.window, degraded=plan.degraded)
        response, _ = await self._pruning.change(asked, change)
        committed = response.committed
        snapshot = committed.snapshot if committed.HasField("snapshot") else None
        return pb.PruneContextWindowResponse(snapshot=snapshot, window=committed.window, degraded=response.degraded)

    async def restore(
        self, request: pb.RestoreContextItemsRequest, _context: Context
    ) -> pb.RestoreContextItemsResponse:
        """Items are read from the journal."""
        violations, count_max = self._checked(request), self._settings.restored_items_max
        violations.count("item_ids", len(request.item_ids), count_min=1, count_max=count_max)
        violations.raise_if_any()
        committed, is_degraded = await self._pruning.restore(self._request(request), list(request.item_ids))
        return pb.RestoreContextItemsResponse(
            window=committed.window, restored_count=committed.added_count, degraded=is_degraded
        )

    async def prepare(self, request: prepare_pb2.PrepareContextRequest) -> prepare_pb2.PrepareContextResponse:
        """See PrepareContext of prepare.proto."""
        settings, violations = self._settings, self._checked(request)
        violations.text("message", request.message, chars_max=settings.message_chars_max)
        id_chars_max = self._reader.limits.journal.id_chars_max
        violations.identifier("task_id", request.task_id, chars_max=id_chars_max, required=False)
        violations.identifier("repository_id", request.repository_id, chars_max=id_chars_max, required=False)
        violations.number("code_limit", request.code_limit, low=0, high=settings.code_limit_max)
        violations.number("task_limit", request.task_limit, low=0, high=settings.task_limit)
        if request.token_budget:
            low, high = settings.token_budget_min, settings.token_budget_max
            violations.number("token_budget", request.token_budget, low=low, high=high)
        present = request.HasField("scope")
        scope = violations.read(
            lambda: scope_from_proto(request.scope, present=present, field_path="scope"), GLOBAL_SCOPE
        )
        violations.raise_if_any()
        question = Question(
            user_id=request.user_id,
            text=request.message,
            repository_id=request.repository_id,
            code_limit=request.code_limit or settings.code_limit,
            task_limit=request.task_limit or settings.task_limit,
            scope=scope,
        )
        command = PrepareCommand(
            window=self._request(request),
            question=question,
            task_id=request.task_id if request.HasField("task_id") else None,
            token_budget=request.token_budget,
        )
        return await self._preparing.prepare(command)

    def _checked(self, request: Any) -> Violations:
        """What is wrong with the ids of a request, so that what else is wrong can be named with it."""
        violations, reader = Violations(), self._reader
        conversation_id, request_id = request.conversation_id, request.request_id
        violations.read(
            lambda: reader.user(request.user_id, conversation_id=conversation_id, request_id=request_id), None
        )
        return violations

    def _request(self, request: Any) -> WindowRequest:
        principal = current_principal()
        return WindowRequest(
            principal=principal,
            caller=Caller(principal.tenant_id, principal.principal_id, traceparent()),
            user_id=request.user_id,
            conversation_id=request.conversation_id,
            request_id=request.request_id,
            digest=request_digest(request).hex(),
            timeout_seconds=seconds_left(self._deadline_seconds),
        )
