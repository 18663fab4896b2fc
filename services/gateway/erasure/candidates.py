"""What a query may mean: turns of the log with its words, and what Recall finds for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC

from services.common.auth import Principal
from services.common.clock import Clock
from services.common.embedding.embedder import Embedder
from services.gateway.erasure.matching import choose, read
from services.gateway.erasure.model import ErasureSettings, Planned
from services.gateway.erasure.store import LoggedTurns
from services.gateway.grants.model import MemoryKind
from services.gateway.recall.model import RecallQuery
from services.gateway.recall.pipeline import RecallPipeline


class Candidates:
    """Finds the memories that a query in plain words means."""

    def __init__(
        self,
        turns: LoggedTurns,
        recall: RecallPipeline,
        embedder: Embedder,
        clock: Clock,
        settings: ErasureSettings,
    ) -> None:
        """Reads the log by words, and recalls by similarity."""
        self._turns = turns
        self._recall = recall
        self._embedder = embedder
        self._clock = clock
        self._settings = settings

    async def chosen(self, principal: Principal, user_id: str, query: str, *, seconds_left: float) -> Sequence[Planned]:
        """The memories that the query means, by the rules of `matching`; none where it names nothing."""
        wanted = read(query)
        if wanted.is_empty:
            return ()
        limit = self._settings.memories_max + 1
        logged, told, recalled = await asyncio.gather(
            self._turns.turns_with(principal.tenant_id, user_id, wanted.terms, limit=limit),
            self._turns.turns_with(principal.tenant_id, user_id, wanted.told_terms, limit=limit),
            self._recalled(principal, user_id, query, seconds_left=seconds_left),
        )
        found = list({(planned.kind, planned.memory_id): planned for planned in (*recalled, *told, *logged)}.values())
        if not found:
            return ()
        question = await self._embedder.embed_query(query)
        similarities = (await self._embedder.embed_documents([planned.text for planned in found])) @ question
        return [
            found[index]
            for index in choose(wanted, [p.text for p in found], similarities.tolist(), self._settings.similarity)
        ]

    async def turns(self, principal: Principal, user_id: str, query: str, *, seconds_left: float) -> list[str]:
        """Ids of turns that may say what a query says."""
        logged, recalled = await asyncio.gather(
            self._turns.turns_with(
                principal.tenant_id, user_id, read(query).terms, limit=self._settings.candidates_max
            ),
            self._recalled(principal, user_id, query, seconds_left=seconds_left),
        )
        turns = [planned.memory_id for planned in (*recalled, *logged) if planned.kind is MemoryKind.EPISODE]
        return list(dict.fromkeys(turns))

    async def _recalled(self, principal: Principal, user_id: str, query: str, *, seconds_left: float) -> list[Planned]:
        recalled = await self._recall.run(
            principal,
            RecallQuery(
                user_id=user_id,
                text=query,
                limit=self._settings.candidates_max,
                as_of=self._clock.now(),
                include_tentative_facts=True,
            ),
            deadline_seconds=seconds_left,
        )
        turns = [
            Planned(
                MemoryKind.EPISODE,
                memory.memory_id,
                memory.episode.query or memory.episode.response,
                memory.episode.time.ToDatetime(UTC),
            )
            for memory in recalled.memories
        ]
        facts = [
            Planned(MemoryKind.FACT, fact.memory_id, fact.fact.text, fact.fact.last_confirmed_time.ToDatetime(UTC))
            for fact in recalled.facts
        ]
        notes = [
            Planned(MemoryKind.NOTE, note.memory_id, note.note.content, note.note.time.ToDatetime(UTC))
            for note in recalled.notes
        ]
        return [*turns, *facts, *notes]
