import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings
from services.episodic.store import EpisodeIndex
from services.episodic.stores.edge import EdgeEpisodeIndex
from tests.contract.episode_index import EpisodeIndexContract, key_of, piece, query
from tests.contract.episode_samples import OWNER


async def opened(folder: Path, **settings: float) -> EdgeEpisodeIndex:
    return await EdgeEpisodeIndex.open(
        folder,
        model="hashing-test-64",
        dimension=64,
        settings=EdgeSettings(**settings),  # type: ignore[arg-type]
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
        for folder in tmp_path.iterdir():  # noqa: ASYNC240 - nothing else runs
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
        assert opened_index.unindexed_points == 300

        opened_index.optimize()
        assert opened_index.unindexed_points == 0

        after = await opened_index.search(query("apple pie"), limit=50)
        assert dict(after.dense) == pytest.approx(dict(before.dense))
        assert dict(after.lexical) == pytest.approx(dict(before.lexical))
        await opened_index.aclose()

    async def test_quiet_times_are_used_to_optimise(self, tmp_path: Path) -> None:
        opened_index = await opened(tmp_path, flush_seconds=0.01, optimize_after_points=10, optimize_quiet_seconds=0.0)
        await opened_index.put([piece(n, f"apple {n}") for n in range(500)])
        async with asyncio.timeout(30):
            while opened_index.unindexed_points:  # noqa: ASYNC110 - the upkeep offers no event
                await asyncio.sleep(0.01)
        assert await opened_index.count(OWNER) == 500
        await opened_index.aclose()

    async def test_too_much_is_optimised_without_a_quiet_time(self, tmp_path: Path) -> None:
        settings = {"optimize_after_points": 10, "optimize_loaded_after_points": 100, "optimize_quiet_seconds": 3_600.0}
        opened_index = await opened(tmp_path, flush_seconds=0.01, **settings)
        await opened_index.search(query("apple"), limit=1)
        await opened_index.put([piece(n, f"apple {n}") for n in range(500)])
        async with asyncio.timeout(30):
            while opened_index.unindexed_points >= 100:
                await opened_index.search(query("apple"), limit=1)
                await asyncio.sleep(0.01)
        assert await opened_index.count(OWNER) == 500
        await opened_index.aclose()

    async def test_what_is_optimised_stays_in_small_segments(self, tmp_path: Path) -> None:
        opened_index = await opened(tmp_path, optimize_after_points=200, segment_points_max=300)
        for start in range(0, 1_200, 200):
            await opened_index.put([piece(n, f"apple {n}") for n in range(start, start + 200)])
            opened_index.optimize()
        # One that is written to, and one for each 200 or 300 of the others: each was built once and never again.
        assert 1 + 1_000 // 300 <= opened_index.segments_count <= 1 + 1_200 // 200
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
