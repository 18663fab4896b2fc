"""Two processes of every service on production engines answer as one, also while some of them stop."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from bench.mixed_load import MixedLoad
from bench.replicas import SERVICES, Replicas, running_replicas
from mneme_client import Client, Scope, ScopeLevel
from tests.golden.transcript import Transcript, differences, recorded
from tests.support.production import ProductionEngines
from tests.support.stack import UNLINKED_BY_USE, until

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.ci("starts eleven processes and three engines, and restarts them under load"),
    pytest.mark.skipif("MNEME_REPLICAS_KILLS" not in os.environ, reason="a proof of its own: make replicas-e2e"),
]

CALLS_PER_SECOND: Final = float(os.environ.get("MNEME_REPLICAS_CALLS_PER_SECOND", "10"))
KILLS: Final = int(os.environ.get("MNEME_REPLICAS_KILLS", "3"))
PROJECT, OTHER = Scope(ScopeLevel.PROJECT, "p1"), Scope(ScopeLevel.PROJECT, "p2")
SECONDS: Final = 60.0


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def replicas(
    production_engines: ProductionEngines, tmp_path_factory: pytest.TempPathFactory, model_folder: Path
) -> AsyncIterator[Replicas]:
    """Two of each."""
    variables = {
        **production_engines.group.service_variables(),
        "MNEME_QDRANT_URL": production_engines.qdrant_url,
        "MNEME_EMBEDDING_MODEL_DIR": str(model_folder),
        "MNEME_EMBEDDING_THREADS": "1",
        # A busy machine must not look like a lost server: a service that starts without its engine ends.
        "MNEME_NEO4J__ACQUIRE_TIMEOUT_SECONDS": "60",
        "MNEME_NEO4J__CONNECT_TIMEOUT_SECONDS": "60",
        "MNEME_POSTGRES__CONNECT_TIMEOUT_SECONDS": "60",
        **UNLINKED_BY_USE,
    }
    async with running_replicas(tmp_path_factory.mktemp("replicas"), variables) as started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def pair(replicas: Replicas) -> AsyncIterator[tuple[Client, Client]]:
    """A client of each gateway, which in turn spreads its calls over the tiers."""
    first, second = replicas.gateways
    async with (
        Client(first, default_timeout_seconds=SECONDS) as one,
        Client(second, default_timeout_seconds=SECONDS) as other,
    ):
        yield one, other


async def contents(
    client: Client, user_id: str, query: str, *, scope: Scope | None = None, token: str = ""
) -> set[str]:
    """Turns that a recall finds."""
    found = await client.recall(user_id, query, scope=scope, consistency_token=token)
    assert not found.degraded
    return {memory.turn.content for memory in found.memories}


async def test_spec_8_5_replicas_answer_as_one_service_does(replicas: Replicas, user_id: str) -> None:
    answers = await Transcript(replicas.target, user_id).replay()
    found = differences(answers, recorded())
    assert not found, "\n".join(found[:40])


async def test_spec_8_5_what_one_gateway_acknowledged_the_other_finds_by_its_token(
    pair: tuple[Client, Client], user_id: str
) -> None:
    for number, (writer, reader) in enumerate(itertools.islice(itertools.cycle(itertools.permutations(pair)), 6)):
        text = f"My locker number {number} is {4000 + number}."
        written = await writer.remember(user_id, f"c{number}", text)
        token = written.consistency_token
        for client in (reader, writer):
            assert text in await contents(client, user_id, f"What is my locker number {number}?", token=token)
        repeated = await reader.remember(user_id, f"c{number}", text, request_id=f"{user_id}-{number}")
        again = await writer.remember(user_id, f"c{number}", text, request_id=f"{user_id}-{number}")
        assert (again.replayed, again.interactions) == (True, repeated.interactions)


async def test_spec_8_5_what_was_erased_or_archived_is_gone_at_every_replica(
    pair: tuple[Client, Client], user_id: str
) -> None:
    one, other = pair
    question = "Where do I spend my holidays?"
    texts = [f"I spend my holidays in {place}." for place in ("Bergen", "Ghent", "Porto")]
    ids = []
    for number, text in enumerate(texts):
        written = await one.remember(user_id, f"c{number}", text)
        ids.append(written.interactions[0].interaction_id)
        for client in pair * 2:  # by both replicas of the tier, so that all caches hold it
            assert text in await contents(client, user_id, question, token=written.consistency_token)
    await one.archive_episodes(user_id, [ids[0]])
    await other.erase_memories(user_id, [ids[1]])
    for client in pair * 4:
        assert await contents(client, user_id, question) == {texts[2]}
    await other.restore_episodes(user_id, [ids[0]])
    await until(lambda: _sees(one, user_id, question, texts[0]), timeout_seconds=SECONDS)
    await until(lambda: _sees(other, user_id, question, texts[0]), timeout_seconds=SECONDS)
    await one.erase_user(user_id)
    for client in pair * 4:
        assert await contents(client, user_id, question) == set()


async def _sees(client: Client, user_id: str, question: str, text: str) -> bool:
    return text in await contents(client, user_id, question)


async def test_spec_8_5_a_grant_that_was_revoked_at_one_gateway_ends_at_the_other(
    pair: tuple[Client, Client], user_id: str
) -> None:
    one, other = pair
    written = await one.remember(user_id, "c1", "The project is called Heron.", scope=OTHER)
    await other.wait_until_visible(user_id, written.consistency_token)
    question, text = "What is the project called?", "The project is called Heron."
    assert text not in await contents(other, user_id, question, scope=PROJECT)
    grant = await one.create_grant(user_id, from_scope=OTHER, to_scope=PROJECT)

    async def is_seen(client: Client) -> bool:
        return text in await contents(client, user_id, question, scope=PROJECT)

    async def is_hidden(client: Client) -> bool:
        return not await is_seen(client)

    assert await is_seen(one)
    await until(lambda: is_seen(other), timeout_seconds=SECONDS)
    await one.revoke_grant(user_id, grant.grant_id)
    assert await is_hidden(one)
    await until(lambda: is_hidden(other), timeout_seconds=SECONDS)  # it reads grants again after seconds
    assert await is_hidden(one)


async def test_spec_8_5_a_session_is_the_same_at_every_replica(pair: tuple[Client, Client], user_id: str) -> None:
    await pair[0].create_session(user_id, "s1", window_turns=6)
    for number in range(10):
        await pair[number % 2].append_turns(user_id, "s1", f"turn {number}")
    for client in pair * 4:
        window = await client.get_session(user_id, "s1")
        assert [turn.turn.content for turn in window.turns] == [f"turn {number}" for number in range(4, 10)]


async def stored(client: Client, load: MixedLoad) -> list[str]:
    """Acknowledged turns that are not in the conversation log just once."""
    wrong = []
    for (user, conversation), text in load.acknowledged.items():
        found = [one.turn.content async for one in client.list_interactions(user, conversation)]
        if found != [text]:
            wrong.append(f"{conversation}: {len(found)} turns")
    return wrong


async def test_spec_8_5_replicas_that_are_killed_at_random_cost_no_call(replicas: Replicas) -> None:
    load, choices = MixedLoad(replicas.target, CALLS_PER_SECOND, seed=7), random.Random(7)
    async with load.running() as client:
        for _ in range(KILLS):
            killed = choices.choice(replicas.by_service[choices.choice(SERVICES)])
            await asyncio.sleep(choices.random())  # a moment of the load
            await killed.stop(signal.SIGKILL)
            await killed.start()
    assert load.failures == []
    async with Client(replicas.target, default_timeout_seconds=SECONDS) as client:
        assert await stored(client, load) == []
    assert len(load.acknowledged) > 0


async def test_spec_8_5_a_rolling_restart_of_every_service_costs_no_call(replicas: Replicas) -> None:
    load = MixedLoad(replicas.target, CALLS_PER_SECOND, seed=8)
    async with load.running() as client:
        for service in SERVICES:
            for replica in replicas.by_service[service]:
                await replica.stop()
                await replica.start()
    assert load.failures == []
    async with Client(replicas.target, default_timeout_seconds=SECONDS) as client:
        assert await stored(client, load) == []
