"""Composition of what the gateway does with context windows."""

from __future__ import annotations

from collections.abc import Callable

from services.common.clock import Clock
from services.common.tokens import token_counter
from services.gateway.context_window.activity import SnapshotLog
from services.gateway.context_window.handlers import ContextWindowHandlers
from services.gateway.context_window.preparing import Preparing
from services.gateway.context_window.pruning import WindowPruning
from services.gateway.context_window.settings import ContextWindowSettings
from services.gateway.context_window.sources import Sources
from services.gateway.journal.store import Journal
from services.gateway.requests import RequestReader
from services.gateway.upstream import TierChannels
from services.gateway.upstream_client import MetadataSource
from services.gateway.upstream_context import ActivityClient, CodeClient, ContextWindowClient


def open_context_windows(
    channels: TierChannels,
    metadata: MetadataSource,
    journal: Journal,
    reader: RequestReader,
    clock: Clock,
    settings: ContextWindowSettings,
    *,
    on_archived: Callable[[], None],
    deadline_seconds: float,
) -> ContextWindowHandlers:
    """The handlers; `on_archived` is called after something was written to the journal."""
    windows = ContextWindowClient(channels.session, metadata)
    activity = ActivityClient(channels.episodic, metadata)
    snapshots = SnapshotLog(activity, timeout_seconds=settings.source_seconds, items_max=settings.snapshot_items_max)
    pruning = WindowPruning(windows, journal, snapshots, clock, settings, on_archived=on_archived)
    sources = Sources(CodeClient(channels.semantic, metadata), activity, settings)
    preparing = Preparing(pruning, sources, token_counter(), settings)
    return ContextWindowHandlers(pruning, preparing, reader, settings, deadline_seconds=deadline_seconds)
