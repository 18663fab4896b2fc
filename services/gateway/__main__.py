"""The gateway as a process of its own: `python -m services.gateway`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

import structlog

from services.common.main import Assembly, run_service
from services.common.rpc.server import GrpcServer, ServiceBinding
from services.gateway.app import GatewayResources, migrate_gateway, open_gateway
from services.gateway.config import GatewaySettings, TierTargets

_log = structlog.get_logger(__name__)


@contextlib.asynccontextmanager
async def _open(assembly: Assembly) -> AsyncIterator[Sequence[ServiceBinding]]:
    settings = assembly.settings
    gateway_settings = assembly.tier_settings(GatewaySettings, "gateway")
    if settings.postgres_owner_url:
        await migrate_gateway(settings.postgres_owner_url, app_role=settings.postgres_app_role)
    if gateway_settings.tells_other_gateways and not settings.notice_url:
        _log.warning(
            "gateways_not_told",
            reason="MNEME_POSTGRES_DIRECT_URL is not set, and notices do not pass PgBouncer",
            instead="this gateway looks for the deliveries of others from time to time",
        )
    targets = TierTargets(
        session=settings.session_target,
        episodic=settings.episodic_target,
        semantic=settings.semantic_target,
        agentic=settings.agentic_target,
    )
    pool = await assembly.pool()
    models = await assembly.models(pool)
    resources = GatewayResources(
        embedder=models.embedder,
        second_embedder=models.second_embedder,
        serving=models.serving,
        clock=assembly.clock,
        ids=assembly.ids,
        secret=assembly.secret,
        notice_dsn=settings.notice_url,
        rates=assembly.rates,
        key_ring=assembly.key_ring,
    )
    async with open_gateway(pool, targets, resources, gateway_settings, tls=settings.upstream_tls) as gateway:
        yield gateway.bindings


@contextlib.asynccontextmanager
async def _beside(assembly: Assembly, bindings: Sequence[ServiceBinding], server: GrpcServer) -> AsyncIterator[None]:
    settings = assembly.settings
    if not settings.http_listen:
        yield
        return
    # Imported here: its libraries are an extra.
    from services.gateway.http.server import http_server

    http_settings = assembly.tier_settings(GatewaySettings, "gateway").http
    async with http_server(settings.http_listen, bindings, server, http_settings, tls=settings.tls):
        yield


if __name__ == "__main__":
    run_service("gateway", "127.0.0.1:7700", _open, beside=_beside)
