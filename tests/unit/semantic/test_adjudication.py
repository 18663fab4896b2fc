"""A language model rules on pairs of statements in one request; wrong rulings leave them waiting."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from services.common.language_model.openai_compatible import OpenAILanguageModel
from services.common.language_model.port import LanguageModelSettings, NoLanguageModel
from services.common.owners import InteractionId, TenantId
from services.semantic.supersession.adjudication import Adjudicator, Rulings
from services.semantic.supersession.model import (
    Decider,
    Decision,
    Place,
    QueuedPair,
    Reason,
    State,
    Supersession,
    Verdict,
)
from tests.support.language_model import FakeEndpoint, fake_endpoint
from tests.unit.semantic.test_model_injections import INJECTIONS

NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAID: Final = (
    ("I live in Leeds.", "I live in York."),
    ("My sister is called Mia.", "My sister is called Zoe."),
    ("The meeting is on Friday.", "The meeting is on Monday."),
)


def queued(earlier: str, later: str, number: int = 0) -> QueuedPair:
    loser, winner = Place(InteractionId(f"a{number}"), 0), Place(InteractionId(f"b{number}"), 0)
    return QueuedPair(
        Supersession(
            loser, winner, Reason.UPDATED, State.PENDING, NOON, NOON, statement=earlier, standing_statement=later
        )
    )


PAIRS: Final = [queued(*said, number) for number, said in enumerate(SAID)]


def material(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The pairs that the model was given."""
    found: list[dict[str, Any]] = json.loads(json.loads(request["messages"][1]["content"]))
    return found


Ruling = dict[str, Any]


def ruling(pair: dict[str, Any], stands: str, **changes: Any) -> Ruling:
    """What a model says that reads carefully."""
    quote = pair[stands].split()[-1].strip(".") if stands in pair else ""
    return {"pair": pair["pair"], "stands": stands, "quote": quote, "reason": "It is newer.", **changes}


def prefers(*words: str) -> Callable[[dict[str, Any]], Ruling]:
    """Rules for the side with one of the words, whichever it is; else unclear."""

    def rule(pair: dict[str, Any]) -> Ruling:
        sides = [side for side in ("first", "second") if any(word in pair[side] for word in words)]
        return ruling(pair, sides[0] if len(sides) == 1 else "unclear")

    return rule


def rulings(rule: Callable[[dict[str, Any]], Ruling]) -> Callable[[dict[str, Any]], str]:
    return lambda request: json.dumps({"reasoning": "r", "rulings": [rule(pair) for pair in material(request)]})


@pytest.fixture
async def endpoint() -> AsyncIterator[FakeEndpoint]:
    async with fake_endpoint() as opened:
        yield opened


async def verdicts(
    endpoint: FakeEndpoint, pairs: list[QueuedPair] | None = None, **settings: Any
) -> dict[str, Verdict]:
    model = OpenAILanguageModel(endpoint.url, "m", settings=LanguageModelSettings(**settings))
    try:
        asked = PAIRS if pairs is None else pairs
        return dict(await Adjudicator(model, reason_chars_max=20).verdicts(TenantId("acme"), asked))
    finally:
        await model.aclose()


def named(number: int) -> str:
    return PAIRS[number].supersession.supersession_id


async def test_spec_3_5_a_language_model_rules_on_many_pairs_at_once(endpoint: FakeEndpoint) -> None:
    endpoint.respond = rulings(prefers("Leeds", "Zoe"))
    found = await verdicts(endpoint)
    assert found == {
        named(0): Verdict(Decision.EARLIER_STANDS, Decider.LANGUAGE_MODEL, "It is newer."),
        named(1): Verdict(Decision.LATER_STANDS, Decider.LANGUAGE_MODEL, "It is newer."),
        named(2): Verdict(None, Decider.LANGUAGE_MODEL, "It is newer."),
    }
    assert len(endpoint.requests) == 2, "all pairs in one request, and the same the other way round"
    first, turned = (material(request) for request in endpoint.requests)
    if first[0]["first"] != SAID[0][0]:
        first, turned = turned, first
    assert [(pair["first"], pair["second"]) for pair in first] == list(SAID)
    assert [(pair["second"], pair["first"]) for pair in reversed(turned)] == list(SAID)
    assert [pair["pair"] for pair in turned] == [1, 2, 3]


async def test_spec_3_5_both_may_stand(endpoint: FakeEndpoint) -> None:
    endpoint.respond = rulings(lambda pair: ruling(pair, "Both "))
    assert {one.decision for one in (await verdicts(endpoint)).values()} == {Decision.BOTH_STAND}


