"""The job of the months: what it plans, as a function of time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from services.episodic.activity.commands import first_month
from services.episodic.activity.config import ActivityRetentionSettings
from services.episodic.activity.retention import RetainActivity
from services.episodic.activity.store import ActivityUpkeepStore, Partition

NOW = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)


def test_spec_2_10_months_are_made_ahead_and_dropped_behind() -> None:
    # A plan reads no store.
    job = RetainActivity(cast("ActivityUpkeepStore", None), ActivityRetentionSettings(months=2, months_ahead=1))
    months = [datetime(2025, 10, 1, tzinfo=UTC), datetime(2025, 11, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)]
    changes = job.plan([Partition(f"activity_tools_{month:%Y%m}", month) for month in months], NOW)
    assert [(change.action, change.target) for change in changes] == [
        ("make_months", "2026-02-01T00:00:00+00:00"),
        ("drop_month", "activity_tools_202510"),
        ("delete_before", "2025-11-01T00:00:00+00:00"),
    ]
    assert not any(change.retires for change in changes)


def test_months_are_counted_over_years() -> None:
    assert first_month(NOW, 0) == datetime(2026, 1, 1, tzinfo=UTC)
    assert first_month(NOW, 13) == datetime(2024, 12, 1, tzinfo=UTC)
    assert first_month(NOW, -12) == datetime(2027, 1, 1, tzinfo=UTC)
