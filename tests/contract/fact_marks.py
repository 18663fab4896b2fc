"""What every driver must do that reads what superseded the sentences of facts, and the facts that are read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import NotFound
from services.common.ids import Uuid7Ids
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import EvidenceSettings, SemanticSettings
from services.semantic.facts.arguments import ListFacts, SearchFacts
from services.semantic.facts.ends import FactMarkStore
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.model import Fact, FactDraft, FactId, FactUse, Statement, StatementId
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter
from services.semantic.supersession.model import Decision, Place, Reason, State, Supersession
from services.semantic.supersession.store import SupersessionStore
from tests.contract.fact_samples import EMBEDDER, enter, likes
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_store import ADA, BEN, NOON, OTHER, once, turn
from tests.support.clock import FakeClock
from tests.support.parsing import InProcessParser

LATER = NOON + timedelta(days=90)


def boat(number: int, *sentences: int, shares: bool = False, draft: FactDraft | None = None) -> Statement:
    """A statement of a turn, read in some of its sentences."""
    return Statement(
        StatementId(turn(number)),
        NOON + timedelta(days=number),
        draft or likes("boats"),
        (turn(number),),
        sentences=sentences,
        shares_sentence=shares,
    )


def mark(loser: int, sentence: int = 0, *, winner: int = 9, state: State = State.APPLIED) -> Supersession:
    return Supersession(
        loser=Place(turn(loser), sentence),
        winner=Place(turn(winner), 2),
        reason=Reason.UPDATED,
        state=state,
        end_time=NOON + timedelta(days=winner),
        create_time=NOON + timedelta(days=winner),
        statement="I like boats.",
        standing_statement="I gave up sailing.",
        premise="I sail.",
    )


class FactMarksContract:
    """Subclass it with fixtures `marks`, `supersessions` and `make_store`, of one fresh database."""

    @pytest.fixture
    def service(self, make_store: MakeStore, marks: FactMarkStore) -> FactService:
        clock = FakeClock()
        clock.set(LATER)
        return FactService(
            make_store(EvidenceSettings()),
            TierEmbedder(EMBEDDER),
            ParsedFactExtractor(InProcessParser()),
            clock=clock,
            ids=Uuid7Ids(clock),
            settings=SemanticSettings(),
            marks=marks,
        )

    async def test_what_supersedes_the_sentences_of_facts_is_read_with_all_that_was_said_of_them(
        self, make_store: MakeStore, marks: FactMarkStore, supersessions: SupersessionStore
    ) -> None:
        store = make_store(EvidenceSettings())
        [one, _] = await enter(store, ADA, [boat(1, 0, 3, shares=True), boat(2)])
        [other] = await enter(store, ADA, [boat(3, 0, draft=likes("tea"))])
        assert await marks.marked(ADA, [one, other]) == {}
        await supersessions.put(ADA, [mark(1, 3)])
        found = await marks.marked(ADA, [one, other])
        assert list(found) == [one]
        first, second = sorted(found[one], key=lambda statement: statement.order)
        assert (first.statement_id, first.shares_sentence, second.marks) == (turn(1), True, ())
        [superseding] = first.marks
        assert (superseding.superseded_by, superseding.end_time) == (turn(9), NOON + timedelta(days=9))
        assert (superseding.standing_statement, superseding.premise) == ("I gave up sailing.", "I sail.")
        assert superseding.recorded_time == NOON + timedelta(days=9)

    @pytest.mark.parametrize(
        ("one", "count"),
        [
            (mark(1, 1), 0),  # another sentence
            (mark(2), 0),  # another turn
            (mark(1, state=State.PENDING), 0),
            (mark(1, state=State.REJECTED), 0),
            (mark(1, -1), 1),  # all of the turn
            (mark(1), 1),
        ],
    )
    async def test_marks_of_a_fact_are_those_of_its_sentences(
        self,
        make_store: MakeStore,
        marks: FactMarkStore,
        supersessions: SupersessionStore,
        one: Supersession,
        count: int,
    ) -> None:
        [fact_id] = await enter(make_store(EvidenceSettings()), ADA, [boat(1, 0)])
        await supersessions.put(ADA, [one, mark(7)])
        assert len(await marks.marked(ADA, [fact_id])) == count

    async def test_users_and_tenants_are_apart(
        self, make_store: MakeStore, marks: FactMarkStore, supersessions: SupersessionStore
    ) -> None:
        store = make_store(EvidenceSettings())
        ids = {owner: (await enter(store, owner, [boat(1, 0)]))[0] for owner in (ADA, BEN, OTHER)}
        await supersessions.put(ADA, [mark(1)])
        every = list(ids.values())
        assert [list(await marks.marked(owner, every)) for owner in ids] == [[ids[ADA]], [], []]

    async def read(self, service: FactService, fact_id: FactId, owner: Owner = ADA) -> list[Fact]:
        """A fact as it is got, listed and found."""
        got = await service.get(owner, fact_id)
        listed = await service.list_facts(ListFacts(owner, FactFilter(), 10, None))
        hits = await service.search(self.asked(owner))
        by_id = [
            next(one for one in facts if one.fact_id == fact_id) for facts in (listed.facts, [h.fact for h in hits])
        ]
        return [replace(got, versions=()), *(replace(one, versions=()) for one in by_id)]

    def asked(self, owner: Owner) -> SearchFacts:
        return SearchFacts(
            owner, query="boats", vector=None, reader=GLOBAL_SCOPE, use=FactUse.EXPLICIT_SEARCH, limit=10
        )

    async def test_spec_3_5_a_superseded_fact_has_an_end_and_a_link_until_the_mark_is_taken_back(
        self, make_store: MakeStore, service: FactService, supersessions: SupersessionStore
    ) -> None:
        [fact_id] = await enter(make_store(EvidenceSettings()), ADA, [boat(1, 0)])
        one = mark(1)
        await supersessions.put(ADA, [one])
        end = NOON + timedelta(days=9)
        before = await self.read(service, fact_id)
        assert {(fact.valid_to_time, fact.superseded_by) for fact in before} == {(end, turn(9))}
        await supersessions.resolve(ADA, one.supersession_id, Decision.BOTH_STAND, once)
        after = await self.read(service, fact_id)
        assert {(fact.valid_to_time, fact.superseded_by) for fact in after} == {(None, None)}
        assert {fact.revision for fact in (*before, *after)} == {1}, "nothing is written to the fact"
        await supersessions.resolve(ADA, one.supersession_id, Decision.LATER_STANDS, once)
        assert await self.read(service, fact_id) == before
        await supersessions.remove_sources(ADA, [turn(9)])
        assert await self.read(service, fact_id) == after

    async def test_spec_3_5_of_a_pair_that_is_turned_the_other_fact_ends(
        self, make_store: MakeStore, service: FactService, supersessions: SupersessionStore
    ) -> None:
        store = make_store(EvidenceSettings())
        [earlier] = await enter(store, ADA, [boat(1, 0)])
        [later] = await enter(store, ADA, [boat(9, 2, draft=likes("trains"))])
        one = mark(1)
        await supersessions.put(ADA, [one])
        await supersessions.resolve(ADA, one.supersession_id, Decision.EARLIER_STANDS, once)
        assert (await service.get(ADA, earlier)).superseded_by is None
        found = await service.get(ADA, later)
        assert (found.valid_to_time, found.superseded_by) == (NOON + timedelta(days=9), turn(1))

    async def test_spec_3_5_a_fact_that_is_said_again_holds_again(
        self, make_store: MakeStore, service: FactService, supersessions: SupersessionStore
    ) -> None:
        store = make_store(EvidenceSettings())
        [fact_id] = await enter(store, ADA, [boat(1, 0)])
        await supersessions.put(ADA, [mark(1)])
        await enter(store, ADA, [boat(20, 0)])
        assert (await service.get(ADA, fact_id)).valid_to_time is None

    async def test_spec_3_5_facts_of_reduced_statements_are_believed_half_as_much_and_none_is_marked(
        self,
        make_store: MakeStore,
        marks: FactMarkStore,
        service: FactService,
        supersessions: SupersessionStore,
    ) -> None:
        store = make_store(EvidenceSettings())
        [one] = await enter(store, ADA, [boat(1, 0)])
        [other] = await enter(store, ADA, [boat(9, 2, draft=likes("boats and trains", confidence=0.5))])
        [third] = await enter(store, ADA, [boat(9, 1, draft=likes("boats and tea"))])
        pair = mark(1, state=State.PENDING)
        await supersessions.put(ADA, [pair])
        reduced = await supersessions.resolve(ADA, pair.supersession_id, Decision.BOTH_REDUCED, once)
        assert reduced.state is State.REDUCED
        assert (await supersessions.marks(ADA, cached_revision=None, limit=10)).superseded == []
        assert (await marks.marked(ADA, [third])) == {}
        assert {fact.confidence for fact in await self.read(service, one)} == {0.4}
        with pytest.raises(NotFound):
            await service.get(ADA, other)
        found = await service.get(ADA, other, include_low_confidence=True)
        assert (found.confidence, found.valid_to_time, found.superseded_by) == (0.25, None, None)
        hits = {hit.fact.fact_id: hit.confidence_now for hit in await service.search(self.asked(ADA))}
        assert hits.keys() == {one, third}, "what is believed too little is not found"
        passive = await service.search(replace(self.asked(ADA), use=FactUse.PASSIVE_CONTEXT))
        assert [hit.fact.fact_id for hit in passive] == [third]
        listed = [await service.list_facts(ListFacts(ADA, FactFilter(), size, None)) for size in (1, 10)]
        assert [{fact.fact_id for fact in page.facts} <= {one, third} for page in listed] == [True, True]
        assert len(listed[1].facts) == 2
        rest = await service.list_facts(ListFacts(ADA, FactFilter(), 1, listed[0].next))
        assert {fact.fact_id for page in (listed[0], rest) for fact in page.facts} == {one, third}
        await supersessions.resolve(ADA, pair.supersession_id, Decision.BOTH_STAND, once)
        assert {fact.confidence for fact in await self.read(service, one)} == {0.8}

    async def test_spec_3_7_a_mark_is_known_since_it_was_recorded(
        self, make_store: MakeStore, service: FactService, supersessions: SupersessionStore
    ) -> None:
        await enter(make_store(EvidenceSettings()), ADA, [boat(1, 0)])
        await supersessions.put(ADA, [mark(1)])
        for days, end in ((8, None), (9, NOON + timedelta(days=9))):
            known_at = NOON + timedelta(days=days)
            [hit] = await service.search(replace(self.asked(ADA), known_at=known_at))
            [listed] = (await service.list_facts(ListFacts(ADA, FactFilter(), 10, None, known_at=known_at))).facts
            assert (hit.fact.valid_to_time, listed.valid_to_time) == (end, end)
