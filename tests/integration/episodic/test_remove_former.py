"""`mneme model remove-former`: the index of a former model goes, the one in use stays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient
from typer.testing import CliRunner

from services.cli import model_indexes
from services.cli.main import app
from services.common.datadir import DataDirLocked
from services.common.embedding.encoder import OnnxSentenceEncoder
from services.common.errors import FailedPrecondition
from services.episodic.config import QdrantSettings
from services.episodic.stores.edge import EdgeEpisodeIndex
from services.episodic.stores.edge_shard import removed_shards
from services.episodic.stores.qdrant import QdrantEpisodeIndex
from services.episodic.stores.qdrant_connection import QdrantConnection
from tests.contract.episode_index import piece, query
from tests.support.embedding import HashingEmbedder
from tests.unit.embedding.test_encoder import write_model

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

FORMER = HashingEmbedder(64, "former")
PRESENT = HashingEmbedder(64, "present")
QDRANT = QdrantSettings()


async def _fill(folder: Path, embedder: HashingEmbedder) -> None:
    index = await EdgeEpisodeIndex.open(folder, model=embedder.fingerprint, dimension=embedder.dimension)
    await index.put([piece(1, "apple")])
    await index.aclose()


async def test_spec_8_4_the_shard_of_a_former_model_is_removed_and_that_in_use_stays(tmp_path: Path) -> None:
    for embedder in (FORMER, PRESENT):
        await _fill(tmp_path, embedder)

    found = await model_indexes.shards(tmp_path, PRESENT)
    assert [(index.name, index.is_in_use) for index in found] == [
        ("episodes-64-former-64", False),
        ("episodes-64-present-64", True),
    ]
    await model_indexes.remove_shards(tmp_path, found)

    assert not (tmp_path / "episodes-64-former-64").exists()
    assert [index.is_in_use for index in await model_indexes.shards(tmp_path, PRESENT)] == [True]
    kept = await EdgeEpisodeIndex.open(tmp_path, model=PRESENT.fingerprint, dimension=64)
    assert (await kept.search(query("apple"), limit=1)).lexical
    await kept.aclose()


async def test_spec_8_4_an_interrupted_removal_is_completed_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for embedder in (FORMER, PRESENT):
        await _fill(tmp_path, embedder)
    found = await model_indexes.shards(tmp_path, PRESENT)
    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr("services.episodic.stores.edge_shard.shutil.rmtree", _interrupted)
        await model_indexes.remove_shards(tmp_path, found)
    assert removed_shards(tmp_path) == ["removed-episodes-64-former-64"]

    await model_indexes.remove_shards(tmp_path, await model_indexes.shards(tmp_path, PRESENT))

    assert removed_shards(tmp_path) == []


def _interrupted(_path: Path, ignore_errors: bool = False) -> None:
    if not ignore_errors:
        raise KeyboardInterrupt


async def test_spec_8_4_a_shard_that_a_service_has_open_is_not_removed(tmp_path: Path) -> None:
    await _fill(tmp_path, PRESENT)
    open_one = await EdgeEpisodeIndex.open(tmp_path, model=FORMER.fingerprint, dimension=64)
    with pytest.raises(DataDirLocked):
        await model_indexes.remove_shards(tmp_path, await model_indexes.shards(tmp_path, PRESENT))
    await open_one.put([piece(1, "apple")])
    assert (await open_one.search(query("apple"), limit=1)).lexical
    await open_one.aclose()


async def test_spec_8_4_nothing_is_removed_where_the_model_has_no_index(tmp_path: Path) -> None:
    await _fill(tmp_path, FORMER)
    with pytest.raises(FailedPrecondition):
        await model_indexes.shards(tmp_path, PRESENT)


async def test_spec_8_4_the_collection_of_a_former_model_is_removed_and_that_in_use_stays() -> None:
    client = AsyncQdrantClient(location=":memory:")
    indexes = [
        await QdrantEpisodeIndex.open(client, model=embedder.fingerprint, dimension=64, settings=QDRANT)
        for embedder in (FORMER, PRESENT)
    ]
    for index in indexes:
        await index.put([piece(1, "apple")])
    connection = QdrantConnection(client, QDRANT)
    with pytest.raises(FailedPrecondition):
        await model_indexes.collections(connection, QDRANT, HashingEmbedder(64, "another"))

    found = await model_indexes.collections(connection, QDRANT, PRESENT)
    assert [index.is_in_use for index in found] == [False, True]
    await model_indexes.remove_collections(connection, found)

    assert [index.is_in_use for index in await model_indexes.collections(connection, QDRANT, PRESENT)] == [True]
    assert (await indexes[-1].search(query("apple"), limit=1)).lexical
    await connection.aclose()


async def test_spec_8_4_the_command_removes_former_indexes_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, qdrant = tmp_path / "model", tmp_path / "data" / "qdrant"
    folder.mkdir()
    write_model(folder, inputs=("input_ids", "attention_mask"), output="token_embeddings")
    encoder = OnnxSentenceEncoder(folder)
    own = await EdgeEpisodeIndex.open(qdrant, model=encoder.fingerprint, dimension=encoder.dimension)
    await own.aclose()
    await _fill(qdrant, FORMER)
    monkeypatch.setenv("MNEME_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MNEME_EMBEDDING_MODEL_DIR", str(folder))
    former = qdrant / "episodes-64-former-64"

    monkeypatch.setenv("MNEME_EMBEDDING_SECOND_MODEL_DIR", str(folder))
    assert await _invoke("model", "remove-former") == 1
    monkeypatch.delenv("MNEME_EMBEDDING_SECOND_MODEL_DIR")
    assert await _invoke("model", "remove-former", "--check") == 0
    assert former.exists()
    assert await _invoke("model", "remove-former") == 0

    assert not former.exists()
    assert [path.name for path in qdrant.glob("episodes-*") if path.is_dir()] != []
    assert await _invoke("model", "remove-former") == 0


async def _invoke(*words: str) -> int:
    """In a thread: a command makes an event loop of its own."""
    return (await asyncio.to_thread(CliRunner().invoke, app, list(words))).exit_code
