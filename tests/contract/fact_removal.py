"""What every fact store must do when facts are removed, archived or corrected: with warm caches, in every replica."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import AlreadyExists, Conflict, FailedPrecondition, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.owners import InteractionId, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE
from services.semantic.config import EvidenceSettings
from services.semantic.facts.arguments import CreateFact, ListFacts
from services.semantic.facts.model import FactId, FactStatus, VersionReason
from services.semantic.facts.store import FactFilter, FactSearch
from tests.contract.fact_replicas import EVERY_STATUS, Replica, merged
from tests.contract.fact_samples import (
    ANN,
    ANN_ELSEWHERE,
    BO,
    DAY_ONE,
    MODEL,
    changed,
    enter,
    likes,
    lives_in,
    made_fact,
    new_id,
    put,
    said,
    vector,
)
from tests.contract.fact_store import MakeStore
from tests.support.clock import FakeClock


class FactRemovalContract:
    """Subclass it with a fixture `make_store` that makes `FactStore`s on one fresh database."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def writer(self, make_store: MakeStore, clock: FakeClock) -> Replica:
        return Replica(make_store(EvidenceSettings()), clock)

    @pytest.fixture
    def reader(self, make_store: MakeStore, clock: FakeClock) -> Replica:
        """A second replica, which has cached what it searched."""
        return Replica(make_store(EvidenceSettings()), clock)

    async def test_a_deleted_fact_is_gone_everywhere(self, writer: Replica, reader: Replica) -> None:
        leeds, york, rome = await enter(
            writer.store, ANN, [said(lives_in(place), day=day) for day, place in enumerate(("Leeds", "York", "Rome"))]
        )
        for replica in (writer, reader):
            assert await replica.texts() == {"Ann lives in Leeds", "Ann lives in York", "Ann lives in Rome"}
        await writer.delete(york)
        for replica in (writer, reader):
            assert await replica.texts() == {"Ann lives in Leeds", "Ann lives in Rome"}
            assert {fact.fact_id for fact in await replica.listed(EVERY_STATUS)} == {leeds, rome}
            with pytest.raises(NotFound):
                await replica.store.get(ANN, york)
        first, last = await reader.store.get(ANN, leeds), await reader.store.get(ANN, rome)
        assert (first.contradictions, last.contradictions) == ((rome,), (leeds,))
        assert first.valid_to_time == DAY_ONE + timedelta(days=2), "York does not end it any more, Rome does"

    async def test_what_a_deleted_fact_superseded_holds_again(self, writer: Replica) -> None:
        leeds, york = await enter(writer.store, ANN, [said(lives_in("Leeds")), said(lives_in("York"), day=1)])
        before = await writer.store.get(ANN, leeds)
        await writer.delete(york)
        after = await writer.store.get(ANN, leeds)
        assert (before.valid_to_time, after.valid_to_time, after.contradictions) == (
            DAY_ONE + timedelta(days=1),
            None,
            (),
        )
        assert after.revision > before.revision

    async def test_a_deletion_is_idempotent_by_request(self, writer: Replica) -> None:
        [fact_id] = await enter(writer.store, ANN, [said(likes("tea"))])
        with pytest.raises(Conflict):
            await writer.delete(fact_id, etag="7")
        await writer.delete(fact_id, etag="1")
        await writer.delete(fact_id, etag="1")
        with pytest.raises(NotFound):
            await writer.delete(fact_id, request_id="d2")

    async def test_a_deleted_fact_is_not_derived_again_from_the_same_interaction(self, writer: Replica) -> None:
        source = new_id()
        [(fact_id,)] = await writer.extract((source, "I live in Leeds."))
        await writer.delete(fact_id)
        assert await writer.extract((source, "I live in Leeds.")) == [()]
        assert await writer.texts() == set()
        [(again,)] = await writer.extract((new_id(), "I live in Leeds."))
        assert again != fact_id

    async def test_a_repeated_creation_does_not_bring_a_deleted_fact_back(self, writer: Replica) -> None:
        command = CreateFact(ANN, IdempotencyKey("k", "c1", "digest"), likes("tea"))
        fact = await writer.facts.create(command)
        await writer.delete(fact.fact_id)
        with pytest.raises(NotFound):
            await writer.facts.create(command)
        assert await writer.texts() == set()

    async def test_what_was_merged_into_a_deleted_fact_goes_with_it(self, writer: Replica) -> None:
        kept, loser, last = (made_fact(ANN, vector(text)) for text in ("tea", "a tea", "some tea"))
        await put(writer.store, ANN, [kept, loser, last])
        await put(
            writer.store,
            ANN,
            [
                changed(loser, status=FactStatus.MERGED_INTO, merged_into_fact_id=kept.fact.fact_id),
                changed(last, status=FactStatus.MERGED_INTO, merged_into_fact_id=loser.fact.fact_id),
            ],
        )
        await writer.delete(kept.fact.fact_id)
        assert await writer.listed(EVERY_STATUS) == []

    async def test_i4_a_fact_goes_with_the_last_of_its_sources(self, writer: Replica, reader: Replica) -> None:
        one, two, three = (new_id() for _ in range(3))
        [(tea,), _, (leeds,)] = await writer.extract(
            (one, "I love chocolate."), (two, "I love chocolate."), (three, "I live in Leeds.")
        )
        assert await reader.texts() == {fact.text for fact in await writer.listed()}
        before = await writer.store.get(ANN, tea)
        result = await writer.removal.remove_by_source(ANN, [InteractionId(one), InteractionId(three)])
        assert (result.removed, result.reduced) == (1, 1)
        after = await reader.store.get(ANN, tea)
        assert (before.evidence_count, after.evidence_count, after.derived_from) == (2, 1, (two,))
        assert after.confidence < before.confidence
        assert (after.first_observed_time, after.versions) == (DAY_ONE + timedelta(days=1), ())
        with pytest.raises(NotFound):
            await reader.store.get(ANN, leeds)
        assert await reader.texts() == {after.text}
        await writer.removal.remove_by_source(ANN, [InteractionId(two)])
        assert await writer.listed(EVERY_STATUS) == []
        assert await reader.texts() == set()

    async def test_i4_removed_interactions_are_never_extracted(self, writer: Replica) -> None:
        early, late = new_id(), new_id()
        await writer.extract((early, "I live in Leeds."))
        result = await writer.removal.remove_by_source(ANN, [InteractionId(early), InteractionId(late)])
        assert (result.removed, result.reduced) == (1, 0)
        assert await writer.extract((early, "I live in Leeds."), (late, "I live in York.")) == [(), ()]
        assert await writer.listed(EVERY_STATUS) == []
        again = await writer.removal.remove_by_source(ANN, [InteractionId(early), InteractionId(late)])
        assert (again.removed, again.reduced) == (0, 0)

    async def test_a_removal_falls_back_to_the_wording_that_is_left(self, writer: Replica) -> None:
        worded = replace(likes("tea"), text="Ann is fond of tea")
        first, second = said(likes("tea")), said(worded, day=1)
        [fact_id, _] = await enter(writer.store, ANN, [first, second])
        await writer.removal.remove_by_source(ANN, second.interaction_ids)
        assert (await writer.store.get(ANN, fact_id)).text == "Ann likes tea"
        search = FactSearch(vector("Ann likes tea"), MODEL, GLOBAL_SCOPE, 1, 0.3, includes_threshold=True)
        [hit] = await writer.store.search(ANN, search)
        assert hit.similarity == pytest.approx(1.0, abs=1e-5)

    async def test_a_removed_successor_gives_the_validity_back(self, writer: Replica) -> None:
        later = said(lives_in("York"), day=1)
        leeds, _ = await enter(writer.store, ANN, [said(lives_in("Leeds")), later])
        await writer.removal.remove_by_source(ANN, later.interaction_ids)
        assert (await writer.store.get(ANN, leeds)).valid_to_time is None
        assert [fact.fact_id for fact in await writer.listed(EVERY_STATUS)] == [leeds]

    async def test_a_stated_fact_without_sources_depends_on_none(self, writer: Replica) -> None:
        source = InteractionId(new_id())
        alone = await writer.facts.create(CreateFact(ANN, IdempotencyKey("k", "c1", ""), likes("tea")))
        backed = await writer.facts.create(CreateFact(ANN, IdempotencyKey("k", "c2", ""), likes("ink"), (source,)))
        assert (await writer.removal.remove_by_source(ANN, [source])).removed == 1
        assert [fact.fact_id for fact in await writer.listed()] == [alone.fact_id] != [backed.fact_id]

    async def test_what_was_merged_into_a_fact_without_sources_stands_alone_again(self, writer: Replica) -> None:
        winning, losing = said(likes("tea")), said(likes("green tea"))
        winner, loser = await enter(writer.store, ANN, [winning, losing])
        [record] = [
            record
            for record in await writer.store.write(ANN, lambda w: w.records_of([loser]))
            if record.fact_id == loser
        ]
        assert record.fact is not None
        await put(
            writer.store,
            ANN,
            [replace(made_fact(ANN, vector("x")), record=record, fact=merged(record.fact, winner), vector=None)],
        )
        await writer.removal.remove_by_source(ANN, winning.interaction_ids)
        fact = await writer.store.get(ANN, loser)
        assert (fact.status, fact.merged_into_fact_id) == (FactStatus.TENTATIVE, None)
        assert await writer.texts() == {"Ann likes green tea"}

    async def test_an_owner_is_removed_whole(self, writer: Replica, reader: Replica) -> None:
        source = new_id()
        await writer.extract((source, "I live in Leeds."))
        for owner in (BO, ANN_ELSEWHERE):
            await enter(writer.store, owner, [said(likes("tea"))])
        assert len(await reader.texts()) == 1
        assert await writer.removal.remove_owner(ANN) == 1
        assert await writer.removal.remove_owner(ANN) == 0
        for replica in (writer, reader):
            assert (await replica.texts(), await replica.listed(EVERY_STATUS)) == (set(), [])
            for owner in (BO, ANN_ELSEWHERE):
                assert await replica.texts(owner) == {"Ann likes tea"}
        assert await writer.extract((source, "I live in Leeds.")) == [()]
        assert len((await writer.extract((new_id(), "I live in Leeds.")))[0]) == 1

    async def test_archived_facts_are_out_of_searches_and_readable(self, writer: Replica, reader: Replica) -> None:
        tea, ink = await enter(writer.store, ANN, [said(likes("tea")), said(likes("ink"))])
        await enter(writer.store, ANN, [said(likes("tea"), day=1)])
        assert len(await reader.texts()) == 2
        assert await writer.removal.archive(ANN, [tea, FactId(new_id())]) == 1
        assert await writer.removal.archive(ANN, [tea]) == 0
        for replica in (writer, reader):
            assert await replica.texts() == {"Ann likes ink"}
            assert [fact.fact_id for fact in await replica.listed()] == [ink]
        archived = FactFilter(statuses=frozenset({FactStatus.ARCHIVED}))
        assert [fact.fact_id for fact in await reader.listed(archived)] == [tea]
        fact = await reader.store.get(ANN, tea)
        assert (fact.status, fact.revision) == (FactStatus.ARCHIVED, 3)
        assert await writer.removal.restore(ANN, [tea, ink]) == 1
        assert (await reader.store.get(ANN, tea)).status is FactStatus.STABLE
        assert len(await reader.texts()) == 2

    async def test_spec_6_6_the_users_of_a_tenant_are_listed_by_pages(self, writer: Replica, reader: Replica) -> None:
        for owner in (ANN, BO, ANN_ELSEWHERE):
            await enter(writer.store, owner, [said(likes("tea")), said(likes("ink"))])
        users = reader.store.users
        assert await users(ANN.tenant_id, after=UserId(""), limit=9) == [ANN.user_id, BO.user_id]
        assert await users(ANN.tenant_id, after=UserId(""), limit=1) == [ANN.user_id]
        assert await users(ANN.tenant_id, after=ANN.user_id, limit=9) == [BO.user_id]
        assert await users(TenantId("nobody"), after=UserId(""), limit=9) == []

    async def test_facts_are_archived_in_bulk(self, writer: Replica, reader: Replica) -> None:
        facts = [made_fact(ANN, vector(f"thing {number}")) for number in range(300)]
        await put(writer.store, ANN, facts)
        assert len(await reader.texts()) == 200
        ids = [change.fact.fact_id for change in facts]
        assert await writer.removal.archive(BO, ids) == 0
        assert await writer.removal.archive(ANN, ids) == 300
        assert await reader.texts() == set()
        assert await writer.removal.restore(ANN, ids[:10]) == 10
        assert len(await reader.texts()) == 10

    async def test_a_contradiction_leaves_a_fact_in_the_archive_and_evidence_takes_it_out(
        self, writer: Replica
    ) -> None:
        [leeds] = await enter(writer.store, ANN, [said(lives_in("Leeds"))])
        await writer.removal.archive(ANN, [leeds])
        await enter(writer.store, ANN, [said(lives_in("York"), day=1)])
        assert (await writer.store.get(ANN, leeds)).status is FactStatus.ARCHIVED
        await enter(writer.store, ANN, [said(lives_in("Leeds"), day=2)])
        assert (await writer.store.get(ANN, leeds)).status is FactStatus.STABLE

    async def test_spec_3_1_an_update_replaces_what_a_fact_says(self, writer: Replica, reader: Replica) -> None:
        rome, leeds = await enter(writer.store, ANN, [said(lives_in("Rome")), said(lives_in("Leeds"), day=1)])
        assert len(await reader.texts()) == 2
        corrected = await writer.update(leeds, text="Ann lives in York", object="York", confidence=0.6)
        assert (corrected.text, corrected.object, corrected.confidence) == ("Ann lives in York", "York", 0.6)
        assert (corrected.status, corrected.revision, corrected.contradictions) == (FactStatus.STABLE, 2, (rome,))
        assert [(v.text, v.reason) for v in corrected.versions] == [("Ann lives in Leeds", VersionReason.CORRECTED)]
        assert await reader.store.get(ANN, leeds) == corrected
        assert await reader.texts() == {"Ann lives in Rome", "Ann lives in York"}
        assert (await reader.store.get(ANN, rome)).contradictions == (leeds,)
        [again] = await enter(writer.store, ANN, [said(lives_in("York"), day=400)])
        [other] = await enter(writer.store, ANN, [said(lives_in("Leeds"), day=401)])
        assert (again, other not in {rome, leeds}) == (leeds, True)
        assert (await writer.store.get(ANN, leeds)).confidence == pytest.approx(0.8 + 0.05 * 0.2)

    async def test_an_update_moves_a_fact_to_another_topic(self, writer: Replica) -> None:
        rome, leeds = await enter(writer.store, ANN, [said(lives_in("Rome")), said(lives_in("Leeds"), day=1)])
        moved = await writer.update(leeds, subject="Bo", text="Bo lives in Leeds")
        assert moved.contradictions == ()
        freed = await writer.store.get(ANN, rome)
        assert (freed.contradictions, freed.valid_to_time) == ((), None)

    async def test_an_update_is_refused_where_it_cannot_hold(self, writer: Replica) -> None:
        leeds, york = await enter(writer.store, ANN, [said(lives_in("Leeds")), said(lives_in("York"), day=1)])
        with pytest.raises(AlreadyExists):
            await writer.update(york, text="Ann lives in Leeds", object="Leeds")
        with pytest.raises(Conflict):
            await writer.update(leeds, etag="77", importance=0.1)
        with pytest.raises(NotFound):
            await writer.update(FactId(new_id()), importance=0.1)
        present = await writer.store.get(ANN, leeds)
        updated = await writer.update(leeds, etag=present.etag, importance=0.1)
        assert (updated.importance, updated.text, updated.evidence_count) == (0.1, present.text, 1)
        assert updated.contradictions == present.contradictions == (york,)
        assert await writer.update(leeds, etag=present.etag, importance=0.1) == updated, "the first response"
        merged_fact = made_fact(ANN, vector("x"), status=FactStatus.MERGED_INTO)
        await put(writer.store, ANN, [merged_fact])
        with pytest.raises(FailedPrecondition):
            await writer.update(merged_fact.fact.fact_id, request_id="u2", importance=0.1)

    async def test_spec_3_1_an_update_sets_and_clears_the_validity(self, writer: Replica) -> None:
        [fact_id] = await enter(writer.store, ANN, [said(likes("tea"))])
        end = DAY_ONE + timedelta(days=9)
        bounded = await writer.update(fact_id, valid_from=DAY_ONE, valid_to=end)
        opened = await writer.update(fact_id, request_id="u2", valid_to=None)
        assert (bounded.valid_from_time, bounded.valid_to_time) == (DAY_ONE, end)
        assert (opened.valid_from_time, opened.valid_to_time) == (DAY_ONE, None)

    async def test_i4_a_correction_in_the_same_words_goes_with_the_sources(self, writer: Replica) -> None:
        tea, ink = said(likes("tea")), said(likes("ink"))
        same, other = await enter(writer.store, ANN, [tea, ink])
        await writer.update(same, importance=0.1)
        await writer.update(other, request_id="u2", text="Ann likes pens", object="pens")
        await writer.removal.remove_by_source(ANN, [*tea.interaction_ids, *ink.interaction_ids])
        assert [fact.text for fact in await writer.listed()] == ["Ann likes pens"]

    async def test_spec_3_3_facts_below_the_threshold_are_for_administrators(self, writer: Replica) -> None:
        low, _ = await enter(writer.store, ANN, [said(likes("tea", confidence=0.29)), said(likes("ink"))])
        assert [fact.object for fact in await writer.listed()] == ["ink"]
        page = await writer.facts.list_facts(ListFacts(ANN, FactFilter(), 9, None, include_low_confidence=True))
        assert {fact.object for fact in page.facts} == {"tea", "ink"}
        with pytest.raises(NotFound):
            await writer.facts.get(ANN, low)
        assert (await writer.facts.get(ANN, low, include_low_confidence=True)).fact_id == low

    async def test_spec_6_4_a_judgement_raises_or_lowers_the_confidence_and_can_be_taken_back(
        self, writer: Replica, reader: Replica
    ) -> None:
        tea, ink = await enter(writer.store, ANN, [said(likes("tea", confidence=0.5)), said(likes("ink"))])
        plain = (await writer.store.get(ANN, ink)).confidence
        unknown = FactId(new_id())
        assert await writer.judge(1, tea, unknown, request_id="f1") == (tea,)
        assert await writer.judge(-1, ink, request_id="f2") == (ink,)
        good, bad = [await reader.store.get(ANN, fact_id) for fact_id in (tea, ink)]
        assert (good.feedback, bad.feedback) == (1, -1)
        assert [good.confidence, bad.confidence] == pytest.approx([0.525, 0.8 * plain])
        assert {fact.object: fact.feedback for fact in await reader.listed()} == {"tea": 1, "ink": -1}
        assert await writer.judge(1, tea, unknown, request_id="f1") == (tea,), "the first response"
        await writer.judge(-1, tea, request_id="f3")
        assert await reader.texts() == {"Ann likes tea", "Ann likes ink"}
        await writer.judge(0, tea, ink, request_id="f4")
        restored = [await reader.store.get(ANN, fact_id) for fact_id in (tea, ink)]
        assert [(fact.feedback, fact.confidence) for fact in restored] == [(0, 0.5), (0, plain)]

    async def test_spec_6_4_a_judgement_outlasts_evidence_and_ends_with_a_correction(self, writer: Replica) -> None:
        [tea] = await enter(writer.store, ANN, [said(likes("tea"))])
        await writer.judge(-1, tea, request_id="f1")
        await enter(writer.store, ANN, [said(likes("tea"), day=1)])
        assert (await writer.store.get(ANN, tea)).feedback == -1
        corrected = await writer.update(tea, text="Ann likes green tea", object="green tea", confidence=0.9)
        assert (corrected.feedback, corrected.confidence) == (0, 0.9)

    async def test_lists_are_filtered_by_subject_and_predicate(self, writer: Replica) -> None:
        of_bo = replace(lives_in("Rome"), subject="Bo", text="Bo lives in Rome")
        await enter(writer.store, ANN, [said(draft) for draft in (likes("tea"), lives_in("Leeds"), of_bo)])
        found = [
            {fact.object for fact in await writer.listed(which)}
            for which in (
                FactFilter(subject="ANN"),
                FactFilter(predicate="Lives_In"),
                FactFilter(subject="ann", predicate="lives_in"),
            )
        ]
        assert found == [{"tea", "Leeds"}, {"Leeds", "Rome"}, {"Leeds"}]
