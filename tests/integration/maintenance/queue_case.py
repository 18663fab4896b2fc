"""The job that decides about statements that wait, with two users' pairs for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from services.common.maintenance import Job
from services.common.owners import Owner
from services.semantic.config import SupersessionQueueSettings, SupersessionSettings
from services.semantic.facts.model import ExtractionResult, FactDraft, FactId, Statement, StatementId
from services.semantic.facts.store import FactWriter
from services.semantic.facts.stores.postgres import PostgresFactStore
from services.semantic.maintenance.queue import ResolveSupersessions
from services.semantic.supersession.model import QueuePolicy, State, Supersession
from services.semantic.supersession.stores.postgres import PostgresSupersessionStore
from services.semantic.supersession.stores.postgres_queue import PostgresSupersessionQueue
from tests.contract.fact_samples import enter, lives_in
from tests.contract.supersession_samples import ADA, BEN, NOON, assertion, at_most, decide, turn
from tests.integration.maintenance.places import Place, Seen

OWNERS: Final = (ADA, BEN)
SETTINGS: Final = SupersessionSettings(
    policy=QueuePolicy.CONFIDENCE, queue=SupersessionQueueSettings(page_size=2, owners_page=1)
)


@dataclass(frozen=True)
class ResolveQueue:
    """Three pairs of each user: the earlier statement is believed more, the later one, or both as much."""

    name: str
    index_count: int = 0
    comes_back: bool = True

    async def fill(self, place: Place) -> None:
        for owner in OWNERS:
            for number, confidence in ((1, 0.6), (3, 0.9), (5, 0.8)):
                said = [
                    assertion(n, f"home{number} {word}", number) for n, word in ((number, "a"), (number + 1, "perhaps"))
                ]
                await self._supersessions(place).add(owner, said, decide, candidates_max=at_most(10))
                await self._believe(place, owner, number, lives_in(f"a{number}", confidence=0.8))
                await self._believe(place, owner, number + 1, lives_in(f"b{number}", confidence=confidence))
        place.clock.set(NOON + timedelta(days=60))

    def job(self, place: Place) -> Job[Any]:
        return ResolveSupersessions(PostgresSupersessionQueue(place.pool), place.clock, SETTINGS)

    async def settle(self, place: Place) -> None:
        """Nothing else decides."""

    async def seen(self, place: Place) -> Seen:
        """What stands or waits is recallable."""
        found = [(owner, one) for owner in OWNERS for one in await self._listed(place, owner)]
        stands = {f"{owner.user_id}: {one.standing_statement}" for owner, one in found}
        waits = {f"{owner.user_id}: {one.statement}" for owner, one in found if one.state is State.PENDING}
        falls = {f"{owner.user_id}: {one.statement}" for owner, one in found}
        states = frozenset(f"{owner.user_id} {one.statement} {one.state.name}" for owner, one in found)
        return Seen(frozenset(stands | waits), frozenset(stands | falls), states)

    async def check(self, place: Place) -> None:
        for owner in OWNERS:
            marks = await self._supersessions(place).marks(owner, cached_revision=None, limit=100)
            applied = [one for one in await self._listed(place, owner) if one.state is State.APPLIED]
            assert marks.superseded == applied, "what is decided is marked"

    async def _believe(self, place: Place, owner: Owner, number: int, draft: FactDraft) -> FactId:
        facts, interaction_id = PostgresFactStore(place.pool), turn(number)
        time = NOON + timedelta(days=number)
        statement = Statement(StatementId(interaction_id), time, draft, (interaction_id,), sentences=(0,))
        [fact_id] = await enter(facts, owner, [statement])

        async def mark(writer: FactWriter) -> None:
            await writer.add_extracted([ExtractionResult(interaction_id, (fact_id,))])

        await facts.write(owner, mark)
        return fact_id

    async def _listed(self, place: Place, owner: Owner) -> list[Supersession]:
        return list(await self._supersessions(place).list_page(owner, state=None, after=None, limit=100))

    @staticmethod
    def _supersessions(place: Place) -> PostgresSupersessionStore:
        return PostgresSupersessionStore(place.pool)
