"""The proof: write, look, erase, purge, look again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import asyncpg
import numpy as np

from bench.prove_erase import writing
from bench.prove_erase.canaries import Canaries, Pattern, vector_patterns
from bench.prove_erase.scanning import Scan, scan_folders
from bench.prove_erase.servers import Servers
from bench.settling import settled
from mneme_client import Client, ErasureState
from services.cli.purging import purge_data_dir, purge_installation
from services.cli.stack import StackSettings, run_stack
from services.common.embedding.embedder import OnnxEmbedder
from services.common.embedding.factory import EmbeddingSettings, create_embedder
from services.common.hosting import HostSettings
from services.common.postgres.purging_online import OnlinePurgeSettings

USER: Final = "somebody"
_NEIGHBOUR: Final = "neighbour"
_CALL_SECONDS: Final = 120.0
"""A Neo4j that was just started takes long for its first writes."""
_EPISODES: Final = "SELECT query FROM episodic.episodes WHERE user_id = $1"
_MUST_BE_SEEN: Final = (
    *("turn", "long turn", "place", "speaker", "metadata", "session turn", "fact", "updated fact", "note", "tag"),
    *("profile", "recall query", "deleted session", "dead letter", "tokens", "episode"),
)


@dataclass
class Proof:
    """What was found when."""

    before: Scan
    """Before the erasure, when each canary has to be found: otherwise the scans after it prove nothing."""
    erased: Scan
    """After the erasure, before the purge."""
    after: Scan
    """After the purge."""
    unseen: list[str] = field(default_factory=list)
    """What the first scan should have found and did not."""
    abandoned: Scan = field(default_factory=Scan)
    """Files that are to be deleted as a whole, since their engine cannot be purged in place."""

    @property
    def holds(self) -> bool:
        """Whether nothing is left of what was seen, and all of it was searched."""
        return not (self.after.hits or self.after.unread or self.unseen)


async def prove(
    data_dir: Path,
    *,
    neighbours: int,
    model_folder: Path | None = None,
    servers: Servers | None = None,
    while_running: bool = False,
) -> Proof:
    """Writes canaries, erases their user, purges, and searches all files each time.

    Args:
        data_dir: A folder that does not exist yet.
        neighbours: Turns of another user, who stays.
        model_folder: A built embedding model; None builds one.
        servers: Engines in the place of the embedded ones; the vector index stays in the folder.
        while_running: Purge and look while the services run, instead of after they stopped; not with servers.
    """
    canaries, made = Canaries(), list[OnnxEmbedder]()

    def make(settings: EmbeddingSettings) -> OnnxEmbedder:
        made.append(create_embedder(settings))
        return made[0]

    host = servers.host if servers else HostSettings()
    host = host.model_copy(update={"otlp_endpoint": ""})
    if model_folder is not None:
        host = host.model_copy(update={"embedding_model_dir": model_folder})
    settings = StackSettings(data_dir=data_dir, port=0, host_settings=host, grace_seconds=1.0)
    folders = {**_folders(data_dir), **(servers.folders if servers else {})}
    async with (
        run_stack(settings, make_embedder=make) as running,
        Client(running.gateway_target, default_timeout_seconds=_CALL_SECONDS) as client,
    ):
        url = servers.superuser_url if servers else _superuser_url(running.postgres_dsn)
        await writing.write_neighbours(client, _NEIGHBOUR, neighbours)
        await settled(client)
        await writing.write(client, USER, canaries)
        await settled(client)
        await writing.plant_dead_letter(url, USER, canaries)
        vectors = await writing.stored_vectors(url, USER) + await _episode_vectors(url, made[0])
        await _sql(url, "ANALYZE", "CHECKPOINT")
        if servers:
            vectors += await servers.vectors(USER)
        before = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
        erasure = await client.erase_user(USER)
        while erasure.state is not ErasureState.DONE:
            await asyncio.sleep(0.1)
            erasure = await client.get_erasure(erasure.erasure_id)
        if while_running:
            erased = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
            await purge_installation(data_dir, "", OnlinePurgeSettings(), index_seconds=_CALL_SECONDS)
            after = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
            await client.recall(_NEIGHBOUR, "a question")
            return Proof(before, erased, after, _unseen(before, ()))
    erased = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
    await purge_data_dir(data_dir, servers.superuser_url if servers else "")
    abandoned = Scan()
    if servers:
        await servers.rewrite_redis()
        await servers.copy(data_dir)
        await asyncio.to_thread(servers.stop_graph)
        left = {store: folder for store, folder in folders.items() if store.startswith("Neo4j")}
        abandoned = await asyncio.to_thread(scan_folders, left, canaries, vectors)
        folders = {**{store: path for store, path in folders.items() if store not in left}, **servers.fresh_folders}
    after = await asyncio.to_thread(scan_folders, folders, canaries, vectors)
    expected = ("Redis", "Neo4j transaction logs") if servers else ()  # its stores are written when it ends
    return Proof(before, erased, after, _unseen(before, expected), abandoned)


def _unseen(before: Scan, expected: Sequence[str]) -> list[str]:
    """What the first scan should have found and did not."""
    seen, found_in = {hit.name for hit in before.hits}, before.by_store()
    return [
        *(f"{name} was not found before" for name in _MUST_BE_SEEN if name not in seen),
        *(f"nothing was found in {store} before" for store in expected if not found_in[store]),
    ]


def _folders(data_dir: Path) -> Mapping[str, Path]:
    return {
        "write-ahead log": data_dir / "postgres" / "cluster" / "pg_wal",
        "PostgreSQL": data_dir / "postgres",
        "vector index": data_dir / "qdrant",
        "sessions": data_dir / "session",
        "other files": data_dir,
    }


def _superuser_url(url: str) -> str:
    return url.replace("mneme_app@", "postgres@", 1)


async def _sql(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


async def _episode_vectors(url: str, embedder: OnnxEmbedder) -> list[Pattern]:
    connection = await asyncpg.connect(url)
    try:
        texts = [row["query"] for row in await connection.fetch(_EPISODES, USER)]
    finally:
        await connection.close()
    return [
        pattern
        for vector in await embedder.embed_documents(texts)
        for pattern in vector_patterns("episode", np.array(vector, np.float32))
    ]
