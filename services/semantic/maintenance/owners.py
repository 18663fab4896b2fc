"""The users whose facts a job looks at, in the order of its cursor."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from services.common.owners import Owner, TenantId, UserId
from services.semantic.facts.upkeep_store import FactUpkeepStore, OwnerFacts


async def owners_behind(
    store: FactUpkeepStore, cursor: str, *, owner: Owner | None, page_size: int
) -> AsyncIterator[OwnerFacts]:
    """Users with active facts behind a cursor; only the one given, where there is one."""
    last = Owner(*_parts(cursor)) if cursor else None
    while page := await store.active_counts(after=last, limit=page_size, only=owner):
        for found in page:
            last = found.owner
            yield found


def cursor_of(owner: Owner) -> str:
    """The cursor behind a user."""
    return json.dumps([owner.tenant_id, owner.user_id])


def _parts(cursor: str) -> tuple[TenantId, UserId]:
    tenant_id, user_id = json.loads(cursor)
    return TenantId(tenant_id), UserId(user_id)