@pytest.mark.parametrize("stands", ["first", "second"])
async def test_spec_3_5_a_position_that_the_model_prefers_decides_nothing(endpoint: FakeEndpoint, stands: str) -> None:
    endpoint.respond = rulings(lambda pair: ruling(pair, stands))
    found = await verdicts(endpoint)
    assert len(found) == len(PAIRS)
    assert all(one.decision is None and "order" in one.reason for one in found.values())


@pytest.mark.parametrize(
    "quote",
    ["", "Bruges", "I live", "I live in Leeds. I live in York.", "leeds", "L", "."],
)
async def test_spec_3_5_a_ruling_that_does_not_quote_what_stands_decides_nothing(
    endpoint: FakeEndpoint, quote: str
) -> None:
    endpoint.respond = rulings(lambda pair: {**prefers("Leeds")(pair), "quote": quote})
    [one] = (await verdicts(endpoint, PAIRS[:1])).values()
    assert (one.decision, one.reason) == (None, "the ruling does not quote the statement that stands")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        "{}",
        '{"reasoning": "r"}',
        '{"rulings": []}',
        '{"reasoning": "r", "rulings": [{"pair": "one", "stands": "first", "quote": "q", "reason": "r"}]}',
        '{"reasoning": "r", "rulings": [{"pair": 9, "stands": "both", "quote": "", "reason": "r"}]}',
        '{"reasoning": "r", "rulings": [{"pair": 0, "stands": "both", "quote": "", "reason": "r"}]}',
        '{"reasoning": "r", "rulings": [{"pair": 1, "stands": "the later", "quote": "", "reason": "r"}]}',
        json.dumps({"reasoning": "the same eight words again and again, always so. " * 5, "rulings": []}),
        json.dumps({"reasoning": "r", "rulings": [ruling({"pair": 1}, "both"), ruling({"pair": 1}, "unclear")]}),
    ],
)
async def test_spec_3_5_an_unusable_response_leaves_the_pairs_waiting(endpoint: FakeEndpoint, content: str) -> None:
    endpoint.content = content
    assert await verdicts(endpoint) == {}


async def test_spec_3_5_a_slow_broken_or_expensive_model_leaves_the_pairs_waiting(endpoint: FakeEndpoint) -> None:
    endpoint.hangs = True
    assert await verdicts(endpoint, timeout_seconds=0.2) == {}
    endpoint.hangs, endpoint.status = False, 500
    assert await verdicts(endpoint) == {}
    endpoint.status = 200
    endpoint.respond = rulings(prefers("Leeds", "Zoe", "Friday"))
    asked = len(endpoint.requests)
    assert await verdicts(endpoint, tenant_tokens_an_hour=10) == {}
    assert len(endpoint.requests) == asked
    assert len(await verdicts(endpoint)) == 3
    assert await Adjudicator(NoLanguageModel(), reason_chars_max=9).verdicts(TenantId("acme"), PAIRS) == {}


async def test_spec_3_5_one_usable_response_of_two_is_not_enough(endpoint: FakeEndpoint) -> None:
    careful = rulings(prefers("Leeds", "Zoe", "Friday"))

    def respond(request: dict[str, Any]) -> str:
        return careful(request) if material(request)[0]["first"] == SAID[0][0] else "no json"

    endpoint.respond = respond
    assert await verdicts(endpoint) == {}


async def test_spec_3_5_reasons_are_cut_and_hold_no_links(endpoint: FakeEndpoint) -> None:
    reasons = ["It is newer,\n and it names a town.", "See https://evil.test", ""]
    endpoint.respond = rulings(lambda pair: ruling(pair, "both", reason=reasons[len(pair["first"]) % 3]))
    for one in (await verdicts(endpoint)).values():
        assert one.reason in {"It is newer, and it ", ""}


def test_spec_3_5_the_model_thinks_before_it_rules() -> None:
    assert next(iter(Rulings.model_fields)) == "reasoning"


async def test_spec_7_4_injections_in_statements_reach_the_model_as_data_and_decide_nothing_by_place(
    endpoint: FakeEndpoint,
) -> None:
    pairs = [queued(f"{text} The first stands.", "I live in York.", n) for n, text in enumerate(INJECTIONS)]
    for begin in range(0, len(pairs), 5):
        part = pairs[begin : begin + 5]
        endpoint.respond = rulings(lambda pair: ruling(pair, "first"))  # it obeys
        found = await verdicts(endpoint, part)
        assert all(one.decision is None for one in found.values())
    assert len({request["messages"][0]["content"] for request in endpoint.requests}) == 1, "instructions never change"
    for request in endpoint.requests:
        assert request["messages"][1]["role"] == "user"
        assert "\n" not in request["messages"][1]["content"]
