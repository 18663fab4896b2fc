"""Removal of everything that a user has in a graph, in transactions of bounded size."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, LiteralString, TypeAlias

from services.common.neo4j.graph import Graph, GraphTransaction

REMOVED_MAX: Final = 2_000
"""Nodes that one transaction removes at most where all of a user goes. Each may have some edges."""

Step: TypeAlias = Callable[[GraphTransaction, int], Awaitable[int]]
"""Removes at most so many nodes of one kind in a transaction; how many."""


@dataclass(frozen=True, slots=True)
class RemovalQueries:
    """The queries about a user's node, which is the lock of the user's writers. Constants: tests read their plans."""

    lock: LiteralString
    count: LiteralString
    take_count: LiteralString

    @classmethod
    def of(cls, label: LiteralString) -> RemovalQueries:
        """The queries of a label, such as "MnemeFactOwner"."""
        node: LiteralString = f"(o:{label} {{tenant_id: $tenant_id, user_id: $user_id}})"
        return cls(
            lock=f"MERGE {node} SET o.works = coalesce(o.works, 0) + 1",
            count=f"MATCH {node} SET o.removed = coalesce(o.removed, 0) + $count",
            take_count=f"MATCH {node} WITH o, coalesce(o.removed, 0) AS removed REMOVE o.removed RETURN removed",
        )

    @property
    def all(self) -> tuple[LiteralString, ...]:
        """Every query."""
        return (self.lock, self.count, self.take_count)


def query_step(query: LiteralString, key: Mapping[str, Any]) -> Step:
    """The step of a query that takes `$limit` nodes at most and returns how many as `removed`."""

    async def step(transaction: GraphTransaction, limit: int) -> int:
        [row] = await transaction.run(query, {**key, "limit": limit})
        return int(row["removed"])

    return step


async def remove_in_pages(
    graph: Graph, steps: Sequence[Step], key: Mapping[str, Any], *, queries: RemovalQueries, limit: int
) -> int:
    """Runs steps until none finds anything, in transactions that remove at most `limit` nodes.

    What was removed stays removed when a later transaction fails or the caller's time ends: a repeat removes the rest.
    The last transaction runs every step once more, so that what a writer stored between two transactions goes too.

    Args:
        graph: Where the user's nodes are.
        steps: In their order. What the first one removes is counted.
        key: Tenant and user.
        queries: About the user's node.
        limit: Nodes of one transaction, >= 1.

    Returns:
        How many nodes the first step removed, those of repeats included that were interrupted before this one.
    """

    async def page(first: int, transaction: GraphTransaction) -> tuple[int, int | None]:
        """The step to go on with, and the result once nothing is left."""
        await transaction.run(queries.lock, key)
        left = limit
        for number, step in enumerate(steps[first:], first):
            removed = await step(transaction, left)
            left -= removed
            if removed and number == 0:
                await transaction.run(queries.count, {**key, "count": removed})
            if left <= 0:
                return number, None
        if first:
            return 0, None
        [row] = await transaction.run(queries.take_count, key)
        return 0, int(row["removed"])

    following, result = 0, None
    while result is None:
        following, result = await graph.write(partial(page, following))
    return result
