"""Questions that were judged, and what was learned from them, go with the memories that answered them."""

from __future__ import annotations

import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import erasure_pb2
from mneme_client import Client, FactCategory, FeedbackValue, Scope, ScopeLevel
from tests.servicer.gateway.test_erasure import counts, episodes, erase, remembered, visible
from tests.servicer.gateway.test_forget import forget
from tests.support.encryption import occurrences
from tests.support.stack import RunningStack, Stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

DOCTOR = "My doctor at the Kensington clinic diagnosed me with psoriasis."
CAR = "My car is a Volvo."
BAD = "What did the Kensington clinic say about my psoriasis?"
GOOD = "What did the Kensington clinic find about my skin disease psoriasis?"
_PROJECT = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")


async def judged(client: Client, user_id: str) -> None:
    """A bad and a good recall, from which a rewriting is learned, and one of something else."""
    for question, value in ((BAD, FeedbackValue.BAD), (GOOD, FeedbackValue.GOOD)):
        found = await client.recall(user_id, question, scope=Scope(ScopeLevel.PROJECT, "p1"))
        assert DOCTOR in {memory.text for memory in found.memories}
        await client.feedback(user_id, value, recall_id=found.recall_id)

    async def is_learned() -> bool:
        return bool([procedure async for procedure in client.list_procedures(user_id)])

    await until(is_learned)


async def exported(client: Client, user_id: str) -> str:
    """The export of the user."""
    return b"".join([part async for part in client.export_user(user_id)]).decode()


@pytest.mark.parametrize("way", ["forget", "memory", "conversation", "scope", "user"])
async def test_spec_6_6_questions_and_what_was_learned_from_them_go_with_what_answered_them(
    stack: RunningStack, client: Client, gateway: Stubs, user_id: str, way: str
) -> None:
    scope = Scope(ScopeLevel.PROJECT, "p1")
    written = await client.remember(user_id, "c1", [DOCTOR], scope=scope)
    await visible(client, user_id, written.consistency_token)
    await remembered(client, user_id, CAR, conversation="c2")
    await judged(client, user_id)
    assert BAD in await exported(client, user_id)
    if way == "forget":
        response = await forget(gateway, user_id, "psoriasis at the Kensington clinic")
        assert counts(response.erasure, "SEMANTIC")["queries"] == 2
    else:
        targets: dict[str, dict[str, object]] = {
            "memory": {"memories": episodes(*(one.interaction_id for one in written.interactions))},
            "conversation": {"conversation_id": "c1"},
            "scope": {"scope": erasure_pb2.ScopeTarget(scope=_PROJECT)},
            "user": {"all_of_user": True},
        }
        await erase(gateway, user_id=user_id, **targets[way])
    left = await exported(client, user_id)
    assert ("psoriasis" in left, "Kensington" in left, "skin disease" in left) == (False, False, False)
    assert [procedure async for procedure in client.list_procedures(user_id)] == []
    superuser = stack.services.postgres_dsn.replace("mneme_app", "postgres", 1)
    for words in (BAD, GOOD):
        tables = await occurrences(superuser, words, schemas=["gateway", "semantic", "episodic", "agentic"])
        assert [table for table in tables if "judged" in table or "procedures" in table] == []


async def test_spec_3_13_a_question_whose_fact_alone_is_erased_goes_as_well(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    fact = await client.create_fact(user_id, "Ada is treated for psoriasis", FactCategory.PERSONAL_INFO)
    found = await client.recall(user_id, "What is Ada treated for?")
    assert [one.fact.fact_id for one in found.facts] == [fact.fact_id]
    await client.feedback(user_id, FeedbackValue.GOOD, recall_id=found.recall_id)

    async def is_stored() -> bool:
        return "semantic.judged_recalls" in await exported(client, user_id)

    await until(is_stored)
    await forget(gateway, user_id, "psoriasis")
    assert "treated" not in await exported(client, user_id)
