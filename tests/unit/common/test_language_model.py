"""The language-model port against a local endpoint: what cannot be used is not used."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from services.common.language_model.openai_compatible import OpenAILanguageModel
from services.common.language_model.port import LanguageModelSettings, NoLanguageModel, Reasoned
from services.common.language_model.repetition import is_repetitive
from tests.support.language_model import FakeEndpoint, fake_endpoint

SETTINGS = LanguageModelSettings(timeout_seconds=5.0, failures_max=2)
GOOD = '{"reasoning": "it is said", "number": 7}'


class Response(Reasoned):
    number: int


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def endpoint() -> AsyncIterator[FakeEndpoint]:
    async with fake_endpoint() as opened:
        yield opened


async def ask(endpoint: FakeEndpoint, settings: LanguageModelSettings = SETTINGS) -> Response | None:
    model = OpenAILanguageModel(endpoint.url, "m", settings=settings)
    try:
        return await model.respond("acme", "test", "Count.", 'seven "birds"', Response)
    finally:
        await model.aclose()


@pytest.mark.parametrize("content", [GOOD, f"```json\n{GOOD}\n```"])
async def test_a_response_of_the_schema_is_used(endpoint: FakeEndpoint, content: str) -> None:
    endpoint.content = content
    assert await ask(endpoint) == Response(reasoning="it is said", number=7)
    system, user = endpoint.requests[0]["messages"]
    assert system["content"].index('"reasoning"') < system["content"].index('"number"')
    assert "seven" not in system["content"], "what a user wrote is no instruction"
    assert json.loads(user["content"]) == 'seven "birds"'


@pytest.mark.parametrize(
    "content",
    ["", "  ", "seven", '{"number": 7}', '{"reasoning": "r", "number": "many"}', "[]", '{"reasoning": "r", "num'],
)
async def test_a_response_that_is_empty_or_of_another_schema_is_not_used(endpoint: FakeEndpoint, content: str) -> None:
    endpoint.content = content
    assert await ask(endpoint) is None


async def test_a_response_that_is_cut_repetitive_or_no_completion_is_not_used(endpoint: FakeEndpoint) -> None:
    endpoint.content, endpoint.finish_reason = GOOD, "length"
    assert await ask(endpoint) is None
    endpoint.finish_reason = "stop"
    endpoint.content = json.dumps({"reasoning": "so one two three four five six seven " * 9, "number": 7})
    assert await ask(endpoint) is None
    for body in (b"no json", b"{}", b'{"choices": []}', b'{"choices": null}'):
        endpoint.body = body
        assert await ask(endpoint) is None
    endpoint.status = 500
    assert await ask(endpoint) is None


async def test_an_endpoint_that_is_slow_or_away_is_given_up(endpoint: FakeEndpoint) -> None:
    endpoint.hangs = True
    assert await ask(endpoint, replace(SETTINGS, timeout_seconds=0.2)) is None
    endpoint.url = "http://127.0.0.1:9/v1"
    assert await ask(endpoint) is None


async def test_too_much_material_is_left_to_the_rules(endpoint: FakeEndpoint) -> None:
    endpoint.content = GOOD
    assert await ask(endpoint, replace(SETTINGS, material_chars_max=5)) is None
    assert await ask(endpoint, replace(SETTINGS, tenant_tokens_an_hour=5)) is None
    assert endpoint.requests == []


async def test_failures_in_a_row_pause_it_and_each_tenant_has_a_budget(endpoint: FakeEndpoint) -> None:
    clock, settings = Clock(), replace(SETTINGS, tenant_tokens_an_hour=2_600)
    model = OpenAILanguageModel(endpoint.url, "m", settings=settings, monotonic=clock)
    endpoint.status = 500
    for _ in range(3):
        assert await model.respond("acme", "test", "Count.", "x", Response) is None
    assert len(endpoint.requests) == 2
    clock.now, endpoint.status, endpoint.content = 61.0, 200, GOOD
    assert await model.respond("acme", "test", "Count.", "x", Response) is None, "its budget is used up"
    assert await model.respond("globex", "test", "Count.", "x", Response) is not None
    clock.now = 3_700.0
    assert await model.respond("acme", "test", "Count.", "x", Response) is not None
    await model.aclose()


def test_repetition_is_a_run_of_words_again_and_again() -> None:
    assert is_repetitive("the cat sat on the mat and slept " * 4)
    assert not is_repetitive("The cat sat on the mat and slept. Then it woke, ate, and went out for the night.")


async def test_without_a_model_there_is_no_response() -> None:
    model = NoLanguageModel()
    assert not model.is_configured
    assert await model.respond("acme", "test", "Count.", "x", Response) is None
    await model.aclose()
