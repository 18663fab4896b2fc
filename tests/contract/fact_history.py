"""What every driver must do so that facts are found as of a time (SPEC 3.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import EvidenceSettings
from services.semantic.facts.arguments import ListFacts, SearchFacts
from services.semantic.facts.model import FactDraft, FactId, FactUse
from services.semantic.facts.service import load_for
from services.semantic.facts.store import FactFilter, FactSearch, FactStore, FactWriter
from services.semantic.facts.working_set import FactWorkingSet
from tests.contract.fact_marks import MakeService, boat
from tests.contract.fact_samples import MODEL, PROJECT, enter, likes, lives_in, vector
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_samples import ADA, BEN, NOON

EVIDENCE = EvidenceSettings()


def day(number: int) -> datetime:
    return NOON + timedelta(days=number)


def asked(text: str, *, use: FactUse = FactUse.PASSIVE_CONTEXT, **changes: Any) -> SearchFacts:
    made = SearchFacts(ADA, query=text, vector=None, reader=GLOBAL_SCOPE, use=use, limit=10)
    return replace(made, **changes)


async def merge(store: FactStore, winner: FactDraft, loser: FactDraft) -> None:
    """Merges two stored facts, as the job does."""

    async def work(writer: FactWriter) -> None:
        working_set = FactWorkingSet(ADA.user_id, EVIDENCE, new_id=str, model=MODEL)
        await load_for([(winner, GLOBAL_SCOPE), (loser, GLOBAL_SCOPE)], working_set, writer)
        first, second = (
            working_set.enter(boat(40, draft=draft), GLOBAL_SCOPE, vector(draft.text)) for draft in (winner, loser)
        )
        working_set.unite(first, second)
        await writer.put(working_set.changes())

    await store.write(ADA, work)


class FactHistoryContract:
    """Subclass it beside `FactMarksContract`, whose fixtures it uses."""

    async def test_spec_3_7_a_search_can_include_what_was_retired(self, make_store: MakeStore) -> None:
        store = make_store(EVIDENCE)
        active, archived = await enter(store, ADA, [boat(1, draft=likes("tea")), boat(2, draft=likes("green tea"))])
        await enter(store, ADA, [boat(3, draft=likes("black tea"))], scope=PROJECT)
        await enter(store, BEN, [boat(4, draft=likes("tea"))])
        await store.archive(ADA, [archived])
        wanted = FactSearch(vector("Ann likes tea"), MODEL, GLOBAL_SCOPE, 10, 0.0, includes_threshold=True)
        assert [hit.fact.fact_id for hit in await store.search(ADA, wanted)] == [active]
        both = replace(wanted, includes_retired=True)
        assert {hit.fact.fact_id for hit in await store.search(ADA, both)} == {active, archived}
        assert [hit.fact.fact_id for hit in await store.search(ADA, replace(both, limit=1))] == [active]
        assert await store.search(ADA, replace(both, confidence=0.9)) == []

    async def test_spec_3_7_a_merged_fact_is_not_found_beside_the_one_it_was_merged_into(
        self, make_store: MakeStore
    ) -> None:
        store = make_store(EVIDENCE)
        winner, _ = await enter(store, ADA, [boat(1, draft=likes("tea")), boat(2, draft=likes("a cup of tea"))])
        await merge(store, likes("tea"), likes("a cup of tea"))
        wanted = FactSearch(
            vector("Ann likes tea"), MODEL, GLOBAL_SCOPE, 10, 0.0, includes_threshold=True, includes_retired=True
        )
        assert [hit.fact.fact_id for hit in await store.search(ADA, wanted)] == [winner]

    async def test_spec_3_7_what_was_believed_is_found_though_it_is_retired_or_superseded_now(
        self, make_store: MakeStore, make_service: MakeService
    ) -> None:
        store, service = make_store(EVIDENCE), make_service(EVIDENCE)
        leeds, tea = await enter(store, ADA, [boat(1, draft=lives_in("Leeds")), boat(2, draft=likes("tea"))])
        await enter(store, ADA, [boat(9, draft=lives_in("York"))])
        await store.archive(ADA, [leeds, tea])

        async def found(text: str, **changes: Any) -> dict[FactId, datetime | None]:
            hits = await service.search(asked(text, **changes))
            return {hit.fact.fact_id: hit.fact.valid_to_time for hit in hits}

        assert tea not in await found("Ann likes tea")
        assert (await found("Ann likes tea", known_at=day(5)))[tea] is None
        assert tea not in await found("Ann likes tea", known_at=day(1)), "nobody had said it"
        assert await found("Ann lives in Leeds", known_at=day(5)) == {leeds: None, tea: None}, "York came later"
        assert (await found("Ann lives in Leeds", known_at=day(10)))[leeds] == day(9)

    async def test_spec_3_7_what_held_is_found_though_it_is_retired_now(
        self, make_store: MakeStore, make_service: MakeService
    ) -> None:
        store, service = make_store(EVIDENCE), make_service(EVIDENCE)
        leeds, tea = await enter(store, ADA, [boat(1, draft=lives_in("Leeds")), boat(4, draft=likes("tea"))])
        [york] = await enter(store, ADA, [boat(9, draft=lives_in("York"))])
        await store.archive(ADA, [leeds, tea])

        async def found(held_at: datetime | None, known_at: datetime | None = None) -> set[FactId]:
            wanted = asked("Ann lives in", held_at=held_at, known_at=known_at)
            return {hit.fact.fact_id for hit in await service.search(wanted)}

        assert await found(None) == {york}
        assert await found(day(5)) == {leeds, tea}, "York came later"
        assert await found(day(2)) == {leeds}, "nobody had said that Ann likes tea"
        assert await found(day(0)) == set()
        assert await found(day(10)) == {tea, york}, "Leeds had ended"
        assert await found(day(5), known_at=day(10)) == {leeds, tea}
        assert await found(day(2), known_at=day(5)) == {leeds}
        assert await found(day(0), known_at=day(10)) == set()

    async def test_spec_3_7_searches_and_lists_as_of_a_time_know_stated_validity(
        self, make_store: MakeStore, make_service: MakeService
    ) -> None:
        store, service = make_store(EVIDENCE), make_service(EVIDENCE)
        leeds, york = (
            replace(lives_in("Leeds"), valid_from=day(-50), valid_to=day(-10)),
            replace(lives_in("York"), valid_from=day(-10)),
        )
        leeds_id, york_id = await enter(store, ADA, [boat(1, draft=leeds), boat(2, draft=york)])

        async def found(held_at: datetime) -> set[FactId]:
            return {hit.fact.fact_id for hit in await service.search(asked("Ann lives in", held_at=held_at))}

        async def listed(held_at: datetime) -> set[FactId]:
            page = await service.list_facts(ListFacts(ADA, FactFilter(), 9, None, held_at=held_at))
            return {fact.fact_id for fact in page.facts}

        assert (await found(day(-60)), await listed(day(-60))) == (set(), set())
        assert (await found(day(-20)), await listed(day(-20))) == ({leeds_id}, {leeds_id}), "though it was said later"
        assert (await found(day(-5)), await listed(day(-5))) == ({leeds_id, york_id}, {york_id})

    async def test_spec_3_7_lists_as_of_a_time_have_what_held_then(
        self, make_store: MakeStore, make_service: MakeService
    ) -> None:
        store, service = make_store(EVIDENCE), make_service(EVIDENCE)
        leeds, tea = await enter(store, ADA, [boat(1, draft=lives_in("Leeds")), boat(4, draft=likes("tea"))])
        [york] = await enter(store, ADA, [boat(9, draft=lives_in("York"))])
        await store.archive(ADA, [leeds, tea])

        async def listed(held_at: datetime | None, known_at: datetime | None = None) -> set[FactId]:
            found: set[FactId] = set()
            wanted = ListFacts(ADA, FactFilter(), 1, None, held_at=held_at, known_at=known_at)
            while True:
                page = await service.list_facts(wanted)
                found |= {fact.fact_id for fact in page.facts}
                if page.next is None:
                    return found
                wanted = replace(wanted, after=page.next)

        assert await listed(None) == {york}
        assert await listed(day(5)) == {leeds, tea}
        assert await listed(day(2)) == {leeds}, "nobody had said that Ann likes tea"
        assert await listed(day(10)) == {tea, york}, "Leeds had ended"
        assert await listed(day(0)) == set()
        assert await listed(day(10), known_at=day(5)) == {leeds, tea}, "York was not known"
        assert await listed(day(5), known_at=day(10)) == {leeds, tea}

    async def test_spec_3_7_lists_as_of_a_time_have_the_confidence_and_no_merged_facts(
        self, make_store: MakeStore, make_service: MakeService
    ) -> None:
        store, service = make_store(EVIDENCE), make_service(EVIDENCE)
        faded = replace(likes("tea"), importance=0.3, confidence=0.5)
        [tea] = await enter(store, ADA, [boat(0, draft=faded)])
        winner, _ = await enter(store, ADA, [boat(1, draft=likes("jam")), boat(2, draft=likes("a pot of jam"))])
        await merge(store, likes("jam"), likes("a pot of jam"))
        await enter(store, ADA, [boat(200)], scope=PROJECT)  # for a user who is away nothing fades

        async def listed(**changes: Any) -> set[FactId]:
            wanted = ListFacts(ADA, FactFilter(reader=GLOBAL_SCOPE), 50, None)
            page = await service.list_facts(replace(wanted, **changes))
            return {fact.fact_id for fact in page.facts}

        assert tea not in await listed()
        assert await listed(held_at=day(3)) == {tea, winner}
        assert tea not in await listed(held_at=day(190)), "it was believed too little by then"
        assert tea in await listed(held_at=day(190), include_low_confidence=True)

    async def test_spec_3_7_confidence_has_the_decay_of_then(
        self, make_store: MakeStore, make_service: MakeService
    ) -> None:
        store, service = make_store(EVIDENCE), make_service(EVIDENCE)
        await enter(store, ADA, [boat(0, draft=replace(likes("tea"), importance=0.3))])
        await enter(store, ADA, [boat(90)], scope=PROJECT)  # for a user who is away nothing fades
        [now] = await service.search(asked("Ann likes tea", use=FactUse.EXPLICIT_SEARCH))
        assert await service.search(asked("Ann likes tea")) == [], "it is believed too little by now"
        for search in (asked("Ann likes tea", known_at=day(1)), asked("Ann likes tea", held_at=day(1))):
            [then] = await service.search(search)
            assert now.confidence_now is not None
            assert then.confidence_now is not None
            assert then.confidence_now > 0.75 > now.confidence_now
