"""Settings of maintenance, the same in every tier that runs jobs."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.settings_types import Positive, Seconds


@dataclass(frozen=True, slots=True)
class MaintenanceSettings:
    """Bounds of runs and of their log."""

    run_seconds_max: Seconds = 1_800.0
    """How long a run takes at most; what is left is done by the next one, a minute later, from where it stopped."""
    log_days: Positive = 90.0
    """How long the log of a run is stored: until then it can be shown and taken back."""
    undone_days: Positive = 365.0
    """How long the log of a run that was taken back is stored, and no job does the same to unchanged memories."""
