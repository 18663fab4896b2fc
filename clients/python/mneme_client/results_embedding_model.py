"""What the client returns of the embedding model that serves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class EmbeddingModelProcess:
    """A running process."""

    process_id: str
    service: str  # such as "gateway"; "all" for all services in one process
    held_models: tuple[str, ...]  # fingerprints
    serving_model: str  # the one that it served with when it reported


@dataclass(frozen=True, slots=True)
class EmbeddingModelState:
    """Which model serves, and how far processes have followed."""

    serving_model: str  # fingerprint
    former_model: str  # the one before, as long as the way back is open; empty where there is none
    change_time: datetime | None  # of the last cut-over; None where there was none
    held_models: tuple[str, ...]  # by the gateway, that of its settings first
    processes: tuple[EmbeddingModelProcess, ...]  # that reported lately, by service
