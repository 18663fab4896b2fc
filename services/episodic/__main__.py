"""The episodic tier as a process of its own: `python -m services.episodic`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from services.common.disk import DiskSettings, DiskWatch
from services.common.main import Assembly, run_service
from services.common.rpc.server import ServiceBinding
from services.episodic.app import EpisodicResources, migrate_episodic, open_episodic, qdrant_server
from services.episodic.config import EpisodicSettings


@contextlib.asynccontextmanager
async def _open(assembly: Assembly) -> AsyncIterator[Sequence[ServiceBinding]]:
    settings = assembly.settings
    episodic_settings = assembly.tier_settings(EpisodicSettings, "episodic")
    if settings.postgres_owner_url:
        await migrate_episodic(settings.postgres_owner_url, app_role=settings.postgres_app_role)
    folder = settings.qdrant_dir or assembly.data_dir / "qdrant"
    pool = await assembly.pool()
    models = await assembly.models(pool)
    resources = EpisodicResources(
        embedder=models.embedder,
        second_embedder=models.second_embedder,
        serving=models.serving,
        clock=assembly.clock,
        secret=assembly.secret,
        cache=assembly.cache(),
        key_ring=assembly.key_ring,
        superuser_url=settings.postgres_purge_url,
        disk=DiskWatch(folder, assembly.tier_settings(DiskSettings, "disk")),
        language_model=assembly.language_model(),
    )
    server = qdrant_server(settings)
    async with open_episodic(
        pool, folder, resources, episodic_settings, qdrant_server=server, election=assembly.election()
    ) as tier:
        yield tier.bindings


if __name__ == "__main__":
    run_service("episodic", "127.0.0.1:7702", _open)
