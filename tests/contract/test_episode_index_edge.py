import asyncio
import shutil
import weakref
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from services.common.cache import OwnerCache
from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings
from services.episodic.store import EpisodeIndex, IndexQuery, RetrieverHits
from services.episodic.stores.edge import EdgeEpisodeIndex
from tests.contract.episode_index import EpisodeIndexContract, key_of, piece, query
from tests.contract.episode_samples import OWNER
from tests.support.caches import eager_cache


async def opened(folder: Path, *, cache: OwnerCache | None = None, **settings: Any) -> EdgeEpisodeIndex:
    return await EdgeEpisodeIndex.open(
        folder,
        model="hashing-test-64",
        dimension=64,
        settings=EdgeSettings(**settings),
        cache=cache,
    )


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
    opened_index = await opened(tmp_path)
    yield opened_index
    await opened_index.aclose()


class TestEdgeEpisodeIndex(EpisodeIndexContract):
    async def test_pieces_survive_a_restart(self, tmp_path: Path) -> None:
        first = await opened(tmp_path)
        await first.put([piece(n, f"apple {n}") for n in range(10)])
        await first.aclose()

        second = await opened(tmp_path)
        assert len((await second.search(query("apple"), limit=100)).lexical) == 10
        await second.aclose()

    async def test_models_never_share_an_index(self, tmp_path: Path) -> None:
        first = await opened(tmp_path)
        await first.put([piece(1, "apple")])
        await first.aclose()

        other = await EdgeEpisodeIndex.open(tmp_path, model="another/model", dimension=64)
        assert await other.count(OWNER) == 0
        await other.aclose()

    async def test_a_shard_is_found_again_with_its_generation_and_a_new_one_has_another(self, tmp_path: Path) -> None:
        first = await opened(tmp_path)
        await first.aclose()
        again = await opened(tmp_path)
        await again.aclose()
        for folder in (found for found in tmp_path.iterdir() if found.is_dir()):  # noqa: ASYNC240 - nothing else runs
            (folder / "mneme-checksums").unlink()
            (folder / "edge_config.json").unlink()  # the generation alone is left
            shutil.rmtree(folder / "segments", ignore_errors=True)
            shutil.rmtree(folder / "wal", ignore_errors=True)
        new = await opened(tmp_path)
        await new.aclose()

        assert again.model == first.model != new.model
        assert {index.model.split("@")[0] for index in (first, new)} == {"hashing-test-64"}

    async def test_optimising_changes_no_answer(self, tmp_path: Path) -> None:
        opened_index = await opened(tmp_path, optimize_after_points=100)
        await opened_index.put([piece(n, f"apple {'pie ' * (n % 5)}{n}") for n in range(300)])
        before = await opened_index.search(query("apple pie"), limit=50)
        assert (await opened_index.state()).unindexed_points == 300

        await opened_index.optimize()
        assert (await opened_index.state()).unindexed_points == 0

        after = await opened_index.search(query("apple pie"), limit=50)
        assert dict(after.dense) == pytest.approx(dict(before.dense))
        assert dict(after.lexical) == pytest.approx(dict(before.lexical))
        await opened_index.aclose()

    async def test_quiet_times_are_used_to_optimise(self, tmp_path: Path) -> None:
        opened_index = await opened(tmp_path, flush_seconds=0.01, optimize_after_points=10, optimize_quiet_seconds=0.0)
        await opened_index.put([piece(n, f"apple {n}") for n in range(500)])
        async with asyncio.timeout(60):
            while (await opened_index.state()).unindexed_points:  # noqa: ASYNC110 - the upkeep offers no event
                await asyncio.sleep(0.01)
        assert await opened_index.count(OWNER) == 500
        await opened_index.aclose()

    async def test_too_much_is_optimised_without_a_quiet_time(self, tmp_path: Path) -> None:
        settings: dict[str, Any] = {
            "optimize_after_points": 10,
            "optimize_loaded_after_points": 100,
            "optimize_quiet_seconds": 3_600.0,
        }
        opened_index = await opened(tmp_path, flush_seconds=0.01, **settings)
        await opened_index.search(query("apple"), limit=1)
        await opened_index.put([piece(n, f"apple {n}") for n in range(500)])
        async with asyncio.timeout(60):
            while (await opened_index.state()).unindexed_points >= 100:
                await opened_index.search(query("apple"), limit=1)
                await asyncio.sleep(0.01)
        assert await opened_index.count(OWNER) == 500
        await opened_index.aclose()

    async def test_what_is_optimised_stays_in_small_segments(self, tmp_path: Path) -> None:
        opened_index = await opened(tmp_path, optimize_after_points=200, segment_points_max=300)
        for start in range(0, 1_200, 200):
            await opened_index.put([piece(n, f"apple {n}") for n in range(start, start + 200)])
            await opened_index.optimize()
        # One that is written to, and one for each 200 or 300 of the others: each was built once and never again.
        assert 1 + 1_000 // 300 <= (await opened_index.state()).segments <= 1 + 1_200 // 200
        assert await opened_index.count(OWNER) == 1_200
        await opened_index.aclose()

    async def test_a_closed_index_is_unavailable(self, tmp_path: Path) -> None:
        closed = await opened(tmp_path)
        await closed.aclose()
        with pytest.raises(StoreUnavailable):
            await closed.search(query("apple"), limit=1)
        with pytest.raises(StoreUnavailable):
            await closed.put([piece(1, "apple")])
        with pytest.raises(StoreUnavailable):
            await closed.score(query("apple"), dense=[key_of(1)], lexical=())


