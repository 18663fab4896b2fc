"""What every driver must do that reads what superseded the sentences of facts, and the facts that are read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Protocol

import pytest

from services.common.comparing.port import ThreadComparer
from services.common.errors import NotFound
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.common.turns import MessageRole, Turn
from services.semantic.config import EvidenceSettings, SemanticSettings, SupersessionSettings
from services.semantic.facts.arguments import ListFacts, SearchFacts
from services.semantic.facts.ends import FactMarkStore
from services.semantic.facts.extraction.extractor import ParsedFactExtractor
from services.semantic.facts.model import Fact, FactDraft, FactId, FactUse, Statement, StatementId
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter
from services.semantic.supersession.model import (
    ClearPolicy,
    Decider,
    Decision,
    Place,
    Reason,
    State,
    Supersession,
)
from services.semantic.supersession.service import SupersessionService
from services.semantic.supersession.store import SupersessionStore
from tests.contract.fact_samples import EMBEDDER, enter, likes, lives_in
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_samples import ADA, BEN, NOON, OTHER, once, turn
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


class MakeService(Protocol):
    """Makes the use cases of facts on the stores of a test."""

    def __call__(self, evidence: EvidenceSettings, *, marked: bool = True) -> FactService:
        """With marks or without."""
        ...


def spoken(number: int, text: str) -> SourceInteraction:
    """A turn of a user."""
    said = Turn(role=MessageRole.USER, content=text, time=NOON + timedelta(days=number), speaker="Ada")
    return SourceInteraction(turn(number), ADA.user_id, "c1", number, said)


class FactMarksContract:
    """Subclass it with fixtures `marks`, `supersessions` and `make_store`, of one fresh database."""

    @pytest.fixture
    def make_service(self, make_store: MakeStore, marks: FactMarkStore) -> MakeService:
        clock = FakeClock()
        clock.set(LATER)

        def make(evidence: EvidenceSettings, *, marked: bool = True) -> FactService:
            return FactService(
                make_store(evidence),
                TierEmbedder(EMBEDDER),
                ParsedFactExtractor(InProcessParser()),
                clock=clock,
                ids=Uuid7Ids(clock),
                settings=SemanticSettings(evidence=evidence),
                marks=marks if marked else None,
            )

        return make

    @pytest.fixture
    def service(self, make_service: MakeService) -> FactService:
        return make_service(EvidenceSettings())

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

    async def test_spec_3_7_a_change_to_come_ends_a_fact_on_its_day_unless_it_is_called_off_before(
        self, make_store: MakeStore, service: FactService, supersessions: SupersessionStore
    ) -> None:
        store, day = make_store(EvidenceSettings()), NOON + timedelta(days=200)
        [earlier] = await enter(store, ADA, [boat(1, 0)])
        [later] = await enter(store, ADA, [boat(9, 2, draft=likes("trains"))])
        one = replace(mark(1), end_time=day)
        await supersessions.put(ADA, [one, replace(mark(9, 1, winner=12), standing_statement="It is off.")])
        assert (await service.get(ADA, earlier)).valid_to_time == day, "another sentence is called off"
        await supersessions.resolve(ADA, one.supersession_id, Decision.EARLIER_STANDS, once)
        assert (await service.get(ADA, earlier)).valid_to_time is None
        assert (await service.get(ADA, later)).valid_to_time == one.create_time, "what is turned is off at once"
        await supersessions.resolve(ADA, one.supersession_id, Decision.LATER_STANDS, once)
        await supersessions.put(ADA, [mark(9, 2, winner=13)])
        assert (await service.get(ADA, earlier)).valid_to_time is None
        assert (await service.get(ADA, later)).superseded_by == turn(13)

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

    @pytest.mark.parametrize(
        ("one", "is_undecided"),
        [
            (mark(7), True),  # another turn
            (mark(1, 1), True),  # another sentence
            (mark(1, winner=8), True),  # another statement stands
            (mark(1), False),
            (mark(1, state=State.REDUCED), False),
            (mark(1, state=State.PENDING), False),
            (mark(1, state=State.REJECTED), False),
            (replace(mark(1, -7), winner=Place(turn(9)), reason=Reason.CORRECTED), False),
        ],
    )
    async def test_spec_3_5_facts_are_undecided_of_which_no_mark_joins_sentences(
        self,
        make_store: MakeStore,
        marks: FactMarkStore,
        supersessions: SupersessionStore,
        one: Supersession,
        is_undecided: bool,
    ) -> None:
        store = make_store(EvidenceSettings())
        reduced = EvidenceSettings(clear_policy=ClearPolicy.REDUCE)
        statements = [boat(1, 0, draft=lives_in("Leeds")), boat(9, 2, draft=lives_in("York"))]
        earlier, later = await enter(store, ADA, statements, evidence=reduced)
        await supersessions.put(ADA, [one])
        pairs = [(earlier, later), (later, earlier)]
        found = await marks.undecided(ADA, pairs, confidence_min=0.5)
        assert found == ({earlier, later} if is_undecided else set())
        assert await marks.undecided(BEN, pairs, confidence_min=0.5) == set()
        assert await marks.undecided(ADA, pairs, confidence_min=0.9) == set()

    async def test_spec_3_5_with_reduce_facts_that_contradict_each_other_are_believed_half_as_much(
        self, make_store: MakeStore, make_service: MakeService, supersessions: SupersessionStore
    ) -> None:
        store = make_store(EvidenceSettings())
        reduced = EvidenceSettings(clear_policy=ClearPolicy.REDUCE)
        service = make_service(reduced)
        statements = [boat(1, 0, draft=lives_in("Leeds")), boat(9, 2, draft=lives_in("York"))]
        ids = await enter(store, ADA, [*statements, boat(9, 3, draft=likes("boats"))], evidence=reduced)

        async def shown() -> list[tuple[float, bool]]:
            facts = [await service.get(ADA, fact_id) for fact_id in ids]
            return [(fact.confidence, fact.valid_to_time is not None) for fact in facts]

        assert await shown() == [(0.4, False), (0.4, False), (0.8, False)]
        assert (await make_service(EvidenceSettings()).get(ADA, ids[0])).confidence == 0.8, "as without the setting"
        pair = mark(1, state=State.REDUCED)
        await supersessions.put(ADA, [pair])
        assert await shown() == [(0.4, False), (0.4, False), (0.8, False)], "halved once"
        await supersessions.resolve(ADA, pair.supersession_id, Decision.BOTH_STAND, once)
        assert await shown() == [(0.8, False), (0.8, False), (0.8, False)]
        await supersessions.resolve(ADA, pair.supersession_id, Decision.LATER_STANDS, once)
        assert await shown() == [(0.8, True), (0.8, False), (0.8, False)]
        await supersessions.resolve(ADA, pair.supersession_id, Decision.BOTH_REDUCED, once)
        assert await shown() == [(0.4, False), (0.4, False), (0.8, False)]

    async def test_spec_3_5_with_reduce_what_is_said_arrives_as_a_pair_of_which_neither_stands(
        self, make_service: MakeService, supersessions: SupersessionStore
    ) -> None:
        reduced = EvidenceSettings(clear_policy=ClearPolicy.REDUCE)
        service = make_service(reduced)
        clock = FakeClock()
        clock.set(LATER)
        marking = SupersessionService(
            supersessions,
            ThreadComparer(),
            clock=clock,
            settings=SupersessionSettings(),
            clear_policy=reduced.clear_policy,
        )
        sources = [spoken(1, "I live in Leeds."), spoken(9, "I live in York.")]
        results = await service.extract(ADA.tenant_id, sources)
        assert await marking.take_in(ADA.tenant_id, sources) == 1
        marks = await marking.marks(ADA, cached_revision=None)
        assert (marks.superseded, [one.state for one in marks.reduced]) == ([], [State.REDUCED])
        [pair] = marks.reduced
        assert (pair.statement, pair.standing_statement) == ("I live in Leeds.", "I live in York.")
        assert (pair.decided_by, pair.decision_reason) == (Decider.POLICY, "both are believed half as much")
        ids = [fact_id for result in results for fact_id in result.fact_ids]
        full = [await make_service(EvidenceSettings(), marked=False).get(ADA, fact_id) for fact_id in ids]
        halved = [await service.get(ADA, fact_id) for fact_id in ids]
        assert [fact.confidence for fact in halved] == [fact.confidence / 2 for fact in full]
        assert len(ids) == 2
        assert [fact.valid_to_time for fact in halved] == [None, None]

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
