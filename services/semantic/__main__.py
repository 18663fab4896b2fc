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
    resources = SemanticResources(
        embedder=await assembly.embedder(),
        second_embedder=await assembly.second_embedder(),
        clock=assembly.clock,
        ids=assembly.ids,
        secret=assembly.secret,
        cache=assembly.cache(),
        parser=assembly.parser(),
        language_model=assembly.language_model(),
        key_ring=assembly.key_ring,
    )
    if settings.neo4j_url:
        from services.semantic.app import migrate_semantic_graph, open_semantic_graph

        graph = await assembly.graph()
        if settings.neo4j_migrate:
            await migrate_semantic_graph(graph)
        async with open_semantic_graph(graph, resources, semantic_settings) as tier:
            yield tier.bindings
        return
    if settings.postgres_owner_url:
        await migrate_semantic(settings.postgres_owner_url, app_role=settings.postgres_app_role)
    pool = await assembly.pool(vectors=True)
    async with open_semantic(pool, resources, semantic_settings, election=assembly.election()) as tier:
        yield tier.bindings


if __name__ == "__main__":
    run_service("semantic", "127.0.0.1:7703", _open)
