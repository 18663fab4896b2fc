"""Pages of a tenant's users, from several lists."""

from __future__ import annotations

import pytest

from services.common.errors import InvalidArgument
from services.common.owners import TenantId, UserId
from services.common.paging import PageTokens
from services.common.users import UserSource, users_page

ACME = TenantId("acme")


def source(*user_ids: str) -> UserSource:
    async def users(tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        assert tenant_id == ACME
        return [UserId(user_id) for user_id in sorted(user_ids) if user_id > after][:limit]

    return users


async def test_spec_6_6_pages_hold_the_users_of_all_lists() -> None:
    tokens, found, token = PageTokens(b"s" * 32), list[UserId](), ""
    sources = [source("a", "b", "c"), source(), source("b", "d")]
    for _ in range(10):
        page, token = await users_page(tokens, ACME, sources, page_size=2, page_token=token)
        assert len(page) <= 2
        found += page
        if not token:
            break
    assert found == ["a", "b", "c", "b", "d"]
    with pytest.raises(InvalidArgument):
        await users_page(tokens, ACME, sources, page_size=-1, page_token="")
    with pytest.raises(InvalidArgument):
        await users_page(tokens, ACME, sources, page_size=2, page_token="nonsense")
