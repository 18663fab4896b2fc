"""The purge of the embedded index while it is in use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings, TextSettings
from services.episodic.store import IndexedPiece
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.edge_purge import purge_closed_shards
from tests.contract.episode_index import key_of, piece, query
from tests.contract.episode_samples import OWNER

PIECES = 300
SETTINGS = EdgeSettings(flush_seconds=3_600.0, segment_points_max=200, optimize_after_points=100)


async def _filled(folder: Path) -> EdgeEpisodeIndex:
    index = await EdgeEpisodeIndex.open(folder, model="hashing-test-64", dimension=64, settings=SETTINGS)
    await index.put([piece(n, f"apple {n}") for n in range(PIECES)])
    await index.optimize()
    return index


def _erased() -> IndexedPiece:
    return piece(7, "apple 7")


def _files_with(folder: Path, erased: IndexedPiece) -> list[Path]:
    vector = erased.vector / np.linalg.norm(erased.vector)
    pattern = vector.astype("<f4")[:16].tobytes()
    return [path for path in folder.rglob("*") if path.is_file() and pattern in path.read_bytes()]


async def test_spec_6_6_a_removed_vector_is_in_no_file_of_an_open_index_after_a_purge(tmp_path: Path) -> None:
    index = await _filled(tmp_path)
    try:
        await index.remove(OWNER, [key_of(7)])
        await index._host.call("flush")
        assert await asyncio.to_thread(_files_with, tmp_path, _erased())
        purging = asyncio.create_task(index.purge())
        hits = await index.search(query("apple 8"), limit=PIECES)  # waits, or is answered from the cache
        await purging
        assert len(hits.dense) == PIECES - 1
        assert await asyncio.to_thread(_files_with, tmp_path, _erased()) == []
        assert await index.count(OWNER) == PIECES - 1
        await index.put([piece(400, "pear")])
        assert key_of(400) in (await index.search(query("pear"), limit=3)).lexical
    finally:
        await index.aclose()


async def test_spec_6_6_an_index_whose_purge_was_killed_is_used_on_and_can_be_purged(tmp_path: Path) -> None:
    index = await _filled(tmp_path)
    try:
        await index.remove(OWNER, [key_of(7)])
        purging = asyncio.create_task(index.purge())
        await asyncio.sleep(0.01)  # wherever that is
        process = index._host._process
        assert process is not None
        process._process.kill()
        with pytest.raises(StoreUnavailable):
            await purging
        async with asyncio.timeout(60):
            while True:
                try:
                    assert await index.count(OWNER) == PIECES - 1
                    break
                except StoreUnavailable:
                    await asyncio.sleep(0.05)
        await index.settle()
        assert not list(tmp_path.glob("damaged-*"))  # noqa: ASYNC240 - nothing else runs
        await index.purge()
        assert await asyncio.to_thread(_files_with, tmp_path, _erased()) == []
    finally:
        await index.aclose()


async def test_spec_6_6_a_purge_that_fails_does_not_cost_the_index(tmp_path: Path) -> None:
    index = await _filled(tmp_path)
    try:
        (shard,) = [found for found in tmp_path.iterdir() if found.is_dir()]  # noqa: ASYNC240 - nothing else runs
        # Neither made nor opened: the engine asks for another dimension than the shard has.
        await index._host.call("__setattr__", "_dimension", 65)
        with pytest.raises(StoreUnavailable):
            await index.purge()
        async with asyncio.timeout(60):
            while True:
                try:
                    assert await index.count(OWNER) == PIECES
                    break
                except StoreUnavailable:
                    await asyncio.sleep(0.05)
        assert shard.exists()
        assert not list(tmp_path.glob("damaged-*"))  # noqa: ASYNC240
    finally:
        await index.aclose()


async def test_spec_6_6_closed_indexes_are_purged_and_open_and_damaged_ones_are_not_taken_for_such(
    tmp_path: Path,
) -> None:
    former = await _filled(tmp_path)
    await former.remove(OWNER, [key_of(7)])
    await former.aclose()
    (tmp_path / "damaged-x-episodes-64-model").mkdir()
    current = await EdgeEpisodeIndex.open(tmp_path, model="another", dimension=64, settings=SETTINGS)
    try:
        assert await asyncio.to_thread(_files_with, tmp_path, _erased())
        assert await purge_closed_shards(tmp_path, text=TextSettings(), settings=SETTINGS) == 1
        assert await asyncio.to_thread(_files_with, tmp_path, _erased()) == []
        assert not list(tmp_path.glob("damaged-*"))  # noqa: ASYNC240
        assert await current.count(OWNER) == 0
    finally:
        await current.aclose()
    again = await EdgeEpisodeIndex.open(tmp_path, model="hashing-test-64", dimension=64, settings=SETTINGS)
    assert await again.count(OWNER) == PIECES - 1
    await again.aclose()
