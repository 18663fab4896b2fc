"""Runs maintenance jobs for the users of a benchmark, and counts their notes before and after."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bench.common import BenchError
from bench.gateway import Gateway, retried
from mneme.agentic.v1 import insights_pb2, insights_pb2_grpc
from mneme.gateway.v1 import maintenance_pb2, maintenance_pb2_grpc

_CALL_SECONDS: Final = 300.0
_RUNS_MAX: Final = 50
"""Runs of a job for one user: each retires no more than the job's cap."""


@dataclass(frozen=True, slots=True)
class NoteCounts:
    """Active notes of all users of the benchmark."""

    notes: int = 0
    """All of them."""
    made: int = 0
    """Concepts and summaries among them."""
    duplicates: int = 0
    """Notes that say the same as an older one."""


@dataclass(slots=True)
class Maintained:
    """What the jobs did."""

    before: NoteCounts = field(default_factory=NoteCounts)
    """Notes before the first run."""
    after: NoteCounts = field(default_factory=NoteCounts)
    """Notes after the last one."""
    changes: dict[str, int] = field(default_factory=dict)
    """Changes by job."""
    seconds: float = 0.0
    """All runs together."""


async def maintain(gateway: Gateway, user_ids: Sequence[str], jobs: Sequence[str]) -> Maintained:
    """Runs jobs, in this order, for each user until a run changes nothing.

    Raises:
        BenchError: A job finds something to do in every run.
    """
    channel = gateway.channel
    maintenance = maintenance_pb2_grpc.MaintenanceServiceStub(channel)
    found = Maintained(before=await count_notes(gateway, user_ids))
    started = time.perf_counter()
    for user_id in user_ids:
        for job in jobs:
            for _ in range(_RUNS_MAX):
                request = maintenance_pb2.RunJobRequest(request_id=uuid.uuid4().hex, user_id=user_id, job=job)
                response = await retried(
                    lambda request=request: maintenance.RunJob(  # type: ignore[misc]
                        request, timeout=_CALL_SECONDS, metadata=gateway.metadata
                    )
                )
                found.changes[job] = found.changes.get(job, 0) + response.run.applied_count
                if not response.run.applied_count and not response.run.busy:
                    break
            else:
                raise BenchError(f"{job} still found something to do after {_RUNS_MAX} runs")
    found.seconds = round(time.perf_counter() - started, 3)
    found.after = await count_notes(gateway, user_ids)
    return found


async def count_notes(gateway: Gateway, user_ids: Sequence[str]) -> NoteCounts:
    """Adds up the notes of users."""
    insights = insights_pb2_grpc.InsightServiceStub(gateway.channel)
    counts = NoteCounts()
    for user_id in user_ids:
        health = await retried(
            lambda user_id=user_id: insights.GetHealth(  # type: ignore[misc]
                insights_pb2.GetHealthRequest(user_id=user_id), timeout=_CALL_SECONDS, metadata=gateway.metadata
            )
        )
        counts = NoteCounts(
            notes=counts.notes + health.note_count,
            made=counts.made + health.made_count,
            duplicates=counts.duplicates + health.duplicate_count,
        )
    return counts
