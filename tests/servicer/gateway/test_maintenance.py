"""Maintenance through the gateway."""

from __future__ import annotations

import uuid

import grpc
import pytest

from mneme_client import Client, MnemeClientError
from tests.support.stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")

RETAIN = "episodic.retain_episodes"


async def test_spec_6_9_jobs_of_all_tiers_are_listed_with_their_state(client: Client) -> None:
    found = await client.get_jobs()
    assert found.unavailable_tiers == ()
    jobs = {job.name: job for job in found.jobs}
    assert list(jobs) == sorted(jobs)
    assert jobs[RETAIN].for_user
    assert not jobs["episodic.collect_orphans"].for_user
    assert all(job.description and not job.stopped for job in jobs.values())


async def test_spec_6_9_a_job_is_run_for_one_user_on_request(client: Client, user_id: str) -> None:
    written = await client.remember(user_id, "c1", "The harbour opens in May.")
    await client.recall(user_id, "harbour", consistency_token=written.consistency_token)
    planned = await client.run_job(user_id, RETAIN, dry_run=True)
    assert (planned.dry_run, planned.planned_count, planned.changes) == (True, 0, ())
    run = await client.run_job(user_id, RETAIN, request_id=f"{user_id}-run")
    assert (run.applied_count, run.busy, run.dry_run) == (0, False, False)
    assert await client.run_job(user_id, RETAIN, request_id=f"{user_id}-run") == run
    assert [run async for run in client.list_runs(user_id)] == []


async def test_spec_6_9_what_is_not_there_is_not_found(client: Client, user_id: str) -> None:
    for call in (
        client.run_job(user_id, "episodic.no_such_job"),
        client.run_job(user_id, "nowhere.job"),
        client.get_run(user_id, str(uuid.uuid4())),
        client.undo_run(user_id, str(uuid.uuid4())),
        client.resume_job("episodic.no_such_job"),
    ):
        with pytest.raises(MnemeClientError) as caught:
            await call
        assert caught.value.code is grpc.StatusCode.NOT_FOUND
    with pytest.raises(MnemeClientError) as whole_store:
        await client.run_job(user_id, "episodic.collect_orphans")
    assert whole_store.value.code is grpc.StatusCode.FAILED_PRECONDITION


async def test_spec_7_1_a_reader_runs_nothing_and_a_writer_resumes_nothing(
    secured_stack: RunningStack, user_id: str
) -> None:
    async with secured_stack.client("reader") as reader, secured_stack.client("writer") as writer:
        assert (await reader.get_jobs()).jobs
        for call in (reader.run_job(user_id, RETAIN), writer.resume_job(RETAIN)):
            with pytest.raises(MnemeClientError) as caught:
                await call
            assert caught.value.code is grpc.StatusCode.PERMISSION_DENIED
    async with secured_stack.client("admin") as admin:
        await admin.resume_job(RETAIN)
