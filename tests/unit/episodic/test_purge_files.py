"""When the job that purges files is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from services.common.maintenance.purges import Erased
from services.common.postgres.types import Pool
from services.episodic.config import PurgeSettings
from services.episodic.maintenance.files import PurgeFiles, purge_jobs

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NO_POOL = cast("Pool", None)  # planning reads nothing
SETTINGS = PurgeSettings(is_enabled=True, age_seconds=3_600.0, memories_min=100, interval_seconds=600.0)


def is_due(*, age: float | None, memories: int = 1, since_purge: float | None = None) -> bool:
    """Whether a purge is planned after an erasure of this age in seconds."""
    before: Any = {
        name: None if seconds is None else NOW - timedelta(seconds=seconds)
        for name, seconds in (("first_time", age), ("begin_time", since_purge))
    }
    changes = PurgeFiles(NO_POOL, "", SETTINGS).plan(Erased(memories=memories, now=NOW, **before), NOW)
    assert all(change.retires == 0 for change in changes)
    return bool(changes)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"age": None}, False),
        ({"age": 3_599.0}, False),
        ({"age": 3_600.0}, True),
        ({"age": 0.0, "memories": 99}, False),
        ({"age": 0.0, "memories": 100}, True),
        ({"age": 7_200.0, "memories": 100, "since_purge": 599.0}, False),
        ({"age": 7_200.0, "since_purge": 600.0}, True),
    ],
)
def test_spec_6_6_files_are_purged_some_time_after_an_erasure_or_after_a_large_one(
    state: dict[str, Any], expected: bool
) -> None:
    assert is_due(**state) is expected


def test_the_job_is_not_there_where_it_is_off_or_nobody_may_purge() -> None:
    assert purge_jobs(NO_POOL, "", SETTINGS) == []
    assert purge_jobs(NO_POOL, "postgresql://", PurgeSettings()) == []
    [job] = purge_jobs(NO_POOL, "postgresql://", PurgeSettings(is_enabled=True, look_seconds=7.0))
    assert (job.job.name, job.interval_seconds, job.for_user) == ("episodic.purge_files", 7.0, False)
