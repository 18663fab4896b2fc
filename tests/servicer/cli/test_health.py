"""`mneme health` on maintenance."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

from mneme.common.v1 import maintenance_pb2 as resources
from mneme.gateway.v1 import maintenance_pb2 as pb
from mneme.gateway.v1 import maintenance_pb2_grpc
from services.cli.commands.health import stopped_maintenance
from services.cli.state import CliState
from services.common.auth import Role
from services.common.errors import FailedPrecondition
from services.common.rpc.readiness import Check, ReadinessSettings
from services.common.rpc.server import GrpcServer, ServerSettings, ServiceBinding

_NAME: Final = pb.DESCRIPTOR.services_by_name["MaintenanceService"].full_name


class Jobs(maintenance_pb2_grpc.MaintenanceServiceServicer):
    """A gateway of two jobs, of which one is stopped."""

    async def GetJobs(self, _request: pb.GetJobsRequest, _context: Any) -> pb.GetJobsResponse:
        stopped = resources.MaintenanceJob(name="semantic.merge_facts", failure_count=3, stopped=True)
        return pb.GetJobsResponse(jobs=[stopped, resources.MaintenanceJob(name="semantic.retain_facts")])


@contextlib.asynccontextmanager
async def serving(*, conditions: Mapping[str, Check]) -> AsyncIterator[CliState]:
    """A server, and how the command line reaches it."""
    add = maintenance_pb2_grpc.add_MaintenanceServiceServicer_to_server
    roles = {method.name: Role.READER for method in pb.DESCRIPTOR.services_by_name["MaintenanceService"].methods}
    jobs: Any = Jobs  # its other methods, which are abstract, are not called
    jobs.__abstractmethods__ = frozenset()
    binding = ServiceBinding(_NAME, add, jobs(), roles, conditions=conditions)
    settings = ServerSettings(grace_seconds=0.0, readiness=ReadinessSettings(interval_seconds=0.001))
    server = GrpcServer(settings, [binding], [])
    address = await server.start()
    try:
        yield CliState(address, None, None, 5.0, Path(), serves_with_keys=False)
    finally:
        await server.stop()


async def test_spec_6_9_health_names_the_jobs_that_are_stopped() -> None:
    async with serving(conditions={}) as state:
        [line] = await stopped_maintenance(state)
    assert "semantic.merge_facts failed 3 times" in line
    assert "mneme maintain --resume semantic.merge_facts" in line


async def test_spec_6_9_a_tier_says_without_a_key_that_a_job_is_stopped() -> None:
    async def check() -> None:
        raise FailedPrecondition("stopped")

    async def runs() -> None:
        pass

    async with serving(conditions={"maintenance": runs}) as state:
        assert await stopped_maintenance(state) == []
    async with serving(conditions={"maintenance": check}) as state:
        while not (lines := await stopped_maintenance(state)):
            pass
    assert "mneme maintain --jobs" in lines[0]


async def test_health_says_nothing_of_maintenance_where_nobody_tells() -> None:
    unreachable = CliState("127.0.0.1:1", None, None, 1.0, Path(), serves_with_keys=False)
    assert await stopped_maintenance(unreachable) == []
