from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client import grpc as qdrant

from services.common.errors import FailedPrecondition, StoreUnavailable
from services.episodic.config import QdrantServer, QdrantSettings
from services.episodic.store import EpisodeIndex
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import create_qdrant_client
from tests.contract.episode_index import EpisodeIndexContract, key_of, piece, query
from tests.contract.episode_samples import OWNER
from tests.support.qdrant_server import StandIn, serving

# The client's local mode keeps no payload indexes and says so; filters are the same without.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


def local_client() -> AsyncQdrantClient:
    return AsyncQdrantClient(location=":memory:")


async def opened(client: AsyncQdrantClient, *, model: str = "hashing-test-64", **settings: int) -> QdrantEpisodeIndex:
    return await QdrantEpisodeIndex.open(
        client,
        model=model,
        dimension=64,
        settings=QdrantSettings(**settings),  # type: ignore[arg-type]
    )


@pytest.fixture
async def index() -> AsyncIterator[EpisodeIndex]:
    opened_index = await opened(local_client())
    yield opened_index
    await opened_index.aclose()


class TestQdrantEpisodeIndex(EpisodeIndexContract):
    """In the client's local mode, which scores by brute force.

    Not shown by it, since it ignores them: payload indexes, strict mode, timeouts, write ordering and shards. What
    is sent of these is shown against a recording server in `tests/unit/episodic/test_qdrant_calls.py`.
    """

    async def test_a_collection_is_found_again_with_its_generation(self) -> None:
        client = local_client()
        first = await opened(client)
        await first.put([piece(n, f"apple {n}") for n in range(10)])

        second = await opened(client)

        assert second.model == first.model
        assert len((await second.search(query("apple"), limit=100)).lexical) == 10
        await second.aclose()

    async def test_a_new_collection_has_another_generation(self) -> None:
        client = local_client()
        first = await opened(client)
        for description in (await client.get_collections()).collections:
            await client.delete_collection(description.name)

        second = await opened(client)

        assert second.model != first.model
        assert second.model.split("@")[0] == first.model.split("@")[0] == "hashing-test-64"
        await second.aclose()

    async def test_models_never_share_a_collection(self) -> None:
        client = local_client()
        await (await opened(client, model="a/model")).put([piece(1, "apple")])

        others = [await opened(client, model=model) for model in ("a-model", "a:model", "a/model" * 40)]

        assert [await other.count(OWNER) for other in others] == [0, 0, 0]
        await client.close()

    async def test_somebody_elses_collection_is_refused(self) -> None:
        client = local_client()
        await client.create_collection("mneme-episodes-64-hashing-test-64", vectors_config={})

        with pytest.raises(FailedPrecondition, match="holds other vectors"):
            await opened(client)

    async def test_ties_at_a_limit_are_told_apart_by_their_keys(self) -> None:
        index = await opened(local_client())
        await index.put([piece(n, "the same words") for n in range(60, 0, -1)])

        found = await index.search(query("same words"), limit=4)

        assert list(found.dense) == list(found.lexical) == [key_of(n) for n in (1, 2, 3, 4)]
        assert not found.dense_complete
        await index.aclose()

    async def test_small_batches_and_chunks_change_no_answer(self) -> None:
        whole, parts = await opened(local_client()), await opened(local_client(), upsert_bytes_max=2_000, keys_max=7)
        pieces = [piece(n, f"apple {'pie ' * (n % 5)}{n}", number=m) for n in range(40) for m in range(6)]
        keys = [key_of(n) for n in range(40)]
        for index in (whole, parts):
            await index.put(pieces)
            await index.remove(OWNER, keys[30:])

        assert await whole.search(query("apple pie"), limit=20) == await parts.search(query("apple pie"), limit=20)
        assert await whole.score(query("apple pie"), dense=keys, lexical=keys) == await parts.score(
            query("apple pie"), dense=keys, lexical=keys
        )
        assert await parts.count(OWNER) == 180
        await whole.aclose()
        await parts.aclose()

    async def test_a_closed_index_is_unavailable(self) -> None:
        closed = await opened(local_client())
        await closed.aclose()
        await closed.aclose()
        with pytest.raises(StoreUnavailable):
            await closed.search(query("apple"), limit=1)
        with pytest.raises(StoreUnavailable):
            await closed.put([piece(1, "apple")])
        with pytest.raises(StoreUnavailable):
            await closed.score(query("apple"), dense=[key_of(1)], lexical=())


@pytest.mark.ci("repeats the contract of the index on another kind of server")
class TestQdrantEpisodeIndexOverTheWire(EpisodeIndexContract):
    """Over gRPC, from a stand-in for the server that keeps points in Qdrant's embedded engine."""

    @pytest.fixture
    async def index(self, tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
        async for index in served(StandIn(tmp_path)):
            yield index


@pytest.mark.ci("repeats the contract of the index on another kind of server")
class TestQdrantEpisodeIndexInShards(EpisodeIndexContract):
    """The same with owners divided among shards."""

    @pytest.fixture
    async def index(self, tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
        async for index in served(StandIn(tmp_path), shards=3):
            yield index


@pytest.mark.ci("repeats the contract of the index on another kind of server")
class TestQdrantEpisodeIndexInStrictMode(EpisodeIndexContract):
    """The same on a server whose administrator has set narrow limits."""

    @pytest.fixture
    async def index(self, tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
        strict = qdrant.StrictModeConfig(
            enabled=True,
            max_query_limit=200,
            max_timeout=5,
            unindexed_filtering_retrieve=False,
            unindexed_filtering_update=False,
            upsert_max_batchsize=10,
            search_max_batchsize=2,
            filter_max_conditions=2,
            condition_max_size=20,
        )
        async for index in served(StandIn(tmp_path, strict=strict)):
            yield index


async def served(stand_in: StandIn, *, shards: int = 1) -> AsyncIterator[EpisodeIndex]:
    async with serving(stand_in) as port:
        client = create_qdrant_client(QdrantServer(url=f"http://127.0.0.1:{port}"), QdrantSettings())
        index = await opened(client, shards=shards)
        yield index
        await index.aclose()
