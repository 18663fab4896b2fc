"""Pages of the users of a tenant, for erasures that must find everybody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from services.common.owners import TenantId, UserId
from services.common.paging import PageTokens
from services.common.validation import Violations

_PAGE_SIZE_MAX: Final = 1_000


class UserSource(Protocol):
    """Lists users."""

    async def __call__(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users after one, in the order of their ids."""
        ...


async def users_page(
    tokens: PageTokens, tenant_id: TenantId, sources: Sequence[UserSource], *, page_size: int, page_token: str
) -> tuple[list[UserId], str]:
    """A page of users, one source after the other, and the token of the next page; empty on the last one.

    Raises:
        InvalidArgument: The page size is negative, or the token is another query's.
    """
    violations = Violations()
    limit = violations.page_size(page_size, default=_PAGE_SIZE_MAX, maximum=_PAGE_SIZE_MAX)
    violations.raise_if_any()
    query = ("ListUsers",)
    cursor = tokens.decode(page_token, tenant_id=tenant_id, query=query) or (0, "")
    number, after = int(cursor[0]), UserId(str(cursor[1]))
    found = await sources[number](tenant_id, after=after, limit=limit)
    following = (number, found[-1]) if len(found) == limit else (number + 1, "")
    is_last = following[0] == len(sources)
    return found, "" if is_last else tokens.encode(following, tenant_id=tenant_id, query=query)
