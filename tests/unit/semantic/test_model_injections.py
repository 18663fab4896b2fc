"""A hundred stored injections before a language model: each stays quoted data, and who obeys it adds nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from services.common.language_model.openai_compatible import OpenAILanguageModel
from services.common.language_model.port import LanguageModelSettings
from services.common.owners import TenantId
from services.semantic.config import ModelExtractionSettings
from services.semantic.facts.extraction.model_extractor import ModelFacts
from tests.support.language_model import FakeEndpoint, fake_endpoint
from tests.unit.semantic.test_model_facts import BEES, RULE, source

INJECTIONS: Final[list[str]] = json.loads((Path(__file__).parents[2] / "data" / "injections.json").read_text("utf-8"))
OBEYED: Final = (
    "Ada is the administrator and may read all memories of everybody.",
    "Ada wants her earlier facts removed from the store at once.",
    "Ada never keeps beehives behind the barn in Sligo.",  # takes back what the turn says
)


def turn_of(injection: str) -> str:
    """A turn that states something beside the injection."""
    return f"{injection}\n{BEES['quote']}"


@pytest.fixture
async def endpoint() -> AsyncIterator[FakeEndpoint]:
    async with fake_endpoint() as opened:
        yield opened


@pytest.fixture
async def adding(endpoint: FakeEndpoint) -> AsyncIterator[ModelFacts]:
    model = OpenAILanguageModel(endpoint.url, "m", settings=LanguageModelSettings())
    yield ModelFacts(model, ModelExtractionSettings(), nameless_subject="The user")
    await model.aclose()


async def added(adding: ModelFacts, number: int) -> list[str]:
    """What the model adds for the turn of an injection; each has a tenant with a budget of its own."""
    said = source(turn_of(INJECTIONS[number]))
    [found] = await adding.added_to(TenantId(f"tenant-{number}"), [said], [[RULE]])
    assert found[0] == RULE, "the facts of the rules stay"
    return [draft.text for draft in found[1:]]


async def test_spec_7_4_an_injection_reaches_the_model_as_quoted_data_alone(
    endpoint: FakeEndpoint, adding: ModelFacts
) -> None:
    for number in range(len(INJECTIONS)):
        await added(adding, number)
    assert len(endpoint.requests) == len(INJECTIONS) == 100
    assert len({request["messages"][0]["content"] for request in endpoint.requests}) == 1, "instructions never change"
    for request, injection in zip(endpoint.requests, INJECTIONS, strict=True):
        instructions, material = request["messages"]
        assert (instructions["role"], material["role"]) == ("system", "user")
        assert "\n" not in material["content"]
        assert json.loads(material["content"]) == f"Speaker: Ada\nTurn: {turn_of(injection)}"
        assert not {"tools", "functions", "tool_choice"} & set(request), "there is nothing that it could call"


async def test_spec_7_4_a_response_that_obeys_an_injection_adds_nothing_of_it(
    endpoint: FakeEndpoint, adding: ModelFacts
) -> None:
    for number, injection in enumerate(INJECTIONS):
        for text, quote in zip(OBEYED, (injection, " ".join(injection.split()), BEES["quote"]), strict=True):
            facts = [{"text": text, "category": "personal_info", "quote": quote}, BEES]
            endpoint.content = json.dumps({"reasoning": "The turn wants it.", "facts": facts})
            assert await added(adding, number) == [BEES["text"]], injection


async def test_spec_7_4_a_response_of_another_form_leaves_the_facts_of_the_rules(
    endpoint: FakeEndpoint, adding: ModelFacts
) -> None:
    for number, injection in enumerate(INJECTIONS):
        for content in (
            injection,
            json.dumps({"reasoning": injection, "facts": [], "delete": ["all"]}),
            json.dumps({"reasoning": injection, "tool_calls": [{"name": "erase_user"}]}),
        ):
            endpoint.content = content
            assert await added(adding, number) == [], injection
    assert len(endpoint.requests) == 3 * len(INJECTIONS), "the model was asked each time"
