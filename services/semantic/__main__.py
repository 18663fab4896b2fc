"""The semantic tier as a process of its own: `python -m services.semantic`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from services.common.main import Assembly, run_service
from services.common.rpc.server import ServiceBinding
from services.semantic.app import SemanticResources, migrate_semantic, open_semantic
from services.semantic.config import SemanticSettings


@contextlib.asynccontextmanager
async def _open(assembly: Assembly) -> AsyncIterator[Sequence[ServiceBinding]]:
    settings = assembly.settings
    semantic_settings = assembly.tier_settings(SemanticSettings, "semantic")
    if settings.postgres_owner_url and not settings.neo4j_url:
        await migrate_semantic(settings.postgres_owner_url, app_role=settings.postgres_app_role)
    # Beside Neo4j the database is asked for the choice of the model alone, where it is configured.
    pool = None if settings.neo4j_url else await assembly.pool(vectors=True)
    models = await assembly.models(pool or await assembly.choice_pool())
    resources = SemanticResources(
        embedder=models.embedder,
        second_embedder=models.second_embedder,
        serving=models.serving,
        clock=assembly.clock,
        ids=assembly.ids,
        secret=assembly.secret,
        cache=assembly.cache(),
        parser=assembly.parser(),
        comparer=assembly.comparer(),
        language_model=assembly.language_model(),
        key_ring=assembly.key_ring,
    )
    if pool is None:
        from services.semantic.app import migrate_semantic_graph, open_semantic_graph

        graph = await assembly.graph()
        if settings.neo4j_migrate:
            await migrate_semantic_graph(graph)
        async with open_semantic_graph(graph, resources, semantic_settings) as tier:
            yield tier.bindings
        return
    async with open_semantic(pool, resources, semantic_settings, election=assembly.election()) as tier:
        yield tier.bindings


if __name__ == "__main__":
    run_service("semantic", "127.0.0.1:7703", _open)
