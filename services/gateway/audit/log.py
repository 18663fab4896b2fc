"""The audit log of a gateway: its service, its recorder, and the work behind them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from services.common.audit.checkpoint import CheckpointSigner
from services.common.background import BackgroundWork, every
from services.common.clock import Clock
from services.common.paging import PageTokens
from services.common.rpc.readiness import Check
from services.common.rpc.server import ServiceBinding, needing
from services.gateway.audit.recorder import AuditRecorder, AuditSettings, audited
from services.gateway.audit.servicer import AuditServicer, audit_binding
from services.gateway.audit.store import AuditStore


class AuditLog:
    """Records the calls of all services, and serves the log."""

    def __init__(
        self,
        store: AuditStore,
        clock: Clock,
        settings: AuditSettings,
        secret: bytes,
        pages: PageTokens,
        flush_recalls: Callable[[], Awaitable[None]],
    ) -> None:
        """Checkpoints are signed with a key that is derived from the service secret."""
        self._store = store
        self._settings = settings
        self.recorder = AuditRecorder(store, clock, settings)
        self._flush_recalls = flush_recalls
        self._servicer = AuditServicer(store, self._flush, CheckpointSigner(secret), pages)

    def start(self, background: BackgroundWork[str]) -> None:
        """Writes and appends entries until `background` is closed."""
        background.keep_running("record-reads", self.recorder.run)
        background.keep_running(
            "append-audit-entries", every(self._settings.append_seconds, self._store.append_waiting)
        )

    def over(self, bindings: Sequence[ServiceBinding], ready: Check) -> tuple[ServiceBinding, ...]:
        """The services with their calls recorded, and the service of the log."""
        own = needing(ready, (audit_binding(self._servicer),))
        return tuple(audited(binding, self.recorder) for binding in (*bindings, *own))

    async def _flush(self) -> None:
        await self._flush_recalls()
        await self.recorder.flush()
