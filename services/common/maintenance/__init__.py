"""Maintenance jobs: planned by a pure function, run by one replica within a cap, logged, and undoable."""

from services.common.maintenance.model import Cap, Change, Job, RunReport, Step
from services.common.maintenance.runner import MaintenanceRunner

__all__ = ["Cap", "Change", "Job", "MaintenanceRunner", "RunReport", "Step"]
