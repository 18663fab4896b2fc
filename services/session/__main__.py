"""The session tier as a process of its own: `python -m services.session`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence

from services.common.main import Assembly, run_service
from services.common.rpc.server import ServiceBinding
from services.common.tokens import token_counter
from services.session.app import SessionResources, open_session, redis_access
from services.session.config import SessionSettings


@contextlib.asynccontextmanager
async def _open(assembly: Assembly) -> AsyncIterator[Sequence[ServiceBinding]]:
    settings = assembly.settings
    session_settings = assembly.tier_settings(SessionSettings, "session")
    resources = SessionResources(
        tokens=token_counter(),
        clock=assembly.clock,
        ids=assembly.ids,
        secret=assembly.secret,
        keys=assembly.carried_keys,
    )
    async with open_session(
        resources,
        session_settings,
        store_url=settings.session_store_url,
        access=redis_access(settings),
        folder=assembly.data_dir / "session",
    ) as tier:
        yield tier.bindings


if __name__ == "__main__":
    run_service("session", "127.0.0.1:7701", _open)
