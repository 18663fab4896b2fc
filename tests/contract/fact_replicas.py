"""The use cases of facts above a store, as a replica has them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.common.turns import MessageRole, Turn
from services.semantic.config import SemanticSettings
from services.semantic.facts.arguments import DeleteFact, ListFacts, UpdateFact
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.feedback import FactFeedback
from services.semantic.facts.model import Fact, FactId, FactStatus
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter, FactSearch, FactStore
from tests.contract.fact_samples import (
    ANN,
    DAY_ONE,
    EMBEDDER,
    MODEL,
    vector,
)
from tests.support.clock import FakeClock
from tests.support.parsing import InProcessParser

EVERY_STATUS = FactFilter(statuses=frozenset(FactStatus))


class Replica:
    """A store with the use cases above it."""

    def __init__(self, store: FactStore, clock: FakeClock) -> None:
        embedder, ids, settings = TierEmbedder(EMBEDDER), Uuid7Ids(clock), SemanticSettings()
        self.store = store
        self.facts = FactService(
            store, embedder, ParsedFactExtractor(InProcessParser()), clock=clock, ids=ids, settings=settings
        )
        self.feedback = FactFeedback(store, clock=clock, ids=ids, model=MODEL, settings=settings)
        self.removal = FactRemoval(store, embedder, clock=clock, ids=ids, settings=settings)

    async def delete(self, fact_id: FactId, *, request_id: str = "d1", etag: str = "") -> None:
        await self.removal.delete(DeleteFact(ANN, IdempotencyKey("k", request_id, fact_id), fact_id, etag))

    async def update(self, fact_id: FactId, *, request_id: str = "u1", etag: str = "", **values: object) -> Fact:
        key = IdempotencyKey("k", request_id, repr(values))
        return await self.facts.update(UpdateFact(ANN, key, fact_id, values, etag))

    async def judge(self, feedback: int, *fact_ids: FactId, request_id: str) -> tuple[FactId, ...]:
        key = IdempotencyKey("k", request_id, f"{feedback} {fact_ids}")
        return (await self.feedback.record(ANN, fact_ids, feedback, key=key)).fact_ids

    async def texts(self, owner: Owner = ANN) -> set[str]:
        """What a search finds."""
        search = FactSearch(vector("Ann lives"), MODEL, GLOBAL_SCOPE, 200, 0.3, includes_threshold=True)
        return {hit.fact.text for hit in await self.store.search(owner, search)}

    async def listed(self, which: FactFilter | None = None) -> list[Fact]:
        page = await self.facts.list_facts(ListFacts(ANN, which or FactFilter(), 100, None))
        return list(page.facts)

    async def extract(self, *sentences: tuple[str, str]) -> list[tuple[FactId, ...]]:
        """Extract sentences of Ann by their interaction ids."""
        sources = [
            SourceInteraction(
                InteractionId(source),
                ANN.user_id,
                "c",
                number,
                Turn(MessageRole.USER, text, DAY_ONE + timedelta(days=number), "Ann"),
            )
            for number, (source, text) in enumerate(sentences)
        ]
        return [result.fact_ids for result in await self.facts.extract(ANN.tenant_id, sources)]


def merged(fact: Fact, winner: FactId) -> Fact:
    """The fact, merged into another one."""
    return replace(
        fact, status=FactStatus.MERGED_INTO, merged_into_fact_id=winner, contradictions=(), revision=fact.revision + 1
    )
