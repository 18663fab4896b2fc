"""Summaries of a language model on real stores: nothing is lost, nothing waits, and what was erased is not sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys, PostgresDataKeys
from services.common.language_model.openai_compatible import OpenAILanguageModel
from services.common.language_model.port import LanguageModelSettings
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.summaries import Summariser, SummarySettings
from services.common.tokens import token_counter
from services.episodic.assessment import EpisodeAssessor
from services.episodic.importance import ImportanceScorer, ImportanceSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.model import EpisodeStatus, NewEpisode
from services.episodic.removal_store import EpisodeSelection
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.summaries.config import ModelSummarySettings
from services.episodic.summaries.model_summaries import ModelSummaries
from services.episodic.summaries.writer import SummaryWriter
from services.episodic.token_store import EpisodeName
from tests.contract.episode_samples import OWNER, SAME_NAME_ELSEWHERE, TENANT, episode_id, new_episode, write
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.encryption import key_ring, occurrences
from tests.support.language_model import FakeEndpoint, fake_endpoint
from tests.support.postgres import DatabaseUrls, fresh_postgres
from tests.support.summaries import LONG, SUMMARY, response

COUNTER = token_counter()
SUMMARISER = Summariser(COUNTER)
CHOSEN = SUMMARISER.summarise(LONG)
BOUNDS = ModelSummarySettings(requests_max=2, waiting_max=6, tenant_waiting_max=4)


@dataclass
class World:
    urls: DatabaseUrls
    endpoint: FakeEndpoint
    model: OpenAILanguageModel
    store: PostgresEpisodeStore
    indexer: EpisodeIndexer
    writer: SummaryWriter
    clock: FakeClock

    async def remember(self, *episodes: NewEpisode) -> None:
        """Stores episodes of one tenant and indexes what is pending."""
        await self.store.insert(episodes[0].owner.tenant_id, episodes, now=self.clock.now())
        await self.indexer.index_batch()

    async def summaries(self, *numbers: int) -> list[str]:
        found = await self.store.get(OWNER, [episode_id(number) for number in numbers])
        return [found[episode_id(number)].summary for number in numbers]

    async def write_all(self) -> None:
        while await self.writer.write_next():
            pass


@pytest.fixture
def keys(tmp_path: Path) -> DataKeys:
    """Of an installation without encryption; a class that tests encryption has its own fixture."""
    del tmp_path
    return NO_DATA_KEYS


@pytest.fixture
async def world(postgres_server: EmbeddedPostgres, tmp_path: Path, keys: DataKeys) -> AsyncIterator[World]:
    embedder, clock = HashingEmbedder(64), FakeClock()
    async with (
        fake_endpoint() as endpoint,
        fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER)]) as urls,
    ):
        endpoint.content = response(SUMMARY)
        pool = await create_pool(urls.app)
        index = await EdgeEpisodeIndex.open(tmp_path, model="m", dimension=64)
        store = PostgresEpisodeStore(pool, model=index.model, keys=keys)
        model = OpenAILanguageModel(endpoint.url, "m", settings=LanguageModelSettings(timeout_seconds=5.0))
        summaries = ModelSummaries(model, COUNTER, SummarySettings(), BOUNDS)
        writer = SummaryWriter(store, SUMMARISER, summaries, BOUNDS)
        scorer = ImportanceScorer(embedder, ImportanceSettings(with_prototypes=False))
        indexer = EpisodeIndexer(
            store, index, embedder, clock, assessor=EpisodeAssessor(scorer, SUMMARISER), on_summarised=writer.add
        )
        yield World(urls, endpoint, model, store, indexer, writer, clock)
        await model.aclose()
        await index.aclose()
        await pool.close()


def long(number: int) -> NewEpisode:
    return new_episode(number, query=LONG, response="Have a good trip.")


async def test_spec_2_4_an_active_episode_gets_the_summary_of_the_language_model(world: World) -> None:
    await world.remember(long(1), new_episode(2), long(3))
    assert await world.summaries(1, 2, 3) == [CHOSEN, "", CHOSEN], "nothing waits for the model"
    assert world.endpoint.requests == []
    await world.write_all()
    assert await world.summaries(1, 2, 3) == [SUMMARY, "", SUMMARY]
    assert len(world.endpoint.requests) == 2


@pytest.mark.parametrize(
    "content", ["", "no json", response(""), response("Marta left."), response(SUMMARY.replace("Marta", "Boris"))]
)
async def test_spec_2_4_an_unusable_summary_leaves_the_chosen_sentences(world: World, content: str) -> None:
    world.endpoint.content = content
    await world.remember(long(1))
    await world.write_all()
    assert len(world.endpoint.requests) == 1
    assert await world.summaries(1) == [CHOSEN]
    assert (await world.store.get(OWNER, [episode_id(1)]))[episode_id(1)].content.query == LONG


async def test_spec_2_4_a_broken_endpoint_leaves_the_chosen_sentences_and_is_not_asked_for_ever(world: World) -> None:
    world.endpoint.status = 500
    await world.remember(*(long(number) for number in range(4)))
    await world.remember(*(long(number) for number in range(4, 8)))
    await world.write_all()
    await world.remember(*(long(number) for number in range(8, 12)))
    await world.write_all()
    assert set(await world.summaries(*range(12))) == {CHOSEN}
    assert len(world.endpoint.requests) <= 6, "after five failures it is left alone for a minute"


async def test_spec_2_4_few_requests_are_under_way_at_once(world: World) -> None:
    most = 0

    async def count() -> None:
        nonlocal most
        while True:
            most = max(most, len(world.endpoint.requests))
            await asyncio.sleep(0.001)

    world.endpoint.hangs = True
    await world.remember(*(long(number) for number in range(4)))
    counting = asyncio.create_task(count())
    writing = asyncio.create_task(world.write_all())
    await asyncio.sleep(0.5)
    for task in (writing, counting):
        task.cancel()
    await asyncio.gather(writing, counting, return_exceptions=True)
    assert most == BOUNDS.requests_max
    assert set(await world.summaries(0, 1, 2, 3)) == {CHOSEN}


async def test_spec_6_5_what_waits_is_bounded_and_tenants_take_turns(world: World) -> None:
    many = [EpisodeName(OWNER, episode_id(number)) for number in range(100)]
    few = [EpisodeName(SAME_NAME_ELSEWHERE, episode_id(number)) for number in range(100)]
    world.writer.add(many)
    assert world.writer.waiting_count == BOUNDS.tenant_waiting_max
    world.writer.add(few)
    assert world.writer.waiting_count == BOUNDS.waiting_max

    await world.remember(new_episode(0, query=LONG))
    await world.remember(new_episode(0, owner=SAME_NAME_ELSEWHERE, query=LONG))
    await world.writer.write_next()
    assert len(world.endpoint.requests) == 2, "the first of each"


async def test_spec_6_6_what_was_erased_while_it_waited_is_not_sent(world: World) -> None:
    await world.remember(long(1), long(2))
    await world.store.delete(
        OWNER, EpisodeSelection(episode_ids=[episode_id(1)]), key=write("erase"), now=world.clock.now()
    )
    await world.write_all()
    assert len(world.endpoint.requests) == 1
    assert await world.store.get(OWNER, [episode_id(1)]) == {}
    assert await world.summaries(2) == [SUMMARY]


async def test_spec_6_6_what_is_erased_while_the_model_writes_stays_erased(world: World) -> None:
    await world.remember(long(1))

    loop = asyncio.get_running_loop()
    erased: list[asyncio.Task[object]] = []

    def respond(_: object) -> str:
        erasing = world.store.delete(OWNER, EpisodeSelection(), key=write("erase"), now=world.clock.now())
        erased.append(loop.create_task(erasing))
        return response(SUMMARY)

    world.endpoint.respond = respond
    await world.write_all()
    await asyncio.gather(*erased)
    assert len(erased) == 1
    assert await world.store.get(OWNER, [episode_id(1)]) == {}
    assert await occurrences(world.urls.superuser, "Rotterdam", schemas=[SCHEMA]) == {}


async def test_spec_2_4_a_summary_that_is_stored_is_not_made_again(world: World) -> None:
    await world.remember(long(1), long(2))
    world.endpoint.content = response("")  # of one the model wrote none
    await world.writer.write_next()
    await world.store.put_summary(OWNER, episode_id(1), SUMMARY)

    world.endpoint.content = response(SUMMARY)
    asked = len(world.endpoint.requests)
    await world.store.reset_listed(OWNER, [episode_id(1), episode_id(2)])
    await world.indexer.index_batch()
    await world.write_all()
    found = await world.store.statuses(OWNER, [episode_id(1), episode_id(2)])
    assert set(found.values()) == {EpisodeStatus.ACTIVE}
    assert await world.summaries(1, 2) == [SUMMARY, CHOSEN]
    assert len(world.endpoint.requests) == asked


class TestWithEncryption:
    @pytest.fixture
    def keys(self, tmp_path: Path) -> DataKeys:
        return PostgresDataKeys(key_ring(tmp_path), SCHEMA)

    async def test_spec_7_3_the_summary_of_a_language_model_is_encrypted(self, world: World) -> None:
        await world.remember(long(1))
        await world.write_all()
        assert await world.summaries(1) == [SUMMARY]
        assert await occurrences(world.urls.superuser, "Rotterdam", schemas=[SCHEMA]) == {}

    async def test_spec_7_3_no_key_is_made_for_an_episode_that_is_gone(self, world: World) -> None:
        await world.remember(long(1))
        await world.store.delete(OWNER, EpisodeSelection(), key=write("erase"), now=world.clock.now())
        assert not await world.store.put_summary(OWNER, episode_id(1), SUMMARY)
        assert await users_with_keys(world.urls) == []


async def users_with_keys(urls: DatabaseUrls) -> Sequence[str]:
    pool = await create_pool(urls.superuser)
    try:
        found = await pool.fetch("SELECT user_id FROM episodic.data_keys WHERE tenant_id = $1", TENANT)
        return [row["user_id"] for row in found]
    finally:
        await pool.close()
