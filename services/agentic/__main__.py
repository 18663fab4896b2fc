"""The agentic tier as a process of its own: `python -m services.agentic`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from services.agentic.app import (
    AgenticResources,
    migrate_agentic,
    migrate_agentic_graph,
    open_agentic,
    open_agentic_graph,
)
from services.agentic.config import AgenticSettings
from services.common.main import Assembly, run_service
from services.common.rpc.server import ServiceBinding


@contextlib.asynccontextmanager
async def _open(assembly: Assembly) -> AsyncIterator[Sequence[ServiceBinding]]:
    settings = assembly.settings
    agentic_settings = assembly.tier_settings(AgenticSettings, "agentic")
    if settings.postgres_owner_url and not settings.neo4j_url:
        await migrate_agentic(settings.postgres_owner_url, app_role=settings.postgres_app_role)
    # Beside Neo4j the database is asked for the choice of the model alone, where it is configured.
    pool = None if settings.neo4j_url else await assembly.pool(vectors=True)
    models = await assembly.models(pool or await assembly.choice_pool())
    resources = AgenticResources(
        embedder=models.embedder,
        second_embedder=models.second_embedder,
        serving=models.serving,
        clock=assembly.clock,
        ids=assembly.ids,
        secret=assembly.secret,
        cache=assembly.cache(),
        key_ring=assembly.key_ring,
    )
    if pool is None:
        graph = await assembly.graph()
        if settings.neo4j_migrate:
            await migrate_agentic_graph(graph)
        async with open_agentic_graph(graph, resources, agentic_settings) as tier:
            yield tier.bindings
        return
    async with open_agentic(pool, resources, agentic_settings, election=assembly.election()) as tier:
        yield tier.bindings


if __name__ == "__main__":
    run_service("agentic", "127.0.0.1:7704", _open)
