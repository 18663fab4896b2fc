"""The queue of supersessions in Neo4j."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, GraphSealing, opened_in_graph
from services.common.maintenance.neo4j import check_graph_fence
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.owners import Owner, TenantId, UserId
from services.semantic.stores.neo4j_sealing import SUPERSESSIONS
from services.semantic.supersession.model import QueuedPair, Strength, Supersession, SupersessionPosition
from services.semantic.supersession.queue_store import Judge
from services.semantic.supersession.resolving import reopened, settled
from services.semantic.supersession.stores.neo4j import found_maps, key_of, put_decided, supersession_of
from services.semantic.supersession.stores.neo4j_queries import DECIDED, LOCK, QUEUED, QUEUED_BY_ID, QUEUED_OWNERS


class Neo4jSupersessionQueue:
    """Implements `SupersessionQueueStore`; see there for what each method guarantees."""

    def __init__(self, graph: Graph, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS) -> None:
        """Uses a graph whose migrations ran; its owner closes it. Statements are encrypted by `keys`."""
        self._graph = graph
        self._keys = keys

    async def queued_owners(self, *, recorded_before: datetime, after: Owner | None, limit: int) -> Sequence[Owner]:
        """See `SupersessionQueueStore.queued_owners`."""
        last = {"tenant_id": "", "user_id": ""} if after is None else key_of(after)
        # A page of users may have no queued pairs at all: the next one is read then.
        while True:
            asked = {**last, "recorded_before": recorded_before, "limit": limit}
            rows = await self._graph.read(QUEUED_OWNERS, asked)
            found = [Owner(TenantId(row["tenant_id"]), UserId(row["user_id"])) for row in rows if row["is_queued"]]
            if found or len(rows) < limit:
                return found
            last = {"tenant_id": rows[-1]["tenant_id"], "user_id": rows[-1]["user_id"]}

    async def queued(
        self, owner: Owner, *, recorded_before: datetime, after: SupersessionPosition | None, limit: int
    ) -> Sequence[QueuedPair]:
        """See `SupersessionQueueStore.queued`."""
        position = {"time": after.create_time, "id": after.supersession_id} if after else {"time": None, "id": ""}
        asked = {**key_of(owner), **position, "recorded_before": recorded_before, "limit": limit}
        rows = await self._graph.read(QUEUED, asked)
        opened = await opened_in_graph(self._keys, self._graph.read, owner, SUPERSESSIONS, found_maps(rows))
        return _queued(rows, opened)

    async def decide_queued(
        self, owner: Owner, supersession_ids: Sequence[str], judge: Judge
    ) -> Sequence[Supersession]:
        """See `SupersessionQueueStore.decide_queued`."""

        async def work(transaction: GraphTransaction) -> Sequence[Supersession]:
            sealing = await self._locked(transaction, owner)
            named = {**key_of(owner), "supersession_ids": list(supersession_ids)}
            rows = await transaction.run(QUEUED_BY_ID, named)
            pairs = _queued(rows, await sealing.opened(SUPERSESSIONS, found_maps(rows)))
            verdicts = await asyncio.to_thread(lambda: [judge(pair) for pair in pairs])
            cipher = await sealing.cipher(is_new=True)
            return [
                await put_decided(
                    transaction,
                    owner,
                    pair.supersession,
                    cipher,
                    lambda _, *, is_winner_whole, p=pair, v=verdict: settled(p, v, is_winner_whole=is_winner_whole),
                )
                for pair, verdict in zip(pairs, verdicts, strict=True)
                if verdict is not None
            ]

        return await self._graph.write(work)

    async def reopen(self, owner: Owner, supersession_ids: Sequence[str]) -> int:
        """See `SupersessionQueueStore.reopen`."""

        async def work(transaction: GraphTransaction) -> int:
            sealing = await self._locked(transaction, owner)
            found = await transaction.run(DECIDED, {**key_of(owner), "supersession_ids": list(supersession_ids)})
            rows = await sealing.opened(SUPERSESSIONS, found_maps(found))
            cipher = await sealing.cipher(is_new=True)
            for row in rows:
                await put_decided(transaction, owner, supersession_of(row), cipher, reopened)
            return len(rows)

        return await self._graph.write(work)

    async def _locked(self, transaction: GraphTransaction, owner: Owner) -> GraphSealing:
        await check_graph_fence(transaction)
        await transaction.run(LOCK, key_of(owner))
        return GraphSealing(self._keys, transaction, owner)


def _queued(rows: Sequence[Record], opened: Sequence[Record]) -> list[QueuedPair]:
    return [
        QueuedPair(supersession_of(found), _strength(row["earlier"]), _strength(row["later"]))
        for row, found in zip(rows, opened, strict=True)
    ]


def _strength(found: Mapping[str, Any]) -> Strength | None:
    confidence = found["confidence"]
    return None if confidence is None else Strength(confidence, found["importance"])
