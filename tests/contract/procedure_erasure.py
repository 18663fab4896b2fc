"""What becomes of procedures when queries that they were learned from are erased (SPEC 6.6)."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.ids import Uuid7Ids
from services.semantic.config import ProcedureSettings
from services.semantic.procedures.arguments import CreateProcedure
from services.semantic.procedures.model import JudgedRecall
from services.semantic.procedures.service import ProcedureService
from services.semantic.procedures.store import ProcedureStore
from tests.contract.procedure_store import ADA, ML, NOON, ProcedureStoreContract, key
from tests.support.clock import FakeClock


class ProcedureErasureContract(ProcedureStoreContract):
    """Subclasses give a fresh `store`; with the tests of `ProcedureStoreContract`."""

    async def test_spec_6_6_an_erased_query_goes_with_what_was_learned_from_it_and_its_outcomes_stay(
        self, service: ProcedureService, store: ProcedureStore, judge: Callable[..., Awaitable[None]]
    ) -> None:
        async def stored() -> list[str]:
            found = await store.write(
                ADA, lambda writer: writer.judged_between(NOON, NOON + timedelta(days=1), limit=9)
            )
            return [judged.query for judged in found]

        stated = await service.create(CreateProcedure(ADA, key("1"), replace(ML, trigger="papers"), 0.7))
        await judge(1, "ML papers", -1)
        await judge(2, "machine learning papers", 1, stated)
        revision, _ = await service.trusted(ADA, cached_revision=None)
        assert len(await self.all_of(service)) == 2
        await judge(2, "", 1)
        assert await stored() == ["", "ML papers"]
        [left] = await self.all_of(service)
        assert (left.procedure_id, left.success_count) == (stated.procedure_id, 1)
        assert (await service.trusted(ADA, cached_revision=revision))[1] == [left]
        await judge(2, "machine learning papers", -1)  # a judgement that was under way: without the query
        await judge(2, "machine learning papers", 1)
        assert await stored() == ["", "ML papers"]
        assert await self.all_of(service) == [await service.get(ADA, stated.procedure_id)]
        await judge(1, "", -1)
        assert await stored() == ["", ""]

    @pytest.mark.parametrize("erased", [1, 2])
    async def test_spec_6_6_a_rewriting_goes_with_the_last_two_queries_that_teach_it(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]], erased: int
    ) -> None:
        await judge(1, "sofa prices", -1)
        await judge(2, "couch prices", 1)
        await judge(700, "which sofa did I buy?", -1)
        await judge(701, "which couch did I buy?", 1)
        [learned] = await self.all_of(service)
        assert learned.success_count == 2
        await judge(702, "couch covers", 1, learned)  # it applied the rewriting, and teaches nothing
        await judge(erased, "", -1 if erased == 1 else 1)
        [left] = await self.all_of(service)
        assert left.draft == learned.draft
        await judge(699 + erased, "", -1 if erased == 1 else 1)
        assert await self.all_of(service) == []

    @pytest.mark.parametrize("erased", [1, 2])
    async def test_spec_6_6_a_rewriting_without_recorded_recalls_goes_with_a_query_of_its_words(
        self, service: ProcedureService, store: ProcedureStore, judge: Callable[..., Awaitable[None]], erased: int
    ) -> None:
        await judge(1, "sofa prices", -1)
        await judge(2, "couch prices", 1)
        [learned] = await self.all_of(service)
        # As rewritings were stored before they named their recalls.
        await store.write(ADA, lambda writer: writer.put(replace(learned, learned_from=())))
        await judge(3, "weather", 1)
        await judge(3, "", 1)
        assert len(await self.all_of(service)) == 1
        await judge(erased, "", -1 if erased == 1 else 1)
        assert await self.all_of(service) == []

    async def test_spec_6_6_a_rewriting_goes_with_a_recall_whose_judgement_is_stored_no_more(
        self, store: ProcedureStore, clock: FakeClock
    ) -> None:
        service = ProcedureService(store, clock=clock, ids=Uuid7Ids(clock), settings=ProcedureSettings(judged_max=2))
        bad = JudgedRecall(str(uuid.UUID(int=1)), str(uuid.UUID(int=1)), -1, "sofa prices", "1", NOON)
        good = replace(bad, recall_id=str(uuid.UUID(int=2)), feedback=1, query="couch prices")
        await service.judge(ADA, bad)
        await service.judge(ADA, good)
        for number in (3, 4):
            later = NOON + timedelta(hours=number)
            await service.judge(ADA, replace(bad, recall_id=str(uuid.UUID(int=number)), query=f"{number}", time=later))
        assert len(await self.all_of(service)) == 1
        await service.judge(ADA, replace(bad, query=""))
        assert await self.all_of(service) == []
