"""What every driver must do for interactions that support facts in other words, and the use cases above it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, UserId
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.tier_embedder import TierEmbedder
from services.common.turns import MessageRole, Turn
from services.semantic.config import EvidenceSettings, SemanticSettings
from services.semantic.facts.arguments import DeleteFact, ListFacts
from services.semantic.facts.believing import believed
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.model import Fact, FactDraft, FactId, FactStatus
from services.semantic.facts.removal import FactRemoval, put_changes
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter, FactStore, FactWriter
from services.semantic.facts.working_set import FactWorkingSet
from tests.contract.fact_samples import (
    ANN,
    ANN_ELSEWHERE,
    BO,
    DAY_ONE,
    EMBEDDER,
    MODEL,
    PROJECT,
    enter,
    likes,
    said,
    vector,
)
from tests.contract.fact_store import MakeStore
from tests.support.clock import FakeClock

DOZEN, TWELVE = "Ann has a dozen blue chairs", "Ann has twelve blue chairs"
"""The same in other words: two facts, since their objects are written otherwise."""
EVERY_STATUS = FactFilter(statuses=frozenset(FactStatus))


def has(text: str, *, confidence: float = 0.8) -> FactDraft:
    return replace(likes(text, confidence=confidence), text=text, predicate="has", object=text.removeprefix("Ann has "))


class _Says(FactExtractor):
    """Takes each turn for the text of one fact."""

    def __init__(self, *, importance: float | None = None) -> None:
        self._importance = importance

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        drafts = [has(source.turn.content) for source in sources]
        return [
            [draft if self._importance is None else replace(draft, importance=self._importance)] for draft in drafts
        ]


def turn(
    text: str, *, day: int = 0, number: int = 1, owner: Owner = ANN, scope: Scope = GLOBAL_SCOPE
) -> SourceInteraction:
    said = Turn(MessageRole.USER, text, DAY_ONE + timedelta(days=day), "Ann")
    return SourceInteraction(InteractionId(str(uuid.UUID(int=number))), UserId(owner.user_id), "c", number, said, scope)


async def merge(store: FactStore, winner: FactId, loser: FactId) -> None:
    """Merges a fact into another one, as the job does."""
    await store.write(ANN, lambda writer: _change(writer, winner, loser, is_merge=True))


async def take_back(store: FactStore, winner: FactId, loser: FactId) -> None:
    """Takes the merge back."""
    await store.write(ANN, lambda writer: _change(writer, winner, loser, is_merge=False))


async def _change(writer: FactWriter, winner: FactId, loser: FactId, *, is_merge: bool) -> None:
    working_set = FactWorkingSet(ANN.user_id, EvidenceSettings(), new_id=str, model=MODEL)
    working_set.load(await writer.records_of([winner, loser], are_reduced=True))
    if is_merge:
        working_set.unite(winner, loser)
    else:
        await writer.remove_statements(winner, working_set.separate(winner, loser))
    await put_changes(writer, working_set, TierEmbedder(EMBEDDER))


async def states(store: FactStore) -> dict[FactId, Fact]:
    """All facts, whatever became of them, without their revisions."""
    found = await store.list_facts(ANN, which=EVERY_STATUS, after=None, limit=50)
    return {fact.fact_id: replace(fact, revision=0) for fact in found}


class FactSupportsContract:
    """Subclass it with a fixture `make_store`, of a fresh database."""

    @pytest.fixture
    def store(self, make_store: MakeStore) -> FactStore:
        return make_store(EvidenceSettings())

    @pytest.fixture
    def service(self, store: FactStore) -> FactService:
        clock = FakeClock()
        return FactService(
            store, TierEmbedder(EMBEDDER), _Says(), clock=clock, ids=Uuid7Ids(clock), settings=SemanticSettings()
        )

    async def facts(self, store: FactStore, owner: Owner = ANN) -> dict[str, Fact]:
        found = await store.list_facts(owner, which=EVERY_STATUS, after=None, limit=50)
        return {fact.text: fact for fact in found}

    async def take_in(self, service: FactService, *sources: SourceInteraction, owner: Owner = ANN) -> None:
        await service.extract(owner.tenant_id, sources)

    async def test_spec_3_3_a_fact_that_has_faded_is_in_no_list_before_a_job_deprecates_it(
        self, store: FactStore
    ) -> None:
        clock = FakeClock(DAY_ONE)
        service = FactService(
            store,
            TierEmbedder(EMBEDDER),
            _Says(importance=0.5),
            clock=clock,
            ids=Uuid7Ids(clock),
            settings=SemanticSettings(),
        )
        await self.take_in(service, turn(DOZEN))
        stored = (await self.facts(store))[DOZEN]
        assert stored.fade_time is not None
        asked = ListFacts(ANN, FactFilter(), page_size=10, after=None)
        for moment, expected in ((stored.fade_time - timedelta(days=1), 1), (stored.fade_time + timedelta(days=1), 0)):
            clock.set(moment + timedelta(days=4_000))
            assert len((await service.list_facts(asked)).facts) == 1 + (moment > stored.fade_time)
            clock.set(moment)
            day = (moment - DAY_ONE) / timedelta(days=1)
            await enter(store, ANN, [said(replace(likes("tea"), importance=0.95), day=day)])
            assert len((await service.list_facts(asked)).facts) == 1 + expected
        with pytest.raises(NotFound):
            await service.get(ANN, stored.fact_id)
        assert (await service.get(ANN, stored.fact_id, include_low_confidence=True)).fact_id == stored.fact_id
        assert (await service.list_facts(replace(asked, include_low_confidence=True))).facts

    async def test_spec_3_4_what_says_the_same_in_other_words_supports_a_fact(
        self, service: FactService, store: FactStore
    ) -> None:
        await self.take_in(service, turn(DOZEN))
        before = (await self.facts(store))[DOZEN]
        await self.take_in(service, turn(TWELVE, day=2, number=2))
        facts = await self.facts(store)
        dozen, twelve = facts[DOZEN], facts[TWELVE]
        assert before.confidence == pytest.approx(0.8)
        assert dozen.confidence == twelve.confidence == pytest.approx(0.8 + 0.05 * 0.2)
        assert (dozen.evidence_count, twelve.evidence_count) == (2, 2)
        assert {dozen.status, twelve.status} == {FactStatus.STABLE}
        assert dozen.last_confirmed_time == DAY_ONE + timedelta(days=2)
        assert (dozen.text, len(dozen.versions)) == (DOZEN, 1)
        assert dozen.derived_from == before.derived_from

    async def test_spec_3_4_the_same_interaction_never_counts_twice_in_any_order(
        self, service: FactService, store: FactStore
    ) -> None:
        sources = [turn(DOZEN), turn(TWELVE, day=1, number=2), turn(TWELVE, day=3, number=3)]
        states = []
        for place, owner in enumerate((ANN, BO)):
            own = [replace(source, user_id=UserId(owner.user_id)) for source in sources[:: 1 - 2 * place]]
            for source in (*own, *own):
                await self.take_in(service, source, owner=owner)
            facts = await self.facts(store, owner)
            states.append({text: (f.confidence, f.evidence_count, f.last_confirmed_time) for text, f in facts.items()})
        batch = [replace(source, user_id=UserId("cy")) for source in sources]
        cy = Owner(ANN.tenant_id, UserId("cy"))
        await self.take_in(service, *batch, *batch, owner=cy)
        facts = await self.facts(store, cy)
        states.append({text: (f.confidence, f.evidence_count, f.last_confirmed_time) for text, f in facts.items()})
        assert states[0] == states[1] == states[2]
        assert states[0][DOZEN][1] == states[0][TWELVE][1] == 3
        assert states[0][DOZEN][0] == pytest.approx(1 - 0.2 * 0.95 * 0.95)

    @pytest.mark.parametrize(
        "other",
        [
            "Ann has thirteen blue chairs",
            "Ann has twelve red chairs",
            "Ann has no blue chairs",
            "Ann had twelve blue chairs until 2018",
        ],
    )
    async def test_spec_3_4_what_differs_in_a_value_or_cannot_be_read_supports_nothing(
        self, service: FactService, store: FactStore, other: str
    ) -> None:
        await self.take_in(service, turn(DOZEN), turn(other, day=1, number=2))
        facts = await self.facts(store)
        assert {fact.evidence_count for fact in facts.values()} == {1}
        assert facts[DOZEN].confidence == pytest.approx(0.8)

    async def test_spec_6_6_support_goes_with_the_turn_that_gave_it(
        self, service: FactService, store: FactStore
    ) -> None:
        await self.take_in(service, turn(DOZEN))
        before = await self.facts(store)
        await self.take_in(service, turn(TWELVE, day=2, number=2))
        clock = FakeClock()
        removal = FactRemoval(
            store, TierEmbedder(EMBEDDER), clock=clock, ids=Uuid7Ids(clock), settings=SemanticSettings()
        )
        result = await removal.remove_by_source(ANN, [turn(TWELVE, number=2).interaction_id])
        assert (result.removed, result.reduced) == (1, 1)
        after = await self.facts(store)
        assert {t: replace(f, revision=0) for t, f in after.items()} == {
            t: replace(f, revision=0) for t, f in before.items()
        }
        await removal.remove_by_source(ANN, [turn(DOZEN).interaction_id])
        assert await self.facts(store) == {}

    async def test_spec_3_6_a_merge_counts_an_interaction_once_and_gives_the_support_back(
        self, service: FactService, store: FactStore
    ) -> None:
        await self.take_in(service, turn(DOZEN), turn(TWELVE, day=2, number=2))
        before = await states(store)
        winner, loser = before
        await merge(store, winner, loser)
        merged = await store.facts_of(ANN, [winner, loser])
        assert merged[winner].evidence_count == 2
        assert merged[winner].confidence == pytest.approx(0.81)
        assert merged[loser].status is FactStatus.MERGED_INTO
        await take_back(store, winner, loser)
        assert await states(store) == before

    async def test_spec_3_6_a_winner_has_the_support_of_those_merged_into_it_until_the_merge_is_taken_back(
        self, service: FactService, store: FactStore
    ) -> None:
        [middle] = await enter(store, ANN, [said(has("Ann has a boat"), day=4)])
        [winner] = await enter(store, ANN, [said(has("Ann has a kayak"), day=5)])
        await self.take_in(service, turn(DOZEN, number=9_001), turn(TWELVE, day=2, number=9_002))
        loser = (await self.facts(store))[DOZEN].fact_id
        before = await states(store)
        assert [before[one].evidence_count for one in (winner, middle, loser)] == [1, 1, 2]
        await merge(store, middle, loser)
        between = await states(store)
        assert between[middle].evidence_count == 3, "of itself, of the other one, and in other words of that one"
        assert between[middle].confidence == pytest.approx(1 - 0.2 * 0.95**2)
        await merge(store, winner, middle)
        merged = (await states(store))[winner]
        assert merged.evidence_count == 4
        assert merged.confidence == pytest.approx(1 - 0.2 * 0.95**3)
        await enter(store, ANN, [said(has("Ann has a kayak"), day=6)])
        assert (await states(store))[winner].evidence_count == 5, "what is said later adds to all of it"
        assert (await states(store))[winner].confidence == pytest.approx(1 - 0.2 * 0.95**4)
        await take_back(store, winner, middle)
        assert (await states(store))[winner].evidence_count == 2
        assert (await states(store))[middle] == between[middle]
        await take_back(store, middle, loser)
        after = await states(store)
        assert (after[middle], after[loser]) == (before[middle], before[loser])

    async def test_spec_3_6_support_that_both_facts_of_a_merge_had_stays_with_each(
        self, service: FactService, store: FactStore
    ) -> None:
        twelve = "Ann has 12 blue chairs"
        await self.take_in(service, turn(DOZEN), turn(TWELVE, day=1, number=2), turn(twelve, day=2, number=3))
        before = await states(store)
        ids = {fact.text: fact.fact_id for fact in before.values()}
        winner, loser, third = ids[DOZEN], ids[TWELVE], ids[twelve]
        assert {fact.evidence_count for fact in before.values()} == {3}
        await merge(store, winner, loser)
        await merge(store, winner, third)
        assert (await states(store))[winner].evidence_count == 3, "each interaction counts once"
        await take_back(store, winner, loser)
        assert (await states(store))[winner].evidence_count == 3, "given to the winner itself, and to the third one"
        await take_back(store, winner, third)
        assert await states(store) == before

    @pytest.mark.parametrize("is_by_turn", [True, False])
    async def test_spec_6_6_support_of_a_merged_fact_goes_with_its_turn_and_with_that_fact(
        self, service: FactService, store: FactStore, is_by_turn: bool
    ) -> None:
        twelve = turn(TWELVE, day=2, number=9_002)
        [winner] = await enter(store, ANN, [said(has("Ann has a boat"), day=4)])
        await self.take_in(service, turn(DOZEN, number=9_001), twelve)
        loser = (await self.facts(store))[DOZEN].fact_id
        before = await states(store)
        await merge(store, winner, loser)
        clock = FakeClock()
        removal = FactRemoval(
            store, TierEmbedder(EMBEDDER), clock=clock, ids=Uuid7Ids(clock), settings=SemanticSettings()
        )
        assert (await states(store))[winner].evidence_count == 3
        if is_by_turn:
            await removal.remove_by_source(ANN, [twelve.interaction_id])
            reduced = await states(store)
            assert (reduced[winner].evidence_count, reduced[loser].evidence_count) == (2, 1)
            assert reduced[winner].confidence == pytest.approx(0.81)
        else:
            await removal.delete(DeleteFact(ANN, IdempotencyKey("p", "r", "1"), loser, ""))
            assert (await states(store))[winner] == before[winner]

    async def test_spec_5_3_facts_of_another_scope_and_user_get_no_support(
        self, service: FactService, store: FactStore
    ) -> None:
        await self.take_in(service, turn(DOZEN), turn(TWELVE, number=2, scope=PROJECT))
        for owner in (BO, ANN_ELSEWHERE):
            await self.take_in(service, turn(TWELVE, number=3, owner=owner), owner=owner)
            assert {fact.evidence_count for fact in (await self.facts(store, owner)).values()} == {1}
        assert {fact.evidence_count for fact in (await self.facts(store)).values()} == {1}
        near = await store.write(
            BO,
            lambda writer: writer.similar(vector(TWELVE), GLOBAL_SCOPE, model=MODEL, cosine_min=0.5, limit=9),
        )
        assert [fact.text for fact in near] == [TWELVE]

    async def test_spec_3_7_support_counts_from_when_it_was_recorded(
        self, service: FactService, store: FactStore
    ) -> None:
        await self.take_in(service, turn(DOZEN))
        await self.take_in(service, turn(TWELVE, day=2, number=2))
        [fact_id] = [fact.fact_id for text, fact in (await self.facts(store)).items() if text == DOZEN]
        records = await store.write(ANN, lambda writer: writer.records_of([fact_id], are_reduced=True))
        earlier = believed(records, DAY_ONE + timedelta(days=1), user_id=ANN.user_id, settings=EvidenceSettings())
        assert earlier[fact_id].evidence_count == 1
        assert earlier[fact_id].confidence == pytest.approx(0.8)

    async def test_a_statement_is_compared_with_so_many_similar_facts_and_no_more(self, store: FactStore) -> None:
        clock = FakeClock()
        off = replace(EvidenceSettings(), support_candidates_max=0)
        service = FactService(
            store, TierEmbedder(EMBEDDER), _Says(), clock=clock, ids=Uuid7Ids(clock),
            settings=SemanticSettings(evidence=off),
        )  # fmt: skip
        await self.take_in(service, turn(DOZEN), turn(TWELVE, day=1, number=2))
        assert {fact.evidence_count for fact in (await self.facts(store)).values()} == {1}
        for limit in (1, 2):
            near = await store.write(
                ANN,
                lambda writer, limit=limit: writer.similar(  # type: ignore[misc]
                    vector(TWELVE), GLOBAL_SCOPE, model=MODEL, cosine_min=0.5, limit=limit
                ),
            )
            assert [fact.text for fact in near] == [TWELVE, DOZEN][:limit]
            cosines = [float(vector(TWELVE) @ vector(fact.text)) for fact in near]
            assert [fact.similarity for fact in near] == pytest.approx(cosines, abs=1e-3)
