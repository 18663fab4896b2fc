"""What every fact store must do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import numpy as np
import pytest

from services.common.errors import Conflict, NotFound
from services.common.owners import InteractionId, Owner
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.semantic.config import EvidenceSettings
from services.semantic.facts.model import (
    ExtractionResult,
    FactCategory,
    FactId,
    FactStatus,
    ScoredFact,
    VersionReason,
)
from services.semantic.facts.store import FactFilter, FactPosition, FactSearch, FactStore, FactWriter
from tests.contract.fact_samples import (
    ANN,
    ANN_ELSEWHERE,
    BO,
    DAY_ONE,
    MODEL,
    PROJECT,
    enter,
    exact_search,
    likes,
    lives_in,
    made_facts,
    new_id,
    put,
    records,
    said,
    unit_vectors,
    vector,
)
from tests.contract.fact_scopes import FactScopesContract

OTHER_PROJECT = Scope(ScopeLevel.PROJECT, "p2")


async def search(
    store: FactStore,
    query: str,
    *,
    owner: Owner = ANN,
    limit: int = 10,
    confidence: float = 0.3,
    includes_threshold: bool = True,
    reader: Scope = GLOBAL_SCOPE,
    model: str = MODEL,
    fading_after: datetime | None = None,
) -> list[ScoredFact]:
    asked = FactSearch(vector(query), model, reader, limit, confidence, includes_threshold, fading_after)
    return await store.search(owner, asked)


MakeStore: TypeAlias = Callable[[EvidenceSettings], FactStore]


class FactStoreContract(FactScopesContract):
    """Subclass it with a fixture `make_store` that makes `FactStore`s of given settings on one fresh database."""

    @pytest.fixture
    def store(self, make_store: MakeStore) -> FactStore:
        return make_store(EvidenceSettings())

    async def test_spec_3_5_statements_know_the_sentences_they_were_read_in(self, store: FactStore) -> None:
        draft = lives_in("Ghent")
        statement = replace(said(draft), sentences=(3, 1), shares_sentence=True)
        await enter(store, ANN, [statement, said(draft, day=1)])
        [record] = await records(store, ANN, draft)
        assert [(s.sentences, s.shares_sentence) for s in record.statements] == [((3, 1), True), ((), False)]

    async def test_absent_facts_are_not_found(self, store: FactStore) -> None:
        with pytest.raises(NotFound):
            await store.get(ANN, FactId(new_id()))
        assert await store.list_facts(ANN, which=FactFilter(), after=None, limit=5) == []
        assert await search(store, "anything") == []

    async def test_a_fact_is_read_as_it_was_written(self, store: FactStore) -> None:
        statement = said(lives_in("Leeds"), day=3)
        [fact_id] = await enter(store, ANN, [statement], scope=PROJECT)
        fact = await store.get(ANN, fact_id)
        assert (fact.text, fact.subject, fact.predicate, fact.object) == (
            "Ann lives in Leeds",
            "Ann",
            "lives_in",
            "Leeds",
        )
        assert fact.category is FactCategory.PERSONAL_INFO
        assert fact.first_observed_time == fact.last_confirmed_time == DAY_ONE + timedelta(days=3)
        assert fact.derived_from == statement.interaction_ids
        assert (fact.scope, fact.revision, fact.status) == (PROJECT, 1, FactStatus.TENTATIVE)

    @pytest.mark.parametrize(
        "moment",
        [
            datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
            datetime(1600, 2, 29, 12, 0, 0, 1, UTC),
            datetime(2026, 7, 4, 9, 8, 7, 123_457, UTC),
            datetime(9999, 1, 1, 0, 0, 0, 1, UTC),
        ],
    )
    async def test_times_are_exact_to_the_microsecond(self, store: FactStore, moment: datetime) -> None:
        draft = replace(lives_in("Leeds"), valid_from=moment)
        await enter(store, ANN, [replace(said(draft), time=moment)])
        [fact] = await store.list_facts(ANN, which=FactFilter(), after=None, limit=5)
        [record] = await records(store, ANN, draft)
        assert (fact.first_observed_time, fact.last_confirmed_time, fact.valid_from_time) == (moment, moment, moment)
        assert [(s.time, s.draft.valid_from) for s in record.statements] == [(moment, moment)]

    async def test_texts_are_kept_as_they_are(self, store: FactStore) -> None:
        place = """O'Hare "}) DETACH DELETE f //'; DROP TABLE facts; -- \\u0041 日本 🎉 $tenant_id {a: 1}"""
        await enter(store, ANN, [said(lives_in(place))])
        [hit] = await search(store, place)
        assert (hit.fact.object, hit.fact.text) == (place, f"Ann lives in {place}")

    async def test_a_link_goes_when_a_nearer_fact_comes_between(self, store: FactStore) -> None:
        first, last = await enter(store, ANN, [said(lives_in("Leeds")), said(lives_in("York"), day=9)])
        assert (await store.get(ANN, first)).contradictions == (last,)
        [between] = await enter(store, ANN, [said(lives_in("Rome"), day=5)])
        linked = [(await store.get(ANN, fact_id)).contradictions for fact_id in (first, between, last)]
        assert linked == [(between,), tuple(sorted((first, last))), (between,)]
        await enter(store, ANN, [said(lives_in("Rome"), day=6)])
        assert (await store.get(ANN, between)).contradictions == tuple(sorted((first, last)))

    async def test_a_confirmation_keeps_the_state_before(self, store: FactStore) -> None:
        [fact_id] = await enter(store, ANN, [said(lives_in("Leeds"))])
        [again] = await enter(store, ANN, [said(lives_in("Leeds"), day=2)])
        fact = await store.get(ANN, fact_id)
        assert again == fact_id
        assert fact.confidence == pytest.approx(0.8 + 0.05 * 0.2)
        assert (fact.evidence_count, fact.revision, fact.status) == (2, 2, FactStatus.STABLE)
        assert [(v.confidence, v.reason) for v in fact.versions] == [(0.8, VersionReason.CONFIRMED)]
        assert len(await store.list_facts(ANN, which=FactFilter(), after=None, limit=5)) == 1

    async def test_records_come_with_their_statements_and_their_topic(self, store: FactStore) -> None:
        statements = [said(lives_in("Leeds")), said(lives_in("York"), day=1), said(likes("tea"))]
        ids = await enter(store, ANN, statements)
        found = await records(store, ANN, lives_in("York"))
        assert [record.fact_id for record in found] == sorted(ids[:2])
        assert {record.statements for record in found} == {(statements[0],), (statements[1],)}

    async def test_what_a_work_returns_is_returned(self, store: FactStore) -> None:
        answer = object()

        async def work(_writer: FactWriter) -> object:
            return answer

        assert await store.write(ANN, work) is answer

    @pytest.mark.parametrize("failure", [RuntimeError("of the work"), Conflict("of the work")])
    async def test_a_work_that_fails_writes_nothing_and_its_error_comes_out_unchanged(
        self, store: FactStore, failure: Exception
    ) -> None:
        interaction_id = InteractionId(new_id())

        async def work(writer: FactWriter) -> None:
            await writer.add_extracted([ExtractionResult(interaction_id, ())])
            raise failure

        with pytest.raises(type(failure)) as raised:
            await store.write(ANN, work)
        assert raised.value is failure
        assert await store.extracted(ANN, [interaction_id]) == {}

    async def test_extracted_interactions_are_known(self, store: FactStore) -> None:
        known = ExtractionResult(InteractionId(new_id()), (FactId(new_id()), FactId(new_id())))
        await store.write(ANN, lambda writer: writer.add_extracted([known]))
        unknown = InteractionId(new_id())
        assert await store.extracted(ANN, [known.interaction_id, unknown]) == {known.interaction_id: known}
        assert await store.extracted(BO, [known.interaction_id]) == {}
        assert await store.extracted(ANN_ELSEWHERE, [known.interaction_id]) == {}

    async def test_lists_are_in_order_and_pages_join(self, store: FactStore) -> None:
        days = [5, 1, 3, 3, 2]
        await enter(store, ANN, [said(likes(f"thing {i}"), day=day) for i, day in enumerate(days)])
        everything = await store.list_facts(ANN, which=FactFilter(), after=None, limit=10)
        keys = [(-fact.last_confirmed_time.timestamp(), fact.fact_id) for fact in everything]
        assert keys == sorted(keys)
        assert len(keys) == len(days)
        paged, after = [], None
        while page := await store.list_facts(ANN, which=FactFilter(), after=after, limit=2):
            paged += page
            after = FactPosition(page[-1].last_confirmed_time, page[-1].fact_id)
        assert paged == everything

    async def test_lists_are_filtered(self, store: FactStore) -> None:
        await enter(store, ANN, [said(likes("tea")), said(lives_in("Leeds"))])
        await enter(store, ANN, [said(likes("tea"), day=1)])
        category = FactFilter(category=FactCategory.PERSONAL_INFO)
        status = FactFilter(statuses=frozenset({FactStatus.STABLE}))
        both = FactFilter(category=FactCategory.PERSONAL_INFO, statuses=frozenset({FactStatus.STABLE}))
        texts = [
            [fact.text for fact in await store.list_facts(ANN, which=which, after=None, limit=9)]
            for which in (category, status, both)
        ]
        assert texts == [["Ann lives in Leeds"], ["Ann likes tea"], []]

    async def test_search_orders_by_similarity(self, store: FactStore) -> None:
        await enter(store, ANN, [said(likes("green tea")), said(likes("old trains")), said(likes("tea"))])
        hits = await search(store, "Ann likes tea")
        assert hits[0].fact.text == "Ann likes tea"
        assert hits[0].similarity == pytest.approx(1.0, abs=1e-5)
        assert [hit.similarity for hit in hits] == sorted((h.similarity for h in hits), reverse=True)
        assert len(await search(store, "Ann likes tea", limit=2)) == 2

    async def test_equal_hits_are_ordered_by_id(self, store: FactStore) -> None:
        scopes = (PROJECT, GLOBAL_SCOPE)
        ids = [(await enter(store, ANN, [said(likes("tea"))], scope=scope))[0] for scope in scopes]
        hits = await search(store, "Ann likes tea", reader=PROJECT)
        assert [hit.fact.fact_id for hit in hits] == sorted(ids)

    async def test_spec_3_4_hits_know_when_they_fade(self, store: FactStore) -> None:
        await enter(
            store, ANN, [said(replace(likes("sun"), importance=0.3)), said(replace(likes("rain"), importance=0.9))]
        )
        found = {hit.fact.text: hit.fact for hit in await search(store, "weather")}
        listed = {fact.text: fact for fact in await store.list_facts(ANN, which=FactFilter(), after=None, limit=5)}
        assert {text: fact.fade_time for text, fact in found.items()} == {
            text: fact.fade_time for text, fact in listed.items()
        }
        assert sorted(fact.fade_time is None for fact in found.values()) == [False, True]

    async def test_spec_3_4_a_search_leaves_out_what_fades_too_soon(self, store: FactStore) -> None:
        fading = [said(replace(likes(what), importance=0.3), day=day) for day, what in enumerate(["rain", "sun"])]
        await enter(store, ANN, [*fading, said(replace(likes("snow"), importance=0.9))])
        ends = {hit.fact.text: hit.fact.fade_time for hit in await search(store, "weather")}
        first, last = ends["Ann likes rain"], ends["Ann likes sun"]
        assert first is not None
        assert last is not None
        assert first < last
        moment = timedelta(milliseconds=1)
        for after, left in (
            (first - moment, {"Ann likes rain", "Ann likes sun", "Ann likes snow"}),
            (first, {"Ann likes sun", "Ann likes snow"}),
            (last - moment, {"Ann likes sun", "Ann likes snow"}),
            (last, {"Ann likes snow"}),
        ):
            assert {hit.fact.text for hit in await search(store, "weather", fading_after=after)} == left
        found = await search(store, "Ann likes rain", limit=2, fading_after=first)
        assert len(found) == 2, "what is left out takes no place"

    async def test_spec_3_3_confidence_decides_the_use(self, store: FactStore) -> None:
        levels = {0.29: "rain", 0.3: "snow", 0.5: "wind", 0.51: "sun"}
        await enter(store, ANN, [said(likes(what, confidence=c)) for c, what in levels.items()])
        explicit = await search(store, "weather", confidence=0.3, includes_threshold=True)
        passive = await search(store, "weather", confidence=0.5, includes_threshold=False)
        assert {hit.fact.object for hit in explicit} == {"snow", "wind", "sun"}
        assert {hit.fact.object for hit in passive} == {"sun"}

    async def test_search_sees_what_the_reader_may(self, store: FactStore) -> None:
        await enter(store, ANN, [said(likes("global tea"))])
        await enter(store, ANN, [said(likes("project tea"))], scope=PROJECT)
        await enter(store, ANN, [said(likes("other tea"))], scope=OTHER_PROJECT)
        session = Scope(ScopeLevel.SESSION, "p1", "s1")
        seen = {
            reader: {hit.fact.object for hit in await search(store, "tea", reader=reader)}
            for reader in (GLOBAL_SCOPE, PROJECT, session)
        }
        assert seen[GLOBAL_SCOPE] == {"global tea"}
        assert seen[PROJECT] == seen[session] == {"global tea", "project tea"}

    async def test_vectors_of_another_model_are_not_compared(self, store: FactStore) -> None:
        await enter(store, ANN, [said(likes("tea"))], model="another-model")
        await enter(store, ANN, [said(likes("coffee"))])
        assert [hit.fact.object for hit in await search(store, "tea")] == ["coffee"]

    async def test_models_of_different_dimensions_lie_side_by_side(self, store: FactStore) -> None:
        random = np.random.default_rng(11)
        small = [replace(change, model="small-model") for change in made_facts(40, ANN, random)]
        await put(store, ANN, small)
        await enter(store, ANN, [said(lives_in("Leeds"))])
        assert [hit.fact.object for hit in await search(store, "Leeds")] == ["Leeds"]
        wanted = FactSearch(unit_vectors(1, random)[0], "small-model", PROJECT, 9, 0.3, True)
        hits = await store.search(ANN, wanted)
        assert [hit.fact.fact_id for hit in hits] == [fact_id for fact_id, _ in exact_search(small, wanted)]

    async def test_hits_have_no_versions(self, store: FactStore) -> None:
        for day in range(2):
            await enter(store, ANN, [said(likes("tea"), day=day)])
        [hit] = await search(store, "tea")
        assert hit.fact.versions == ()
        assert hit.fact.evidence_count == 2

    async def test_owners_see_their_own_facts_alone(self, store: FactStore) -> None:
        [fact_id] = await enter(store, ANN, [said(likes("tea"))])
        for other in (BO, ANN_ELSEWHERE):
            with pytest.raises(NotFound):
                await store.get(other, fact_id)
            assert await store.list_facts(other, which=FactFilter(), after=None, limit=5) == []
            assert await search(store, "tea", owner=other) == []
            assert await records(store, other, likes("tea")) == []

    async def test_writers_of_one_user_wait_for_each_other(self, store: FactStore) -> None:
        batches = [[said(likes("tea"), day=i), said(lives_in(f"City{i}"), day=i)] for i in range(8)]
        await asyncio.gather(*(enter(store, ANN, batch) for batch in batches))
        facts = await store.list_facts(ANN, which=FactFilter(), after=None, limit=50)
        tea = [fact for fact in facts if fact.predicate == "likes"]
        assert [fact.evidence_count for fact in tea] == [8]
        assert sum(fact.valid_to_time is None for fact in facts if fact.predicate == "lives_in") == 1

    async def test_a_cancelled_writer_leaves_nothing(self, store: FactStore) -> None:
        entered = asyncio.Event()
        interaction_id = InteractionId(new_id())

        async def work(writer: FactWriter) -> None:
            await writer.add_extracted([ExtractionResult(interaction_id, ())])
            entered.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(store.write(ANN, work))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await store.extracted(ANN, [interaction_id]) == {}
        assert len(await enter(store, ANN, [said(likes("tea"))])) == 1

    @pytest.mark.parametrize("topic_facts_max", [3, 64])
    async def test_a_long_topic_costs_each_statement_the_same(
        self, make_store: MakeStore, topic_facts_max: int
    ) -> None:
        towns = [*(f"town{n}" for n in range(20)), "town2", "town20"]
        store = make_store(EvidenceSettings(topic_facts_max=topic_facts_max))
        for day, town in enumerate(towns):
            await enter(store, ANN, [said(lives_in(town), day=day)])
        found = await records(store, ANN, lives_in("elsewhere"))
        facts = {f.object: f for f in await store.list_facts(ANN, which=FactFilter(), after=None, limit=100)}

        assert len([record for record in found if not record.is_context]) == min(topic_facts_max, 21)
        assert len(found) <= topic_facts_max + 6
        # What was settled stays settled, however few facts are loaded.
        ends = {town: fact.valid_to_time for town, fact in facts.items()}
        assert ends.pop("town20") is None
        assert ends.pop("town2") == DAY_ONE + timedelta(days=21)
        assert ends.pop("town19") == DAY_ONE + timedelta(days=20)
        assert all(ends[f"town{n}"] == DAY_ONE + timedelta(days=n + 1) for n in range(19) if n != 2)
        assert [v.replaced_time for v in facts["town2"].versions] == [DAY_ONE + timedelta(days=d) for d in (3, 20, 21)]

    async def test_the_count_of_evidence_is_true_beyond_what_is_loaded(self, make_store: MakeStore) -> None:
        store = make_store(EvidenceSettings(statements_max=4))
        for day in (*range(1, 12), 0):
            await enter(store, ANN, [said(lives_in("Leeds"), day=day)])
        [fact] = await store.list_facts(ANN, which=FactFilter(), after=None, limit=5)
        [record] = await records(store, ANN, lives_in("Leeds"))
        assert (fact.evidence_count, fact.first_observed_time) == (12, DAY_ONE)
        assert fact.last_confirmed_time == DAY_ONE + timedelta(days=11)
        assert [s.time for s in record.statements] == [DAY_ONE + timedelta(days=day) for day in range(8, 12)]

    async def test_spec_7_1_a_small_tenant_beside_a_large_one_finds_all_that_is_its_own(self, store: FactStore) -> None:
        random = np.random.default_rng(7)
        large = made_facts(20_000, ANN_ELSEWHERE, random)
        small = made_facts(20, ANN, random)
        for start in range(0, len(large), 2_000):
            await put(store, ANN_ELSEWHERE, large[start : start + 2_000])
        await put(store, ANN, small)
        wanted = [
            FactSearch(
                vector=vector,
                model=MODEL,
                reader=PROJECT if number % 2 else GLOBAL_SCOPE,
                limit=(1, 5, 200)[number % 3],
                confidence=(0.3, 0.5, 0.9)[number // 3 % 3],
                includes_threshold=number % 4 == 0,
            )
            for number, vector in enumerate(unit_vectors(24, random))
        ]
        for one in wanted:
            hits = await store.search(ANN, one)
            expected = exact_search(small, one)
            assert [hit.fact.fact_id for hit in hits] == [fact_id for fact_id, _ in expected]
            assert [hit.similarity for hit in hits] == pytest.approx([cosine for _, cosine in expected], abs=1e-5)
        # Beyond what an approximate index promises, nothing but the own is found.
        own = {change.fact.fact_id for change in large}
        found = await store.search(ANN_ELSEWHERE, replace(wanted[0], limit=200, confidence=0.3))
        assert len(found) == 200
        assert {hit.fact.fact_id for hit in found} <= own
