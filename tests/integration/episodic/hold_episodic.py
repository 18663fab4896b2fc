"""A process that stores episodes and gets stuck while indexing: `python -m tests.integration.episodic.hold_episodic`.

Arguments: data folder, number of episodes, number of texts that are embedded before the embedder hangs. Prints `stored`
when everything is acknowledged and the embedder hangs, and waits to be killed.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from services.common.clock import SystemClock
from services.common.datadir import DataDir
from services.common.embedding.vectors import Matrix
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.turns import MessageRole
from services.episodic.app import EpisodicResources, migrate_episodic, open_episodic
from services.episodic.config import EpisodicSettings, IndexerSettings
from services.episodic.importance import ImportanceSettings
from services.episodic.model import EpisodeId, NewEpisode, Owner, TenantId, UserId
from services.episodic.service import StoreItem
from tests.support.embedding import HashingEmbedder

OWNER = Owner(TenantId("acme"), UserId("ann"))
SECRET = b"a secret of at least thirty-two bytes"
SETTINGS = EpisodicSettings(indexer=IndexerSettings(batch_max=4), importance=ImportanceSettings(with_prototypes=False))


class HangingEmbedder(HashingEmbedder):
    """Embeds some texts and then no more."""

    def __init__(self, texts_max: int) -> None:
        super().__init__(64)
        self._texts_max = texts_max
        self.hangs = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Matrix:
        if len(self.documents) >= self._texts_max:
            self.hangs.set()
            await asyncio.Event().wait()
        return await super().embed_documents(texts)


def item(number: int) -> StoreItem:
    episode_id = EpisodeId(UUID(int=number))
    episode = NewEpisode(
        episode_id=episode_id,
        owner=OWNER,
        conversation_id="s",
        position=number,
        role=MessageRole.USER,
        time=SystemClock().now(),
        query=f"harbour {number}",
    )
    return StoreItem(episode_id=str(episode_id), episode=episode)


async def _hold(folder: Path, *, count: int, embedded: int) -> None:
    embedder = HangingEmbedder(embedded)
    with DataDir(folder) as data_dir:
        server = EmbeddedPostgres(data_dir)
        await server.start()
        await migrate_episodic(server.dsn(role="mneme_owner"))
        pool = await create_pool(server.app_dsn)
        resources = EpisodicResources(embedder=embedder, clock=SystemClock(), secret=SECRET)
        async with open_episodic(pool, data_dir.qdrant, resources, SETTINGS) as tier:
            items = [item(number) for number in range(count)]
            results = await tier.episodes.store_episodes(OWNER.tenant_id, items, wait_until_active=False)
            assert all(result.created for result in results)
            await embedder.hangs.wait()
            sys.stdout.write("stored\n")
            sys.stdout.flush()
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_hold(Path(sys.argv[1]), count=int(sys.argv[2]), embedded=int(sys.argv[3])))
