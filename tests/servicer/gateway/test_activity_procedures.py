"""What coding agents do again and again, from the activity log to the contexts of the next task."""

from __future__ import annotations

import uuid

import pytest

from mneme.episodic.v1 import activity_pb2, activity_pb2_grpc
from mneme.gateway.v1 import context_pb2
from mneme.semantic.v1 import procedures_pb2 as pb
from mneme.semantic.v1 import procedures_pb2_grpc
from mneme_client import Client
from tests.servicer.gateway.test_activity import day
from tests.support.stack import Stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_3_9_co_edits_fixes_and_refactorings_of_the_log_become_procedures_and_go_with_it(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    log = activity_pb2_grpc.ActivityServiceStub(gateway.channel)
    procedures = procedures_pb2_grpc.ProcedureServiceStub(gateway.channel)

    async def listed() -> list[pb.Procedure]:
        found = await procedures.ListProcedures(pb.ListProceduresRequest(user_id=user_id))
        return [one for one in found.procedures if one.origin == pb.PROCEDURE_ORIGIN_OBSERVED]

    await log.RecordActivity(
        activity_pb2.RecordActivityRequest(request_id=uuid.uuid4().hex, user_id=user_id, records=day())
    )
    await client.run_job(user_id, "episodic.learn_patterns")
    await client.recall(user_id, "What did we do?")  # notices the user

    async def is_learned() -> bool:
        return bool(await listed())

    await until(is_learned)
    found = await listed()
    assert {one.kind for one in found} == {
        pb.PROCEDURE_KIND_CO_EDIT,
        pb.PROCEDURE_KIND_ERROR_FIX,
        pb.PROCEDURE_KIND_REFACTOR,
    }
    assert all(one.observed_count >= 2 and one.confidence > 0.6 for one in found)

    async def context() -> str:
        built = await gateway.memory.BuildContext(
            context_pb2.BuildContextRequest(
                user_id=user_id, query="I am about to change login.py, what else?", token_budget=500
            )
        )
        return str(built.text)

    async def is_applied() -> bool:
        return "Edit src/app.py together with src/auth/login.py." in await context()

    await until(is_applied)

    await client.erase_conversation(user_id, "c1")
    assert await listed() == [], "a procedure outlives the records that showed it"
    assert "login.py" not in await context()
