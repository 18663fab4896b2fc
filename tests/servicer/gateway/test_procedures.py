"""Procedures from end to end: learned from feedback and turns, applied in recalls and contexts, erased."""

from __future__ import annotations

import uuid

import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import context_pb2, erasure_pb2, memory_pb2, recall_pb2
from mneme.semantic.v1 import procedures_pb2 as pb
from mneme.semantic.v1 import procedures_pb2_grpc
from tests.support.stack import Stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

GOOD, BAD, NONE = memory_pb2.FEEDBACK_VALUE_GOOD, memory_pb2.FEEDBACK_VALUE_BAD, memory_pb2.FEEDBACK_VALUE_NONE


def unique() -> str:
    return f"request-{uuid.uuid4().hex}"


class Agent:
    """Asks and judges on behalf of a user."""

    def __init__(self, gateway: Stubs, user_id: str) -> None:
        self._gateway = gateway
        self._procedures = procedures_pb2_grpc.ProcedureServiceStub(gateway.channel)
        self.user_id = user_id

    async def recall(self, query: str, **fields: object) -> recall_pb2.RecallResponse:
        request = recall_pb2.RecallRequest(user_id=self.user_id, query=query, **fields)  # type: ignore[arg-type]
        response: recall_pb2.RecallResponse = await self._gateway.memory.Recall(request)
        return response

    async def judge(self, recalled: recall_pb2.RecallResponse, value: memory_pb2.FeedbackValue) -> None:
        request = memory_pb2.FeedbackRequest(
            request_id=unique(), user_id=self.user_id, recall_id=recalled.recall_id, value=value
        )
        await self._gateway.memory.Feedback(request)

    async def create(self, kind: pb.ProcedureKind, trigger: str, action: str, **fields: object) -> pb.Procedure:
        request = pb.CreateProcedureRequest(
            request_id=unique(),
            user_id=self.user_id,
            kind=kind,
            trigger=trigger,
            action=action,
            **fields,  # type: ignore[arg-type]
        )
        created: pb.CreateProcedureResponse = await self._procedures.CreateProcedure(request)
        return created.procedure

    async def procedures(self) -> list[pb.Procedure]:
        found = await self._procedures.ListProcedures(pb.ListProceduresRequest(user_id=self.user_id))
        return list(found.procedures)

    async def settled(self, *counts: tuple[int, int]) -> list[pb.Procedure]:
        """Waits until the procedures have so many successes and failures."""

        async def is_there() -> bool:
            found = await self.procedures()
            return sorted((p.success_count, p.failure_count) for p in found) == sorted(counts)

        await until(is_there)
        return await self.procedures()

    async def say(self, text: str) -> str:
        turn = common_pb2.Turn(role=common_pb2.MESSAGE_ROLE_USER, content=text)
        written = await self._gateway.memory.Remember(
            memory_pb2.RememberRequest(user_id=self.user_id, conversation_id="c1", turns=[turn])
        )
        await self.recall(text, consistency_token=written.consistency_token)
        said: str = written.interactions[0].interaction_id
        return said


@pytest.fixture
def agent(gateway: Stubs, user_id: str) -> Agent:
    return Agent(gateway, user_id)


async def test_spec_3_9_the_worked_example_from_end_to_end(agent: Agent) -> None:
    await agent.say("I collected three papers on machine learning in March.")
    await agent.judge(await agent.recall("ML papers"), BAD)
    rephrased = await agent.recall("machine learning papers")
    await agent.judge(rephrased, GOOD)
    [learned] = await agent.settled((1, 0))
    assert (learned.trigger, learned.action, learned.origin) == (
        "ML",
        "machine learning",
        pb.PROCEDURE_ORIGIN_REPHRASED,
    )
    assert learned.confidence == pytest.approx(0.73)

    second = await agent.recall("ML algorithms")
    assert second.reading.rewritten_query == second.reading.embedded_query == "machine learning algorithms"
    [applied] = second.reading.applied_patterns
    assert (applied.procedure_id, applied.pattern, applied.replacement) == (
        learned.procedure_id,
        "ML",
        "machine learning",
    )
    await agent.judge(second, GOOD)
    [learned] = await agent.settled((2, 0))
    assert learned.confidence == 1.0

    third = await agent.recall("ML history")
    assert third.reading.rewritten_query == "machine learning history"
    await agent.judge(third, BAD)
    await agent.judge(third, BAD)  # counts once
    [learned] = await agent.settled((2, 1))
    assert learned.confidence == pytest.approx(2 / 3)
    await agent.judge(third, NONE)  # taken back
    await agent.settled((2, 0))


async def test_spec_5_9_procedures_stand_in_contexts_of_tasks_that_need_them(gateway: Stubs, agent: Agent) -> None:
    fix = await agent.create(pb.PROCEDURE_KIND_ERROR_FIX, "connection refused", "Start the database first.")
    await agent.create(pb.PROCEDURE_KIND_RETRIEVAL_STRATEGY, "", "plain")

    async def build(task_type: recall_pb2.TaskType) -> context_pb2.BuildContextResponse:
        built: context_pb2.BuildContextResponse = await gateway.memory.BuildContext(
            context_pb2.BuildContextRequest(
                user_id=agent.user_id, query="Why is the connection refused?", task_type=task_type
            )
        )
        return built

    debugging = await build(recall_pb2.TASK_TYPE_DEBUGGING)
    assert "## Learned procedures\n- connection refused: Start the database first." in debugging.text
    assert fix.procedure_id in {p.procedure_id for p in debugging.reading.applied_patterns}
    factual = await build(recall_pb2.TASK_TYPE_FACTUAL)
    assert "Start the database" not in str(factual)


async def test_spec_3_9_an_abbreviation_that_a_turn_defines_is_expanded_and_erased_with_the_turn(
    gateway: Stubs, agent: Agent
) -> None:
    turn = await agent.say("I work on quality assurance (QA) at the bakery.")
    [defined] = await agent.settled((0, 0))
    assert (defined.origin, list(defined.derived_from)) == (pb.PROCEDURE_ORIGIN_DEFINED, [turn])
    assert (await agent.recall("QA work")).reading.rewritten_query == "QA quality assurance work"
    await agent.create(pb.PROCEDURE_KIND_RESPONSE_FORMATTING, "", "Use bullet points.")
    erase = erasure_pb2.EraseRequest(request_id=unique(), user_id=agent.user_id, conversation_id="c1")
    erased = (await gateway.erasures.Erase(erase)).erasure

    async def is_done() -> bool:
        reading = erasure_pb2.GetErasureRequest(erasure_id=erased.erasure_id)
        return bool((await gateway.erasures.GetErasure(reading)).erasure.state == erasure_pb2.ERASURE_STATE_DONE)

    await until(is_done)
    assert [p.action for p in await agent.procedures()] == ["Use bullet points."]
    assert (await agent.recall("QA work")).reading.rewritten_query == ""


async def test_spec_3_9_a_stated_rewriting_holds_at_once_and_in_its_scope_alone(agent: Agent) -> None:
    project = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
    assert (await agent.recall("ML papers")).reading.rewritten_query == ""
    await agent.create(pb.PROCEDURE_KIND_QUERY_REWRITING, "ML", "maximum likelihood", scope=project)
    assert (await agent.recall("ML papers")).reading.rewritten_query == ""
    assert (await agent.recall("ML papers", scope=project)).reading.rewritten_query == "maximum likelihood papers"
