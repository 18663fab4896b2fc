"""Two embedding models compared through the served tier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
import pytest

from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.auth import Role
from tests.servicer.episodic.conftest import Client
from tests.support.embedding import HashingEmbedder

SECOND = HashingEmbedder(32, "second")


class TestWithASecondModel:
    @pytest.fixture
    def second_embedder(self) -> HashingEmbedder:
        return SECOND

    async def test_spec_8_4_a_reader_compares_two_models(self, client: Client) -> None:
        request = pb.GetModelComparisonRequest(user_id="ada", questions=[pb.ModelQuestion(query="tea")])
        response: Any = await client.call("GetModelComparison", request, role=Role.READER)
        assert (response.first_model, response.second_model) == (client.embedder.fingerprint, SECOND.fingerprint)
        assert [each.overlap for each in response.questions] == [1.0]
        assert not response.questions[0].HasField("first_recall")

    @pytest.mark.parametrize(
        "questions",
        [
            [],
            [pb.ModelQuestion(query=" ")],
            [pb.ModelQuestion(query="x" * 8_193)],
            [pb.ModelQuestion(query="tea", relevant_episode_ids=["no id"])],
            [pb.ModelQuestion(query="tea")] * 51,
        ],
        ids=["none", "empty", "long", "no id", "many"],
    )
    async def test_spec_7_2_bad_questions_are_refused(
        self, client: Client, questions: Sequence[pb.ModelQuestion]
    ) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await client.call("GetModelComparison", pb.GetModelComparisonRequest(user_id="ada", questions=questions))
        assert refused.value.code() in {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED}


async def test_spec_8_4_without_a_second_model_the_call_is_refused(client: Client) -> None:
    request = pb.GetModelComparisonRequest(user_id="ada", questions=[pb.ModelQuestion(query="tea")])
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await client.call("GetModelComparison", request)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
