"""Summaries of a language model through the served tier."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mneme.common.v1 import common_pb2
from mneme.episodic.v1 import episodic_pb2 as pb
from services.common.language_model.openai_compatible import OpenAILanguageModel
from services.common.language_model.port import LanguageModel, LanguageModelSettings
from services.common.summaries import Summariser
from services.common.tokens import token_counter
from tests.servicer.episodic.calls import new, store, uid
from tests.servicer.episodic.conftest import Client
from tests.support.language_model import FakeEndpoint, fake_endpoint
from tests.support.stack import until
from tests.support.summaries import LONG, SUMMARY, response

CHOSEN = Summariser(token_counter()).summarise(LONG)


@pytest.fixture
async def endpoint() -> AsyncIterator[FakeEndpoint]:
    async with fake_endpoint() as opened:
        yield opened


@pytest.fixture
async def language_model(endpoint: FakeEndpoint) -> AsyncIterator[LanguageModel]:
    model = OpenAILanguageModel(endpoint.url, "m", settings=LanguageModelSettings())
    yield model
    await model.aclose()


async def summaries(client: Client, *numbers: int) -> list[str]:
    request = pb.BatchGetEpisodesRequest(user_id="ann", episode_ids=[uid(number) for number in numbers])
    found: Any = await client.call("BatchGetEpisodes", request)
    return [episode.summary for episode in found.episodes]


async def test_spec_2_4_a_long_episode_has_the_summary_of_the_language_model(
    endpoint: FakeEndpoint, client: Client
) -> None:
    endpoint.content = response(SUMMARY)
    assert token_counter().count_tokens(LONG) > 300
    await store(client, new(1, LONG), new(2, "short"))

    async def is_written() -> bool:
        return await summaries(client, 1, 2) == [SUMMARY, ""]

    await until(is_written)
    assert len(endpoint.requests) == 1, "a short episode is its own summary"


async def test_spec_2_4_an_episode_does_not_wait_for_its_summary(endpoint: FakeEndpoint, client: Client) -> None:
    endpoint.hangs = True
    (result,) = await store(client, new(1, LONG, role=common_pb2.MESSAGE_ROLE_ASSISTANT))
    assert result.response.status == pb.EPISODE_STATUS_ACTIVE

    async def is_asked() -> bool:
        return bool(endpoint.requests)

    await until(is_asked)
    assert await summaries(client, 1) == [CHOSEN]
