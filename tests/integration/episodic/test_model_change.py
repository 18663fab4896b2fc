"""Change of the embedding model: a second index beside the first, then searched instead of it."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from qdrant_client import AsyncQdrantClient

from services.common.errors import FailedPrecondition, StoreUnavailable
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Pool
from services.episodic.comparison import ModelComparer, ModelQuestion
from services.episodic.config import IndexerSettings
from services.episodic.indexer import EpisodeIndexer
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.maintenance.second_index import FillSecondIndex
from services.episodic.model import EpisodeStatus, NewEpisode
from services.episodic.second_index import Adoption, PairedEpisodeIndex, adopt_indexed
from services.episodic.store import EpisodeIndex, EpisodeStore, IndexedPiece, IndexQuery
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import MIGRATIONS_FOLDER, SCHEMA, PostgresEpisodeStore
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from tests.contract.episode_index import scanned
from tests.contract.episode_samples import OWNER, TENANT, episode_id, new_episode
from tests.support.clock import FakeClock
from tests.support.embedding import HashingEmbedder
from tests.support.maintenance import MAINTENANCE, run_job
from tests.support.postgres import fresh_postgres
from tests.support.vector_index import PATIENT_INDEX

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

FIRST = HashingEmbedder(64, "first")
SECOND = HashingEmbedder(32, "second")
SETTINGS = IndexerSettings(batch_max=2)


@dataclass
class World:
    pool: Pool
    first: EpisodeIndex
    second: EpisodeIndex
    clock: FakeClock

    @property
    def paired(self) -> PairedEpisodeIndex:
        return PairedEpisodeIndex(self.first, self.second, SECOND)

    @property
    def switched(self) -> PairedEpisodeIndex:
        return PairedEpisodeIndex(self.second, self.first, FIRST)

    def store(self, index: EpisodeIndex) -> PostgresEpisodeStore:
        return PostgresEpisodeStore(self.pool, model=index.model)

    async def remember(self, index: EpisodeIndex, embedder: HashingEmbedder, *episodes: NewEpisode) -> None:
        store = self.store(index)
        await store.insert(TENANT, episodes, now=self.clock.now())
        indexer = EpisodeIndexer(store, index, embedder, self.clock, settings=IndexerSettings())
        assert await indexer.index_batch() == len(episodes)

    async def fill(self) -> int:
        return (await run_job(self.pool, FillSecondIndex(self.store(self.first), self.paired, SETTINGS))).applied

    async def adopt(self, index: EpisodeIndex) -> int:
        return await adopt_indexed(self.store(index), index, owners_at_once=10, pieces_at_once=3)

    async def compare(self, index: EpisodeIndex) -> int:
        return (await run_job(self.pool, ReconcileIndex(self.store(index), index, SETTINGS))).applied


@pytest.fixture(params=["edge", "qdrant"])
async def world(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_server: EmbeddedPostgres
) -> AsyncIterator[World]:
    async with (
        fresh_postgres(postgres_server, migrations=[(SCHEMA, MIGRATIONS_FOLDER), MAINTENANCE]) as urls,
        contextlib.AsyncExitStack() as stack,
    ):
        pool = await create_pool(urls.app)
        stack.push_async_callback(pool.close)
        opened: list[EpisodeIndex] = []
        for embedder in (FIRST, SECOND):
            model, dimension = embedder.fingerprint, embedder.dimension
            index: EpisodeIndex
            if request.param == "edge":
                index = await EdgeEpisodeIndex.open(tmp_path, model=model, dimension=dimension, settings=PATIENT_INDEX)
            else:
                client = AsyncQdrantClient(location=":memory:")
                index = await QdrantEpisodeIndex.open(client, model=model, dimension=dimension)
            stack.push_async_callback(index.aclose)
            opened.append(index)
        first, second = opened
        yield World(pool, first, second, FakeClock())


async def keys(index: EpisodeIndex) -> set[int]:
    return {episode.key for episode in await scanned(index, limit=100)}


async def best(index: EpisodeIndex, embedder: HashingEmbedder, text: str) -> int:
    query = IndexQuery(owner=OWNER, text=text, vector=embedder.vector(text), scope_keys=("1",))
    return next(iter((await index.search(query, limit=1)).dense))


async def test_spec_8_4_the_second_index_is_filled_while_new_episodes_go_to_both(world: World) -> None:
    old = [new_episode(n) for n in range(1, 6)]
    await world.remember(world.first, FIRST, *old)
    new = new_episode(6)
    await world.remember(world.paired, FIRST, new)
    assert await keys(world.second) == {new.key}

    assert await world.fill() == 6

    assert await keys(world.second) == {episode.key for episode in (*old, new)} == await keys(world.first)
    assert await world.fill() == 0


async def test_spec_8_4_after_the_cut_over_all_is_searched_at_once_and_nothing_is_indexed_again(world: World) -> None:
    episodes = [new_episode(n) for n in range(1, 6)]
    await world.remember(world.first, FIRST, *episodes)
    await world.fill()

    assert await world.adopt(world.second) == 5
    assert await world.adopt(world.second) == 0

    assert await world.compare(world.second) == 0
    store = world.store(world.second)
    statuses = await store.statuses(OWNER, [episode.episode_id for episode in episodes])
    assert set(statuses.values()) == {EpisodeStatus.ACTIVE}
    for episode in episodes:
        assert await best(world.switched, SECOND, episode.text) == await best(world.first, FIRST, episode.text)


async def test_spec_8_4_what_came_after_the_cut_over_is_there_after_the_way_back(world: World) -> None:
    await world.remember(world.first, FIRST, new_episode(1))
    await world.fill()
    await world.adopt(world.second)
    await world.remember(world.switched, SECOND, new_episode(2))

    assert await world.adopt(world.first) == 2

    assert await world.compare(world.first) == 0
    assert await keys(world.first) == {new_episode(1).key, new_episode(2).key}


async def test_spec_8_4_a_replica_that_searches_the_other_index_has_nothing_indexed_again(world: World) -> None:
    await world.remember(world.first, FIRST, new_episode(1))
    await world.fill()
    await world.adopt(world.second)

    assert await world.compare(world.paired) == 0


async def test_spec_8_4_what_the_second_index_lacks_is_not_taken_as_indexed(world: World) -> None:
    await world.remember(world.first, FIRST, new_episode(1))
    await world.fill()
    await world.remember(world.first, FIRST, new_episode(2))

    assert await world.adopt(world.second) == 1

    assert await world.compare(world.second) == 1
    statuses = await world.store(world.second).statuses(OWNER, [episode_id(1), episode_id(2)])
    assert statuses == {episode_id(1): EpisodeStatus.ACTIVE, episode_id(2): EpisodeStatus.PENDING_EMBEDDING}


async def test_spec_8_4_a_removal_reaches_both_indexes(world: World) -> None:
    await world.remember(world.paired, FIRST, new_episode(1), new_episode(2))

    await world.paired.remove(OWNER, [new_episode(1).key])
    assert await keys(world.first) == await keys(world.second) == {new_episode(2).key}
    await world.paired.remove_owner(OWNER)
    assert await keys(world.first) == await keys(world.second) == set()


async def test_spec_8_4_an_interrupted_run_goes_on_where_it_stopped(world: World) -> None:
    episodes = [new_episode(n) for n in range(1, 6)]
    await world.remember(world.first, FIRST, *episodes)
    paired = _Breaking(world.first, world.second, SECOND)

    with pytest.raises(StoreUnavailable):
        await run_job(world.pool, FillSecondIndex(world.store(world.first), paired, SETTINGS))
    assert 0 < len(await keys(world.second)) < len(episodes)

    await world.fill()
    assert await keys(world.second) == {episode.key for episode in episodes}


async def test_spec_8_4_two_models_are_compared_on_questions_and_on_right_answers(world: World) -> None:
    texts = ("the cat sleeps on the sofa", "rain falls in May", "the boat needs paint")
    episodes = [new_episode(n, query=text) for n, text in enumerate(texts, 1)]
    await world.remember(world.first, FIRST, *episodes)
    comparer = ModelComparer(world.store(world.first), world.paired, FIRST, SECOND)
    questions = [
        ModelQuestion("where does the cat sleep", (episode_id(1), episode_id(99))),
        ModelQuestion("when does rain fall", (episode_id(2), episode_id(3))),
        ModelQuestion("paint"),
    ]

    before = await comparer.compare(OWNER, questions, scope_keys=("1",))
    assert (before.first_pieces, before.second_pieces) == (3, 0)
    assert [each.overlap for each in before.questions] == [0.0, 0.0, 0.0]
    assert [each.first_recall for each in before.questions] == [1.0, 1.0, None]
    assert [each.second_recall for each in before.questions] == [0.0, 0.0, None]

    await world.fill()
    after = await comparer.compare(OWNER, questions, scope_keys=("1",))
    assert (after.first_model, after.second_model) == (FIRST.fingerprint, SECOND.fingerprint)
    assert (after.first_pieces, after.second_pieces) == (3, 3)
    assert [each.overlap for each in after.questions] == [1.0, 1.0, 1.0]
    assert [each.second_recall for each in after.questions] == [1.0, 1.0, None]
    unseen = await comparer.compare(OWNER, questions, scope_keys=("none",))
    assert [each.first_recall for each in unseen.questions] == [0.0, 0.0, None]


async def test_spec_8_4_where_models_differ_the_overlap_is_the_share_that_both_find(world: World) -> None:
    await world.remember(
        world.first, FIRST, *(new_episode(n, query=f"cat number{n} word{n * 7}") for n in range(1, 31))
    )
    await world.fill()
    comparer = ModelComparer(world.store(world.first), world.paired, FIRST, SECOND)
    (compared,) = (await comparer.compare(OWNER, [ModelQuestion("cat")], scope_keys=("1",))).questions
    found = []
    for index, embedder in ((world.first, FIRST), (world.second, SECOND)):
        query = IndexQuery(owner=OWNER, text="cat", vector=embedder.vector("cat"), scope_keys=("1",))
        hits = (await index.search(query, limit=30)).dense
        found.append(set(sorted(hits, key=lambda key, hits=hits: -hits[key])[:10]))  # type: ignore[misc]
    assert compared.overlap == len(found[0] & found[1]) / 10
    assert 0.0 < compared.overlap < 1.0


async def test_spec_8_4_without_a_second_model_there_is_nothing_to_compare(world: World) -> None:
    comparer = ModelComparer(world.store(world.first), world.first, FIRST, None)
    with pytest.raises(FailedPrecondition):
        await comparer.compare(OWNER, [ModelQuestion("cat")], scope_keys=("1",))


class _Breaking(PairedEpisodeIndex):
    """Its second index is gone after the first batch."""

    batches = 0

    async def embedded(self, pieces: Sequence[IndexedPiece]) -> Sequence[IndexedPiece]:
        self.batches += 1
        if self.batches > 1:
            raise StoreUnavailable("qdrant", 1.0)
        return await super().embedded(pieces)


async def test_spec_8_4_after_a_cut_over_episodes_that_the_index_lacks_are_indexed_anew(world: World) -> None:
    old, new = [new_episode(n) for n in range(1, 6)], new_episode(6)
    await world.remember(world.first, FIRST, *old)
    await world.remember(world.paired, FIRST, new)
    index = world.switched
    store = world.store(index)
    adoption = Adoption(store, index, SETTINGS, settle_seconds=0.0)

    await adoption.run()

    statuses = await store.statuses(OWNER, [episode.episode_id for episode in (*old, new)])
    assert statuses[new.episode_id] is EpisodeStatus.ACTIVE
    assert {statuses[episode.episode_id] for episode in old} == {EpisodeStatus.PENDING_EMBEDDING}
    assert await EpisodeIndexer(store, index, SECOND, world.clock, settings=IndexerSettings()).index_batch() == 5
    assert await keys(world.second) == {episode.key for episode in (*old, new)} == await keys(world.first)
    assert await adoption.index_rest() == 0


async def test_spec_8_4_an_adoption_that_ends_at_any_call_of_the_store_is_completed_by_the_next(world: World) -> None:
    episodes = [new_episode(n) for n in range(1, 6)]
    await world.remember(world.first, FIRST, *episodes[:2])
    await world.remember(world.paired, FIRST, *episodes[2:])
    index = world.switched
    store = world.store(index)

    class Ending:
        """The store of a process that is killed before one of its calls."""

        def __init__(self, calls: int) -> None:
            self.calls = calls

        def __getattr__(self, name: str) -> Any:
            self.calls -= 1
            if self.calls < 0:
                raise asyncio.CancelledError
            return getattr(store, name)

    ended = 0
    for calls in itertools.count():
        try:
            await Adoption(cast("EpisodeStore", Ending(calls)), index, SETTINGS, settle_seconds=0.0).run()
        except asyncio.CancelledError:
            ended += 1
        else:
            break
    assert ended > 3
    indexer = EpisodeIndexer(store, index, SECOND, world.clock, settings=IndexerSettings())
    assert await indexer.index_batch() == 2
    statuses = await store.statuses(OWNER, [episode.episode_id for episode in episodes])
    assert set(statuses.values()) == {EpisodeStatus.ACTIVE}
    assert await keys(world.second) == {episode.key for episode in episodes}


async def test_spec_8_4_a_run_that_filled_the_other_index_does_not_go_on_after_a_cut_over(world: World) -> None:
    episodes = [new_episode(n) for n in range(1, 4)]
    await world.remember(world.first, FIRST, *episodes)
    cursors = [
        step.cursor
        async for step in FillSecondIndex(world.store(world.first), world.paired, SETTINGS).steps(after="", owner=None)
    ]
    await world.fill()
    await world.adopt(world.switched)
    await world.first.remove_owner(OWNER)
    back = FillSecondIndex(world.store(world.second), world.switched, SETTINGS)
    found = [step async for step in back.steps(after=cursors[-1], owner=None)]
    assert sum(len(step.state) for step in found) == len(episodes)


async def test_spec_8_4_the_tier_counts_users_whose_episodes_the_second_index_lacks(world: World) -> None:
    await world.remember(world.first, FIRST, new_episode(1), new_episode(2))
    comparer = ModelComparer(world.store(world.first), world.paired, FIRST, SECOND)
    assert await comparer.count_lacking(SECOND.fingerprint) == 1
    assert await comparer.count_lacking(FIRST.fingerprint) == 0
    await world.fill()
    assert await comparer.count_lacking(SECOND.fingerprint) == 0
    with pytest.raises(FailedPrecondition, match="does not hold"):
        await comparer.count_lacking("another")
