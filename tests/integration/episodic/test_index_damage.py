"""Damaged files of the embedded index: it is set aside and made again, and the service starts."""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop

from services.common.datadir import DataDirLocked
from services.common.disk import DiskWatch
from services.common.errors import StoreUnavailable
from services.episodic.config import EdgeSettings, TextSettings
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.edge_host import EdgeHost
from tests.contract.episode_index import piece, query
from tests.contract.episode_samples import OWNER

PIECES = 300
TEXTS = ("apple pie", "a pie of plums", "the tree of plums and of apples", "cake")
SETTINGS = EdgeSettings(flush_seconds=3_600.0, segment_points_max=200, optimize_after_points=100)

Damage = Callable[[Path], None]
Answers = dict[str, dict[int, float]]


def truncated(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def zeroed(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for place in range(min(len(content), 65_536)):
        content[place] ^= 0xFF
    file.write_bytes(content)


def removed(file: Path) -> None:
    if file.is_dir():
        shutil.rmtree(file)
    else:
        file.unlink()


#: What is damaged, and how. Patterns name the files of every segment.
DAMAGES: list[tuple[str, Damage]] = [
    ("edge_config.json", truncated),
    ("edge_config.json", zeroed),
    ("edge_config.json", removed),
    ("mneme-generation", zeroed),
    ("mneme-generation", emptied),
    ("mneme-generation", removed),
    ("wal", removed),
    ("wal/open-*", zeroed),
    ("wal/open-*", truncated),
    ("wal/open-*", flipped),
    ("wal/first-index", zeroed),
    ("segments", removed),
    ("segments/*", removed),
    ("segments/*/segment.json", truncated),
    ("segments/*/segment.json", zeroed),
    ("segments/*/segment.json", removed),
    ("segments/*/version.info", removed),
    ("segments/*/vector_storage-dense/matrix.dat", truncated),
    ("segments/*/vector_storage-dense/matrix.dat", zeroed),
    ("segments/*/vector_storage-dense/matrix.dat", flipped),
    ("segments/*/vector_storage-dense/vectors/chunk_0.mmap", truncated),
    ("segments/*/vector_storage-dense/vectors/chunk_0.mmap", zeroed),
    ("segments/*/vector_index-bm25/inverted_index.dat", truncated),
    ("segments/*/vector_index-bm25/inverted_index.dat", flipped),
    ("segments/*/vector_storage-bm25/store/page_0.dat", truncated),
    ("segments/*/vector_storage-bm25/store/page_0.dat", zeroed),
    ("segments/*/payload_storage/page_0.dat", truncated),
    ("segments/*/payload_storage/page_0.dat", zeroed),
    ("segments/*/payload_storage/tracker.dat", zeroed),
    ("segments/*/payload_index/config.json", zeroed),
    ("segments/*/payload_index/*-visibili-map/page_0.dat", flipped),
    ("segments/*/id_tracker.mappings", truncated),
    ("segments/*/id_tracker.versions", zeroed),
    ("segments/*/mutable_id_tracker.mappings", flipped),
]


async def opened(folder: Path) -> EdgeEpisodeIndex:
    return await EdgeEpisodeIndex.open(folder, model="hashing-test-64", dimension=64, settings=SETTINGS)


async def filled(index: EdgeEpisodeIndex) -> None:
    await index.put([piece(n, f"{TEXTS[n % 4]} {n}") for n in range(PIECES)])


async def answers(index: EdgeEpisodeIndex) -> Answers:
    found: Answers = {}
    for text in TEXTS:
        hits = await index.search(query(text), limit=PIECES)
        found[f"dense {text}"] = {int(key): round(score, 4) for key, score in hits.dense.items()}
        found[f"lexical {text}"] = {int(key): round(score, 4) for key, score in hits.lexical.items()}
    return found


async def _build(folder: Path) -> Answers:
    index = await opened(folder / "closed")
    await index.put([piece(n, f"{TEXTS[n % 4]} {n}") for n in range(200)])
    await index.optimize()
    await filled(index)
    await index._host.call("flush")
    expected = await answers(index)
    shutil.copytree(folder / "closed", folder / "killed")
    await index.aclose()
    return expected


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Answers]:
    """An index that was closed and one whose process was killed, in folders of these names, and what both answer."""
    folder = tmp_path_factory.mktemp("shards")
    return folder, asyncio.run(_build(folder))


#: Checksums tell any change of a closed index, so that few ways of damage stand for all.
CASES = [("killed", *case) for case in DAMAGES] + [("closed", *case) for case in DAMAGES[::6]]
MANY = pytest.mark.ci("each start makes the index anew")


@pytest.mark.parametrize(
    ("state", "pattern", "damage"),
    [
        pytest.param(*case, id=f"{case[0]}-{case[1]}-{case[2].__name__}", marks=[MANY] * bool(number % 6))
        for number, case in enumerate(CASES)
    ],
)
async def test_a_damaged_index_is_set_aside_and_never_prevents_the_start(
    tmp_path: Path, shards: tuple[Path, Answers], state: str, pattern: str, damage: Damage
) -> None:
    source, expected = shards
    folder = tmp_path / "qdrant"
    shutil.copytree(source / state, folder)
    (shard,) = [found for found in folder.iterdir() if found.is_dir()]
    name_before = (shard / "mneme-generation").read_text()
    files = list(shard.glob(pattern))
    assert files
    for file in files:
        damage(file)

    index = await opened(folder)
    try:
        await index.settle()
        is_same = index.model.endswith(name_before)
        set_aside = list(folder.glob("damaged-*"))
        if set_aside and is_same:
            with pytest.raises(StoreUnavailable):  # so that reconciliation begins
                await index.count(OWNER)
        count = await index.count(OWNER)
        # Nothing is wrong without being noticed: by another name, by what is missing, or it answers as before.
        if is_same and count == PIECES:
            assert await answers(index) == expected
        assert not set_aside or count == 0
        # As the reconciler does with an index of another name, or with fewer points than PostgreSQL says.
        await filled(index)
        assert await answers(index) == expected
    finally:
        await index.aclose()


async def test_an_engine_that_dies_is_started_again_and_its_points_are_still_there(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    await filled(index)
    expected = await answers(index)
    process = index._host._process
    assert process is not None
    process._process.kill()
    with pytest.raises(StoreUnavailable):
        await index.count(OWNER)
    async with asyncio.timeout(60):
        while True:
            try:
                assert await index.count(OWNER) == PIECES
                break
            except StoreUnavailable:
                await index.settle()
    assert await answers(index) == expected
    assert not list(tmp_path.glob("damaged-*"))  # noqa: ASYNC240 - nothing else runs
    await index.aclose()


async def test_a_second_service_is_refused_while_the_first_has_the_index_open(tmp_path: Path) -> None:
    index = await opened(tmp_path)
    host = EdgeHost(
        next(found for found in tmp_path.iterdir() if found.is_dir()),  # noqa: ASYNC240
        dimension=64,
        text=TextSettings(),
        settings=EdgeSettings(lock_wait_seconds=0.05),
        disk=DiskWatch(tmp_path),
        on_lost=lambda: None,
    )
    with pytest.raises(DataDirLocked, match=f"in use by process {os.getpid()}"):
        await host.open()
    await index.aclose()
    await host.open()
    await host.aclose()


def test_the_engine_runs_under_the_event_loop_of_the_services(tmp_path: Path) -> None:
    async def put_and_count() -> int:
        index = await opened(tmp_path)
        await filled(index)
        count = await index.count(OWNER)
        await index.aclose()
        return count

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(put_and_count()) == PIECES
