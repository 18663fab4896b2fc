"""Two embedding models compared on facts, through the served tier."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import grpc
import pytest

from mneme.common.v1 import common_pb2
from mneme.common.v1.model_comparison_pb2 import ComparedQuestion
from mneme.semantic.v1 import facts_pb2 as pb
from services.common.embedding.vectors import Vector
from tests.servicer.semantic.conftest import ANN, OTHER_TENANT, READER, Running
from tests.support.embedding import HashingEmbedder

SECOND = HashingEmbedder(32, "second")


class LaterWords(HashingEmbedder):
    """A model to which the last word of a text alone means anything."""

    def vector(self, text: str) -> Vector:
        return super().vector(text.rstrip("?.").rpartition(" ")[2])


async def stated(running: Running, text: str, scope: common_pb2.Scope | None = None) -> str:
    request = pb.CreateFactRequest(
        request_id=text, user_id="ann", text=text, category=pb.FACT_CATEGORY_CONTEXT, scope=scope
    )
    created: pb.CreateFactResponse = await running.facts.CreateFact(request, metadata=ANN)
    return created.fact.fact_id


def asked(*questions: ComparedQuestion, user_id: str = "ann") -> pb.GetFactModelComparisonRequest:
    return pb.GetFactModelComparisonRequest(user_id=user_id, questions=questions)


class TestWithASecondModel:
    @pytest.fixture
    def second_embedder(self) -> HashingEmbedder:
        return LaterWords(32, "second")

    async def test_spec_8_4_facts_that_both_models_find_are_counted(self, running: Running) -> None:
        ids = [await stated(running, f"Ann has a thing number {n} in box{n}") for n in range(12)]
        private = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
        await stated(running, "Ann keeps a secret in box99", private)
        await running.facts.DeleteFact(
            pb.DeleteFactRequest(request_id="d", user_id="ann", fact_id=ids.pop()), metadata=ANN
        )
        right = [ids[3].upper(), str(uuid.uuid4())]
        response = await running.facts.GetFactModelComparison(
            asked(ComparedQuestion(query="What is in box3?", relevant_ids=right), ComparedQuestion(query="box99")),
            metadata=READER,
        )
        assert (response.compared_count, response.truncated) == (11, False)
        assert (response.first_model, response.second_model) == (running.embedder.fingerprint, SECOND.fingerprint)
        first, other = response.questions
        assert (first.first_recall, first.second_recall) == (1.0, 1.0)
        assert 0.9 <= first.overlap <= 1.0
        assert not other.HasField("first_recall")

    async def test_spec_8_4_a_right_fact_that_one_model_misses_lowers_its_recall(self, running: Running) -> None:
        # The first model is drawn to the words that the others share with the question.
        for n in range(10):
            await stated(running, f"Where the keys to the cellar are asked on day{n}")
        wanted = await stated(running, "A hook in the kitchen holds what opens the cellar")
        question = ComparedQuestion(query="Where are the keys to the cellar", relevant_ids=[wanted])
        response = await running.facts.GetFactModelComparison(asked(question), metadata=READER)
        [found] = response.questions
        assert (found.first_recall, found.second_recall) == (0.0, 1.0)
        assert found.overlap == pytest.approx(0.9)

    async def test_spec_7_1_facts_of_others_are_not_compared(self, running: Running) -> None:
        wanted = await stated(running, "Ann has a boat")
        question = ComparedQuestion(query="boat", relevant_ids=[wanted])
        response = await running.facts.GetFactModelComparison(asked(question), metadata=OTHER_TENANT)
        assert (response.compared_count, response.questions[0].overlap) == (0, 1.0)
        assert not response.questions[0].HasField("first_recall")

    @pytest.mark.parametrize(
        "questions",
        [
            [],
            [ComparedQuestion(query=" ")],
            [ComparedQuestion(query="x" * 8_001)],
            [ComparedQuestion(query="tea", relevant_ids=["no id"])],
            [ComparedQuestion(query="tea", relevant_ids=[str(uuid.uuid4())] * 201)],
            [ComparedQuestion(query="tea")] * 51,
        ],
        ids=["none", "empty", "long", "no id", "many ids", "many"],
    )
    async def test_spec_7_2_bad_questions_are_refused(
        self, running: Running, questions: Sequence[ComparedQuestion]
    ) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await running.facts.GetFactModelComparison(asked(*questions), metadata=READER)
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_spec_8_4_without_a_second_model_the_call_is_refused(running: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await running.facts.GetFactModelComparison(asked(ComparedQuestion(query="tea")), metadata=READER)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
