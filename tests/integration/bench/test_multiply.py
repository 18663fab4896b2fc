"""A store that was multiplied: everything is there so often, fits together, and is used like any other."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from bench.common import BenchError, open_channel
from bench.gateway import Gateway
from bench.load_store import MAIN_USER, StoredConversation, conversations_of, load_through_gateway
from bench.multiply import copy_store, multiply
from bench.multiply_rows import TREATMENTS, Treatment
from mneme_client import Client
from services.common.datadir import DataDir
from services.common.embedding.embedder import OnnxEmbedder
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.postgres.types import Connection
from services.episodic.config import IndexerSettings
from services.episodic.maintenance.orphans import CollectOrphans
from services.episodic.maintenance.reconciliation import ReconcileIndex
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.postgres import PostgresEpisodeStore
from tests.support.maintenance import run_job
from tests.support.stack import PATIENCE_SECONDS, running_stack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.ci("a benchmark on an installation of its own")]

SIZE, TIMES, SEED = 200, 3, 5
REFERENCES = {
    "agentic.notes (note_id)": [
        "note_id FROM agentic.note_vectors",
        "note_id FROM agentic.link_ends",
        "other_note_id FROM agentic.link_ends",
        "unnest(note_ids) FROM agentic.processed_interactions",
    ],
    "semantic.facts (fact_id)": [
        "fact_id FROM semantic.fact_statements",
        "unnest(fact_ids) FROM semantic.extracted_interactions",
        "unnest(contradictions) FROM semantic.facts",
    ],
    "gateway.interactions (interaction_id)": [
        "episode_id FROM episodic.episodes",
        "interaction_id FROM semantic.extracted_interactions",
        "interaction_id FROM semantic.observed_interactions",
        "interaction_id FROM agentic.processed_interactions",
        "unnest(derived_from) FROM semantic.facts",
        "unnest(interaction_ids) FROM semantic.fact_statements",
        "unnest(derived_from) FROM agentic.notes",
    ],
    "episodic.episodes (episode_id)": ["episode_id FROM episodic.token_vectors"],
}
"""What refers to what. Nothing has looked at it while it was copied."""
ONCE = [
    "sequence FROM gateway.interactions",
    "number FROM semantic.facts",
    "number FROM agentic.note_vectors",
]
"""Numbers that no two rows may have."""


@dataclass(frozen=True)
class Stores:
    """Of nobody: stacks run on copies."""

    original: Path
    multiplied: Path


@asynccontextmanager
async def database(data_dir: Path) -> AsyncIterator[Connection]:
    """PostgreSQL of a stopped store, as one who sees everything."""
    with DataDir(data_dir) as folder:
        async with EmbeddedPostgres(folder) as postgres:
            connection = await asyncpg.connect(postgres.superuser_dsn)
            try:
                yield connection
            finally:
                await connection.close()


async def counted(connection: Connection) -> dict[str, int]:
    copied = [name for name, treatment in TREATMENTS.items() if treatment is Treatment.COPIED]
    return {name: await connection.fetchval(f"SELECT count(*) FROM {name}") for name in copied}  # noqa: S608


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def stores(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Stores:
    folder = tmp_path_factory.mktemp("multiply")
    found = Stores(folder / "original", folder / "multiplied")
    async with running_stack(found.original, model_folder) as stack, open_channel(stack.gateway_target) as channel:
        await load_through_gateway(Gateway(channel), SIZE, seed=SEED)
    copy_store(found.original, found.multiplied)
    await multiply(found.multiplied, TIMES, seed=SEED)
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def client(stores: Stores, tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> AsyncIterator[Client]:
    """Of a stack on a copy of the multiplied store."""
    data_dir = tmp_path_factory.mktemp("stack") / "data"
    copy_store(stores.multiplied, data_dir)
    async with (
        running_stack(data_dir, model_folder) as stack,
        Client(stack.gateway_target, default_timeout_seconds=PATIENCE_SECONDS) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def conversation() -> StoredConversation:
    """The first one of the main user."""
    return next(c for c in conversations_of(SIZE, seed=SEED) if c.user_id == MAIN_USER)


async def test_everything_is_there_so_often_and_leads_somewhere(stores: Stores) -> None:
    async with database(stores.original) as connection:
        before = await counted(connection)
    async with database(stores.multiplied) as connection:
        after = await counted(connection)
        for target, sources in REFERENCES.items():
            table, _, column = target.rstrip(")").partition(" (")
            for source in sources:
                query = f"SELECT {source} EXCEPT SELECT {column} FROM {table}"  # noqa: S608
                assert not await connection.fetch(query), query
        for numbers in ONCE:
            column, _, table = numbers.partition(" FROM ")
            query = f"SELECT count(*) - count(DISTINCT {column}) FROM {table}"  # noqa: S608
            assert await connection.fetchval(query) == 0, query
        unseen = await connection.fetchval(
            "SELECT count(*) FROM episodic.episodes AS e JOIN episodic.owners AS o USING (tenant_id, user_id) "
            "WHERE e.revision NOT BETWEEN 1 AND o.revision"
        )

    assert min(before.values()) > 0
    assert after == {table: count * TIMES for table, count in before.items()}
    assert unseen == 0


async def test_the_index_is_what_the_rows_say(stores: Stores, embedder: OnnxEmbedder) -> None:
    quick = IndexerSettings(scan_pause_seconds=0.0, scan_pause_factor=0.0)
    with DataDir(stores.multiplied) as folder:
        async with EmbeddedPostgres(folder) as postgres, await create_pool(postgres.app_dsn) as pool:
            index = await EdgeEpisodeIndex.open(folder.qdrant, model=embedder.fingerprint, dimension=embedder.dimension)
            try:
                store = PostgresEpisodeStore(pool, model=index.model)
                pieces = sum(episode.piece_count for episode in await index.scan(after=None, limit=10_000))
                repaired = [
                    (await run_job(pool, ReconcileIndex(store, index, quick))).applied,
                    (await run_job(pool, CollectOrphans(store, index, quick))).applied,
                ]
            finally:
                await index.aclose()

    assert pieces >= SIZE * TIMES
    assert repaired == [0, 0]


async def test_it_starts_with_nothing_to_do_and_tells_so_many_times_as_much(
    client: Client, conversation: StoredConversation
) -> None:
    backlog = await client.get_backlog()
    listed = {found.conversation_id async for found in client.list_conversations(MAIN_USER)}
    profile = await client.get_profile(MAIN_USER)

    assert [tier.pending_count for tier in backlog] == [0] * len(backlog)
    assert listed == copies_of(conversation)
    assert profile.statistics.conversation_count == TIMES
    assert profile.statistics.user_turn_count == TIMES * len(conversation.turns)
    for name in listed:
        turns = [turn.turn.content async for turn in client.list_interactions(MAIN_USER, name)]
        assert turns == [turn.text for turn in conversation.turns]


async def test_it_finds_each_copy_on_a_day_of_its_own(client: Client, conversation: StoredConversation) -> None:
    wanted = max((turn.text for turn in conversation.turns), key=len)
    found = await client.recall(MAIN_USER, wanted, limit=20)

    copies = [memory for memory in found.memories if memory.text == wanted]
    times = sorted(memory.turn.time for memory in copies if memory.turn.time)
    assert not found.degraded
    assert found.memories[0].text == wanted
    assert {memory.conversation_id for memory in copies} == copies_of(conversation)
    assert {later - earlier for earlier, later in itertools.pairwise(times)} == {times[1] - times[0]}
    assert (times[1] - times[0]).days > 0


async def test_it_goes_on(client: Client, conversation: StoredConversation) -> None:
    written = await client.remember(MAIN_USER, f"{conversation.conversation_id}~1", "My new bicycle is orange.")
    await client.wait_until_visible(MAIN_USER, written.consistency_token)
    found = await client.recall(MAIN_USER, "What colour is the bicycle?", limit=3)

    assert found.memories[0].text == "My new bicycle is orange."
    assert found.memories[0].position == len(conversation.turns)


async def test_an_unknown_table_stops_it(stores: Stores, tmp_path: Path) -> None:
    copy_store(stores.original, tmp_path / "data")
    async with database(tmp_path / "data") as connection:
        await connection.execute("CREATE TABLE semantic.dreams (tenant_id text)")

    with pytest.raises(BenchError, match=r"does not know semantic\.dreams"):
        await multiply(tmp_path / "data", 2, seed=SEED)


async def test_work_that_is_left_to_be_done_stops_it(stores: Stores, tmp_path: Path) -> None:
    copy_store(stores.original, tmp_path / "data")
    async with database(tmp_path / "data") as connection:
        await connection.execute("UPDATE episodic.episodes SET status = 1 WHERE position = 0")

    with pytest.raises(BenchError, match="at rest"):
        await multiply(tmp_path / "data", 2, seed=SEED)


def copies_of(conversation: StoredConversation) -> set[str]:
    """Names of a conversation and its copies."""
    name = conversation.conversation_id
    return {name, *(f"{name}~{copy}" for copy in range(1, TIMES))}
