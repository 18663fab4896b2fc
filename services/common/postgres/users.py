"""Users of a tenant, found by an index that begins with tenant and user."""

from __future__ import annotations


def users_statement(table: str) -> str:
    """Reads $3 users of tenant $1 after user $2, in the order of their ids: one look into the index for each.

    Args:
        table: Whose primary key begins with tenant_id and user_id.
    """
    return f"""
        WITH RECURSIVE u (user_id) AS (
            (SELECT t.user_id FROM {table} AS t WHERE t.tenant_id = $1 AND t.user_id > $2 ORDER BY t.user_id LIMIT 1)
            UNION ALL
            SELECT (
                SELECT t.user_id FROM {table} AS t WHERE t.tenant_id = $1 AND t.user_id > u.user_id
                ORDER BY t.user_id LIMIT 1
            ) FROM u WHERE u.user_id IS NOT NULL
        )
        SELECT user_id FROM u WHERE user_id IS NOT NULL LIMIT $3
    """  # noqa: S608 - names of ours