class _CachingIndex(EdgeEpisodeIndex):
    """Has every owner that is searched in the cache."""

    async def search(self, query: IndexQuery, *, limit: int) -> RetrieverHits:
        await super().search(query, limit=limit)
        await self.settle()
        return await super().search(query, limit=limit)


async def caching(folder: Path, cache: OwnerCache | None = None) -> EdgeEpisodeIndex:
    return await _CachingIndex.open(
        folder,
        model="hashing-test-64",
        dimension=64,
        settings=EdgeSettings(cached_points_min=1),
        cache=cache or eager_cache(),
    )


class TestCachedEdgeEpisodeIndex(EpisodeIndexContract):
    @pytest.fixture
    async def index(self, tmp_path: Path) -> AsyncIterator[EpisodeIndex]:
        opened_index = await caching(tmp_path)
        yield opened_index
        await opened_index.aclose()


class TestEdgeCache:
    async def test_answers_are_those_of_the_engine(self, tmp_path: Path) -> None:
        texts = ["apple pie", "a pie of plums", "apple apple tree", "plums", "the tree of plums and of apples", "cake"]
        plain = await opened(tmp_path / "plain")
        cached = await caching(tmp_path / "cached")
        for opened_index in (plain, cached):
            await opened_index.put([piece(n, f"{texts[n % 6]} {texts[n * 7 % 5]} {n % 11}") for n in range(400)])
        for text in ("apple pie", "who ate the plums", "tree 7", "nothing of that"):
            question = query(text)
            expected, found = await plain.search(question, limit=40), await cached.search(question, limit=40)
            assert cached.cached_count == 400
            assert sorted(found.dense.values()) == pytest.approx(sorted(expected.dense.values()), abs=1e-6)
            assert sorted(found.lexical.values()) == pytest.approx(sorted(expected.lexical.values()), rel=1e-5)
            assert (found.dense_complete, found.lexical_complete) == (
                expected.dense_complete,
                expected.lexical_complete,
            )
            named = [key_of(n) for n in range(0, 400, 7)]
            scores = await cached.score(question, dense=named, lexical=named)
            exact = await plain.score(question, dense=named, lexical=named)
            assert dict(scores.dense) == pytest.approx(dict(exact.dense), abs=1e-6)
            assert dict(scores.lexical) == pytest.approx(dict(exact.lexical), rel=1e-5)
        await plain.aclose()
        await cached.aclose()

    async def test_what_is_written_later_is_found_and_what_is_removed_is_not(self, tmp_path: Path) -> None:
        cached = await caching(tmp_path)
        await cached.put([piece(n, f"apple {n}") for n in range(50)])
        await cached.search(query("apple"), limit=10)
        await cached.put([piece(n, f"plum {n}") for n in range(40, 60)])
        await cached.remove(OWNER, [key_of(n) for n in range(10)])
        assert cached.cached_count == 50
        hits = await cached.search(query("apple"), limit=100)
        assert set(hits.lexical) == {key_of(n) for n in range(10, 40)}
        assert set(hits.dense) == {key_of(n) for n in range(10, 60)}
        await cached.aclose()

    async def test_what_is_written_while_an_owner_is_loaded_is_found(self, tmp_path: Path) -> None:
        index = await opened(tmp_path, cache=eager_cache(), cached_points_min=1)
        await index.put([piece(n, f"apple {n}") for n in range(500)])
        await index.search(query("apple"), limit=10)
        await asyncio.sleep(0.004)
        await index.put([piece(n, f"plum {n}") for n in range(490, 510)])
        await index.remove(OWNER, [key_of(n) for n in range(480, 485)])
        await index.settle()
        assert index.cached_count == 505
        assert len((await index.search(query("plum"), limit=100)).lexical) == 20
        await index.aclose()

    async def test_small_owners_and_rare_searches_stay_with_the_engine(self, tmp_path: Path) -> None:
        index = await opened(tmp_path, cache=OwnerCache(prefetch_after_misses=2), cached_points_min=51)
        await index.put([piece(n, f"apple {n}") for n in range(50)])
        counts = []
        for number in range(1, 5):
            if number == 3:
                await index.put([piece(50, "apple 50")])
            await index.search(query("apple"), limit=10)
            await index.settle()
            counts.append(index.cached_count)
        assert counts == [0, 0, 0, 51], "too few at the second search, enough at the fourth"
        await index.aclose()

    async def test_an_owner_who_is_forgotten_is_answered_by_the_engine(self, tmp_path: Path) -> None:
        cache = eager_cache()
        index = await caching(tmp_path, cache)
        await index.put([piece(n, f"apple {n}") for n in range(50)])
        await index.search(query("apple"), limit=10)
        assert index.cached_count == 50
        assert cache.size_bytes > 0
        cache.forget((OWNER.tenant_id, OWNER.user_id))
        assert (index.cached_count, cache.size_bytes) == (0, 0)
        await index.put([piece(50, "apple 50")])
        assert len((await index.search(query("apple"), limit=100)).lexical) == 51
        await index.aclose()

    async def test_spec_6_6_rows_that_the_cache_dropped_are_in_memory_no_longer_than_their_search(
        self, tmp_path: Path
    ) -> None:
        """The last searches once held the rows of up to four owners, erased ones too, beside the budget."""
        cache = eager_cache()
        index = await caching(tmp_path, cache)
        await index.put([piece(n, f"apple {n}") for n in range(50)])
        question = query("apple")
        await index.search(question, limit=10)
        rows = weakref.ref(next(iter(index._cache._entries.entries())))
        assert (await index.score(question, dense=[key_of(1)], lexical=())).dense
        await index.remove_owner(OWNER)
        assert rows() is not None, "the search may go on"
        del question
        assert rows() is None
        await index.aclose()

    async def test_more_than_the_budget_is_not_cached(self, tmp_path: Path) -> None:
        index = await caching(tmp_path, eager_cache(bytes_max=50 * (64 * 4 + 600)))
        await index.put([piece(n, f"apple {n}") for n in range(51)])
        assert len((await index.search(query("apple"), limit=100)).lexical) == 51
        assert index.cached_count == 0
        await index.aclose()
