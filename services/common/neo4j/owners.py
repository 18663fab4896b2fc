"""Pages of the users of all tenants, for background work."""

from __future__ import annotations

from typing import Final, LiteralString

BEHIND_ALL_IDS: Final = "~"
"""Sorts behind every id that is a UUID."""


def page_of_owners(label: LiteralString) -> LiteralString:
    """Cypher for the next users behind a place, as `tenant_id` and `user_id`, in the order of their keys.

    Two seeks, of which each reads no more of the index than a page: the other users of the tenant of the place, and
    those of later tenants. One condition for both would read all users, or all that come before the page.

    Args:
        label: Nodes that have an index on `tenant_id` and `user_id`, one node for each user.

    Returns:
        The beginning of a query with the parameters `tenant_id` and `user_id`, both empty for the first page, and
        `limit`.
    """
    return f"""
CALL () {{
    MATCH (o:{label} {{tenant_id: $tenant_id}})
    USING INDEX o:{label}(tenant_id, user_id)
    WHERE o.user_id > $user_id
    WITH o ORDER BY o.tenant_id, o.user_id LIMIT $limit
    RETURN o.tenant_id AS tenant_id, o.user_id AS user_id
    UNION ALL
    MATCH (o:{label})
    USING INDEX o:{label}(tenant_id, user_id)
    WHERE o.tenant_id > $tenant_id AND o.user_id IS NOT NULL
    WITH o ORDER BY o.tenant_id, o.user_id LIMIT $limit
    RETURN o.tenant_id AS tenant_id, o.user_id AS user_id
}}
WITH tenant_id, user_id ORDER BY tenant_id, user_id LIMIT $limit
"""
