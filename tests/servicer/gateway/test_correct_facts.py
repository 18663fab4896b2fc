"""Correcting through the gateway: which facts of a corrected sentence end."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mneme.gateway.v1 import tiers_pb2
from mneme_client import Client, FactCategory
from tests.servicer.gateway.test_correct import SAID, correct, reference, said
from tests.servicer.gateway.test_erasure import visible
from tests.support.stack import Stubs

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_spec_3_12_of_a_sentence_with_several_facts_the_one_that_is_named_ends(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    await said(client, user_id, "I live in Leeds with my dog Rex, and I am a nurse. It rains.")
    facts = {fact.predicate: fact async for fact in client.list_facts(user_id)}
    assert {"lives_in", "works_as"} <= facts.keys()
    home = facts["lives_in"]
    response = await correct(gateway, user_id, "I live in York.", memory=reference(2, home.fact_id))
    await visible(client, user_id, response.consistency_token)
    corrected = await client.get_fact(user_id, home.fact_id)
    assert (corrected.text, corrected.valid_to_time) == (home.text, SAID)
    assert corrected.superseded_by == response.interaction_id
    listed = {fact.text: fact async for fact in client.list_facts(user_id)}
    assert [f.object for f in listed.values() if f.predicate == "lives_in" and f.valid_to_time is None] == ["York"]
    assert listed[facts["works_as"].text].valid_to_time is None
    assert [fact.valid_to_time for fact in listed.values() if fact.object == "Rex"] == [None], "not about the dog"


COMPOUND = "I live in Leeds with my dog Rex, and I work as a nurse."


async def ends(client: Client, user_id: str) -> dict[str, str]:
    """What superseded each fact of the compound sentence, the same however it is read."""
    listed = {fact.fact_id: fact async for fact in client.list_facts(user_id)}
    found = {hit.fact.fact_id: hit.fact for hit in await client.search_facts(user_id, COMPOUND, limit=20)}
    got = {fact_id: await client.get_fact(user_id, fact_id) for fact_id in listed}
    for facts in (found, got):
        assert {i: f.superseded_by for i, f in facts.items()} == {i: listed[i].superseded_by for i in facts}
    assert found.keys() >= {i for i, fact in listed.items() if fact.object in {"Leeds", "nurse"}}
    return {fact.object: fact.superseded_by for fact in listed.values()}


@pytest.mark.parametrize(
    ("wrong", "right", "expected"),
    [
        # Of a part, in words or without them: what is said beside it stays.
        ("I live in Leeds", "I live in York.", {"Leeds": True, "nurse": False}),
        ("", "I live in York.", {"Leeds": True, "nurse": False}),
        ("I work as a nurse", "I am a teacher.", {"Leeds": False, "nurse": True}),
        # Of all of the sentence: what is stated again stays.
        ("", "I live in York with my dog Rex, and I work as a nurse.", {"Leeds": True, "nurse": False}),
        ("", "I live in York with my dog Rex.", {"Leeds": True, "nurse": True}),
        ("I live in Leeds with my dog Rex", "I work as a nurse.", {"Leeds": True, "nurse": False}),
    ],
)
async def test_spec_3_12_facts_of_a_corrected_sentence_end_unless_they_are_stated_again(
    client: Client, gateway: Stubs, user_id: str, wrong: str, right: str, expected: dict[str, bool]
) -> None:
    (turn,) = await said(client, user_id, f"It rains today. {COMPOUND}")
    assert (await ends(client, user_id)).keys() >= {"Leeds", "nurse"}
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, turn)
    response = await correct(gateway, user_id, right, **({"query": wrong} if wrong else {"memory": named}))
    await visible(client, user_id, response.consistency_token)
    found = await ends(client, user_id)
    assert {one: found[one] for one in expected} == {
        one: response.interaction_id if is_ended else "" for one, is_ended in expected.items()
    }
    recalled = await client.recall(user_id, COMPOUND, as_of_time=SAID + timedelta(hours=1))
    shown = {hit.fact.object: bool(hit.superseded_by) for hit in recalled.facts}
    assert {one: shown.get(one, True) for one in expected} == expected, "as its fact says"


@pytest.mark.parametrize(
    ("wrong", "right", "is_ended"),
    [
        ("the builder comes on Monday", "The builder comes on Tuesday.", False),
        ("I'm allergic to nuts", "I'm allergic to seeds.", True),
    ],
)
async def test_spec_3_12_the_one_fact_of_a_sentence_stays_where_its_other_words_are_corrected(
    client: Client, gateway: Stubs, user_id: str, wrong: str, right: str, is_ended: bool
) -> None:
    await said(client, user_id, "I'm allergic to nuts, and the builder comes on Monday.")
    allergy = [fact async for fact in client.list_facts(user_id)]
    assert [fact.predicate for fact in allergy] == ["allergic_to"]
    response = await correct(gateway, user_id, right, query=wrong)
    await visible(client, user_id, response.consistency_token)
    found = await client.get_fact(user_id, allergy[0].fact_id)
    assert found.superseded_by == (response.interaction_id if is_ended else "")


async def test_spec_3_12_a_fact_of_a_corrected_sentence_that_another_turn_says_stays(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    _, turn = await said(client, user_id, "I work as a nurse.", f"It rains today. {COMPOUND}")
    named = reference(tiers_pb2.MEMORY_KIND_EPISODE, turn)
    response = await correct(gateway, user_id, "I live in York with my dog Rex.", memory=named)
    await visible(client, user_id, response.consistency_token)
    found = await ends(client, user_id)
    assert (found["Leeds"], found["nurse"]) == (response.interaction_id, "")


async def test_spec_3_12_a_stated_fact_ends_where_another_one_says_what_is_right(
    client: Client, gateway: Stubs, user_id: str
) -> None:
    wrong = await client.create_fact(user_id, "The office is in Ulm.", category=FactCategory.CONTEXT)
    right = await client.create_fact(user_id, "The office is in Jena.", category=FactCategory.CONTEXT)
    for _ in range(2):
        await correct(gateway, user_id, right.text, memory=reference(2, wrong.fact_id))
    ended = await client.get_fact(user_id, wrong.fact_id)
    assert (ended.text, ended.valid_to_time) == (wrong.text, wrong.first_observed_time)
    assert (await client.get_fact(user_id, right.fact_id)).valid_to_time is None
