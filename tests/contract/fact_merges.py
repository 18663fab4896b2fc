"""What every driver must do for groups of similar facts, and the use cases above it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from services.common.errors import Conflict, FailedPrecondition, InvalidArgument, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.maintenance import MaintenanceRunner, RunReport
from services.common.maintenance.store import MaintenanceStore
from services.common.owners import InteractionId, Owner
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import EvidenceSettings, FactMergingSettings, SemanticSettings
from services.semantic.facts.arguments import DeleteFact, UpdateFact
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.merge_groups import MergeDecision, MergeGroup, MergePosition, MergeState, group_id_of
from services.semantic.facts.merging import FactMerging, ListMergeGroups, ResolveMergeGroup, ShownGroup
from services.semantic.facts.model import Fact, FactDraft, FactId, FactStatus
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter, FactStore
from services.semantic.facts.upkeep_store import FactUpkeepStore
from services.semantic.maintenance.merging import MergeFacts
from tests.contract.fact_samples import ANN, ANN_ELSEWHERE, BO, DAY_ONE, EMBEDDER, enter, likes, new_id, said
from tests.contract.fact_store import MakeStore
from tests.support.clock import FakeClock

EVERY_STATUS = FactFilter(statuses=frozenset(FactStatus))
MAKING_IT_EASY = FactMergingSettings(cosine_above=0.5, share_max=1.0)
"""The embedder of tests counts words: what says the same is less alike than with a real one."""
DIARY = ("Ann keeps a diary", "Ann writes a diary")
"""Similar, and no value differs: the guard cannot tell that they say the same."""

_requests = itertools.count(1)


def about(text: str, *, confidence: float = 0.8) -> FactDraft:
    """A fact of its own text."""
    return replace(likes(text, confidence=confidence), text=text, subject="Ann", predicate="event")


def key() -> IdempotencyKey:
    number = next(_requests)
    return IdempotencyKey("p", f"r{number}", str(number))


class NoFacts(FactExtractor):
    """Facts are entered here, not extracted."""

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        raise AssertionError(sources)


@dataclass
class Merges:
    """The job and the use cases on one store."""

    store: FactStore
    upkeep: FactUpkeepStore
    runner: MaintenanceRunner
    clock: FakeClock
    settings: SemanticSettings

    @property
    def job(self) -> MergeFacts:
        return MergeFacts(self.upkeep, self.store, TierEmbedder(EMBEDDER), Uuid7Ids(self.clock), self.settings)

    @property
    def merging(self) -> FactMerging:
        return FactMerging(
            self.store,
            TierEmbedder(EMBEDDER),
            clock=self.clock,
            ids=Uuid7Ids(self.clock),
            settings=self.settings,
        )

    @property
    def removal(self) -> FactRemoval:
        return FactRemoval(
            self.store, TierEmbedder(EMBEDDER), clock=self.clock, ids=Uuid7Ids(self.clock), settings=self.settings
        )

    async def run(self, owner: Owner = ANN) -> RunReport:
        return await self.runner.run(self.job, owner=owner)

    async def state(self, statements: Sequence[str], owner: Owner = ANN) -> list[FactId]:
        """Facts of these texts, said on days of their own."""
        return [(await enter(self.store, owner, [said(about(t), day=d)]))[0] for d, t in enumerate(statements)]

    async def correct(self, text: str, right: str) -> None:
        """Gives a fact another text."""
        service = FactService(
            self.store,
            TierEmbedder(EMBEDDER),
            NoFacts(),
            clock=self.clock,
            ids=Uuid7Ids(self.clock),
            settings=self.settings,
        )
        fact = (await self.facts())[text]
        await service.update(UpdateFact(ANN, key(), fact.fact_id, {"text": right}, ""))

    async def groups(self, owner: Owner = ANN, state: MergeState | None = MergeState.WAITING) -> list[MergeGroup]:
        return await self.store.merge_groups(owner, state=state, after=None, limit=100)

    async def waiting(self) -> list[set[str]]:
        """The texts of each group that waits."""
        shown = await self.merging.list_groups(ListMergeGroups(ANN, MergeState.WAITING, 100, None))
        return [{fact.text for fact in one.facts} for one in shown.groups]

    async def decide(self, group: MergeGroup, decision: MergeDecision, **which: object) -> ShownGroup:
        command = ResolveMergeGroup(ANN, key(), group.group_id, decision)
        return await self.merging.resolve(replace(command, **which))  # type: ignore[arg-type]

    async def facts(self, owner: Owner = ANN) -> dict[str, Fact]:
        listed = await self.store.list_facts(owner, which=EVERY_STATUS, after=None, limit=100)
        return {fact.text: fact for fact in listed}

    async def by_id(self) -> dict[FactId, Fact]:
        listed = await self.store.list_facts(ANN, which=EVERY_STATUS, after=None, limit=100)
        return {fact.fact_id: fact for fact in listed}


class FactMergesContract:
    """Subclass it with fixtures `make_store`, `upkeep_store` and `maintenance`, of one fresh database."""

    async def test_spec_6_9_a_group_whose_run_was_taken_back_waits_again_once_a_fact_says_something_else(
        self, merges: Merges
    ) -> None:
        await merges.state(DIARY)
        report = await merges.run()
        assert await merges.waiting() == [set(DIARY)]
        assert await merges.runner.undo(merges.job, report.run_id) == 1
        for _ in range(2):
            assert (await merges.run()).applied == 0
        assert await merges.waiting() == []
        await merges.correct("Ann writes a diary", "Ann writes a long diary")
        assert (await merges.run()).applied == 1
        assert await merges.waiting() == [{"Ann keeps a diary", "Ann writes a long diary"}]

    async def test_spec_6_9_a_group_that_was_withdrawn_and_waits_again_by_an_undo_stays(self, merges: Merges) -> None:
        await merges.state(DIARY)
        await merges.run()
        await merges.correct("Ann writes a diary", "Ann sold her car in May")
        report = await merges.run()
        assert (report.applied, await merges.waiting()) == (1, [])
        await merges.runner.undo(merges.job, report.run_id)
        assert (await merges.run()).applied == 0
        assert len(await merges.waiting()) == 1

    @pytest.fixture
    def merges(self, make_store: MakeStore, upkeep_store: FactUpkeepStore, maintenance: MaintenanceStore) -> Merges:
        clock = FakeClock()
        clock.set(DAY_ONE + timedelta(days=10))
        runner = MaintenanceRunner(maintenance, clock=clock, ids=Uuid7Ids(clock))
        return Merges(
            make_store(EvidenceSettings()), upkeep_store, runner, clock, SemanticSettings(merging=MAKING_IT_EASY)
        )

    async def test_spec_3_6_what_the_guard_cannot_decide_waits_and_values_that_differ_do_not(
        self, merges: Merges
    ) -> None:
        await merges.state([*DIARY, "Ann has seven chairs", "Ann has nine chairs"])
        report = await merges.run()
        assert (report.applied, report.retired) == (1, 0)
        assert await merges.waiting() == [set(DIARY)]
        assert {fact.status for fact in (await merges.facts()).values()} == {FactStatus.TENTATIVE}

    async def test_spec_3_6_a_run_queues_nothing_twice(self, merges: Merges) -> None:
        await merges.state(DIARY)
        await merges.run()
        merges.clock.advance(seconds=86_400)
        assert (await merges.run()).applied == 0
        assert len(await merges.groups(state=None)) == 1

    async def test_spec_3_6_an_undone_run_withdraws_what_it_queued(self, merges: Merges) -> None:
        await merges.state(DIARY)
        report = await merges.run()
        assert await merges.runner.undo(merges.job, report.run_id) == 1
        assert await merges.groups(state=None) == []

    async def test_spec_3_6_united_facts_have_one_evidence_and_can_be_taken_apart(self, merges: Merges) -> None:
        first, second = await merges.state(DIARY)
        before = {fact_id: replace(fact, revision=0) for fact_id, fact in (await merges.by_id()).items()}
        await merges.run()
        [group] = await merges.groups()
        shown = await merges.decide(group, MergeDecision.UNITE)
        assert (shown.group.state, shown.group.survivor_id) == (MergeState.UNITED, first)
        assert shown.group.decide_time == merges.clock.now()
        survivor, loser = (await merges.by_id())[first], (await merges.by_id())[second]
        assert (survivor.evidence_count, survivor.status) == (2, FactStatus.STABLE)
        assert survivor.confidence == pytest.approx(0.81)
        assert (loser.status, loser.merged_into_fact_id) == (FactStatus.MERGED_INTO, first)
        assert await merges.waiting() == []
        apart = await merges.decide(group, MergeDecision.KEEP_APART)
        assert (apart.group.state, apart.group.survivor_id) == (MergeState.KEPT_APART, None)
        assert {i: replace(fact, revision=0) for i, fact in (await merges.by_id()).items()} == before
        again = await merges.decide(group, MergeDecision.UNITE, survivor_id=second)
        assert again.group.survivor_id == second
        assert again.facts[0].fact_id == second

    async def test_spec_3_6_what_is_kept_apart_is_not_queued_again_nor_merged(self, merges: Merges) -> None:
        await merges.state([*DIARY, "Ann has a dozen chairs", "Ann has twelve chairs"])
        plan = merges.job.plan
        [step] = [step async for step in merges.job.steps(after="", owner=ANN)]
        assert [change.action for change in plan(step.state, merges.clock.now())] == ["merge", "queue_merge"]
        facts = await merges.facts()
        chairs = [facts[text].fact_id for text in facts if text.endswith("chairs")]
        group = MergeGroup.waiting(chairs, at=merges.clock.now())
        await merges.store.write(ANN, lambda writer: writer.merge_groups.queue([group]))
        await merges.decide(group, MergeDecision.KEEP_APART)
        await merges.run()
        [diary] = await merges.groups()
        await merges.decide(diary, MergeDecision.KEEP_APART)
        merges.clock.advance(seconds=86_400)
        assert (await merges.run()).planned == 0
        assert await merges.waiting() == []
        assert {fact.status for fact in (await merges.facts()).values()} == {FactStatus.TENTATIVE}

    async def test_spec_3_6_a_decision_about_a_part_leaves_the_rest_to_the_next_run(self, merges: Merges) -> None:
        keeps, writes, has = await merges.state([*DIARY, "Ann has a diary"])
        await merges.run()
        [group] = await merges.groups()
        assert group.fact_ids == tuple(sorted((keeps, writes, has)))
        decided = await merges.decide(group, MergeDecision.UNITE, fact_ids=(writes, keeps))
        assert decided.group.group_id == group_id_of((keeps, writes))
        assert await merges.groups() == []
        await merges.run()
        [rest] = await merges.groups()
        assert set(rest.fact_ids) == {keeps, has}

    async def test_spec_3_6_a_decision_is_conditional_on_what_the_caller_has_read(self, merges: Merges) -> None:
        first, _ = await merges.state(DIARY)
        await merges.run()
        [read] = (await merges.merging.list_groups(ListMergeGroups(ANN, MergeState.WAITING, 10, None))).groups
        await enter(merges.store, ANN, [said(about(DIARY[0]), day=5)])
        with pytest.raises(Conflict):
            await merges.decide(read.group, MergeDecision.UNITE, etag=read.etag)
        [now] = (await merges.merging.list_groups(ListMergeGroups(ANN, MergeState.WAITING, 10, None))).groups
        assert now.etag != read.etag
        await merges.store.archive(ANN, [first])
        with pytest.raises(FailedPrecondition):
            await merges.decide(now.group, MergeDecision.UNITE)
        await merges.store.restore(ANN, [first])
        [now] = (await merges.merging.list_groups(ListMergeGroups(ANN, MergeState.WAITING, 10, None))).groups
        decided = await merges.decide(now.group, MergeDecision.UNITE, etag=now.etag)
        with pytest.raises(FailedPrecondition):
            await merges.decide(decided.group, MergeDecision.UNITE, survivor_id=decided.facts[1].fact_id)
        assert (await merges.decide(decided.group, MergeDecision.UNITE)).group == decided.group

    async def test_a_decision_names_a_group_and_facts_of_it(self, merges: Merges) -> None:
        first, second, other = await merges.state([*DIARY, "Ann rows"])
        await merges.run()
        [group] = await merges.groups()
        unknown = MergeGroup.waiting([first, other], at=merges.clock.now())
        with pytest.raises(NotFound):
            await merges.decide(unknown, MergeDecision.UNITE)
        for wrong in ({"fact_ids": (first, other)}, {"fact_ids": (first,)}, {"survivor_id": other}):
            with pytest.raises(InvalidArgument):
                await merges.decide(group, MergeDecision.UNITE, **wrong)
        await merges.decide(group, MergeDecision.KEEP_APART, fact_ids=(first, second))

    async def test_spec_6_3_a_repeated_decision_is_made_once(self, merges: Merges) -> None:
        await merges.state(DIARY)
        await merges.run()
        [group] = await merges.groups()
        command = ResolveMergeGroup(ANN, key(), group.group_id, MergeDecision.UNITE)
        first = await merges.merging.resolve(command)
        await merges.decide(group, MergeDecision.KEEP_APART)
        assert (await merges.merging.resolve(command)).group == first.group
        [stored] = await merges.groups(state=None)
        assert stored.state is MergeState.KEPT_APART

    async def test_spec_3_6_a_group_that_changed_is_proposed_as_it_is_now(self, merges: Merges) -> None:
        await merges.state(DIARY)
        await merges.run()
        await enter(merges.store, ANN, [said(about("Ann has a diary"), day=3)])
        report = await merges.run()
        assert report.applied == 2
        assert await merges.waiting() == [{*DIARY, "Ann has a diary"}]
        assert await merges.runner.undo(merges.job, report.run_id) == 2
        assert await merges.waiting() == [set(DIARY)]
        facts = await merges.facts()
        await merges.store.archive(ANN, [facts["Ann has a diary"].fact_id, facts[DIARY[0]].fact_id])
        await merges.run()
        assert await merges.waiting() == []

    async def test_a_group_waits_until_it_is_decided_however_many_facts_are_confirmed_after_it(
        self, merges: Merges
    ) -> None:
        await merges.state(DIARY)
        await merges.run()
        await enter(merges.store, ANN, [said(about("Ann rows"), day=8), said(about("Bo paints"), day=8)])
        merges.settings = SemanticSettings(merging=replace(MAKING_IT_EASY, newest_max=1))
        assert (await merges.run()).planned == 0
        assert await merges.waiting() == [set(DIARY)]

    async def test_the_queue_is_bounded_and_the_most_similar_come_first(self, merges: Merges) -> None:
        merges.settings = SemanticSettings(merging=replace(MAKING_IT_EASY, groups_max=1, group_facts_max=2))
        await merges.state([*DIARY, "Ann has a diary", "Ann has a blue diary"])
        await merges.run()
        assert await merges.waiting() == [{"Ann has a diary", "Ann has a blue diary"}]

    async def test_spec_6_6_groups_go_with_their_facts(self, merges: Merges) -> None:
        ids = await merges.state([*DIARY, "Ann has a diary"])
        await merges.run()
        [group] = await merges.groups()
        kept = await merges.decide(group, MergeDecision.KEEP_APART)
        pair = MergeGroup.waiting(ids[:2], at=merges.clock.now())
        await merges.store.write(ANN, lambda writer: writer.merge_groups.queue([pair]))
        await merges.removal.delete(DeleteFact(ANN, key(), ids[0], ""))
        [left] = await merges.groups(state=None)
        assert (left.group_id, set(left.fact_ids)) == (kept.group.group_id, set(ids[1:]))
        await merges.removal.delete(DeleteFact(ANN, key(), ids[1], ""))
        assert await merges.groups(state=None) == []

    async def test_spec_6_6_united_facts_go_with_the_last_of_their_sources(self, merges: Merges) -> None:
        sources = [InteractionId(new_id()) for _ in DIARY]
        for source, text in zip(sources, DIARY, strict=True):
            await enter(merges.store, ANN, [said(about(text), interaction_id=source)])
        await merges.run()
        [group] = await merges.groups()
        shown = await merges.decide(group, MergeDecision.UNITE)
        await merges.removal.remove_by_source(ANN, sources[1:])
        assert shown.group.survivor_id is not None
        assert (await merges.by_id())[shown.group.survivor_id].evidence_count == 1
        await merges.removal.remove_by_source(ANN, sources[:1])
        assert await merges.facts() == {}
        assert await merges.groups(state=None) == []

    async def test_spec_6_6_groups_go_with_their_user_and_are_nobody_elses(self, merges: Merges) -> None:
        for owner in (ANN, BO, ANN_ELSEWHERE):
            await merges.state(DIARY, owner)
            await merges.run(owner)
        [group] = await merges.groups()
        assert [len(await merges.groups(owner)) for owner in (BO, ANN_ELSEWHERE)] == [1, 1]
        for owner in (BO, ANN_ELSEWHERE):
            assert await merges.store.facts_of(owner, group.fact_ids) == {}
            assert await merges.store.write(owner, lambda writer: writer.merge_groups.get(group.group_id)) is None
            withdraw = lambda writer: writer.merge_groups.withdraw([group.group_id])  # noqa: E731
            assert await merges.store.write(owner, withdraw) == []
        await merges.removal.remove_owner(ANN)
        assert await merges.groups(state=None) == []
        assert [len(await merges.groups(owner)) for owner in (BO, ANN_ELSEWHERE)] == [1, 1]

    async def test_groups_are_listed_in_pages_newest_first_by_state(self, merges: Merges) -> None:
        ids = await merges.state([f"Ann has thing {number}" for number in range(6)])
        pairs = [MergeGroup.waiting(pair, at=merges.clock.now()) for pair in itertools.combinations(ids, 2)]
        later = [replace(pair, create_time=pair.create_time + timedelta(days=n // 4)) for n, pair in enumerate(pairs)]
        added = await merges.store.write(ANN, lambda writer: writer.merge_groups.queue(later))
        assert sorted(added) == sorted(pair.group_id for pair in pairs)
        assert await merges.store.write(ANN, lambda writer: writer.merge_groups.queue(later)) == []
        expected = sorted(later, key=lambda group: group.group_id)
        expected.sort(key=lambda group: group.create_time, reverse=True)
        found: list[MergeGroup] = []
        after: MergePosition | None = None
        while page := await merges.store.merge_groups(ANN, state=MergeState.WAITING, after=after, limit=4):
            found += page
            after = MergePosition(page[-1].create_time, page[-1].group_id)
        assert found == expected
        assert await merges.groups(state=MergeState.UNITED) == []
        ended = replace(pairs[0], fact_ids=(ids[0], FactId(new_id())), group_id=group_id_of([ids[0]]))
        assert await merges.store.write(ANN, lambda writer: writer.merge_groups.queue([ended])) == []

    async def test_spec_3_3_groups_with_facts_of_little_confidence_are_for_administrators(self, merges: Merges) -> None:
        for text in DIARY:
            await enter(merges.store, ANN, [said(about(text, confidence=0.25))])
        await merges.run()
        asked = ListMergeGroups(ANN, None, 10, None)
        assert (await merges.merging.list_groups(asked)).groups == ()
        assert len((await merges.merging.list_groups(replace(asked, include_low_confidence=True))).groups) == 1

    async def test_spec_3_3_groups_with_facts_that_have_faded_are_for_administrators(self, merges: Merges) -> None:
        for text in DIARY:
            await enter(merges.store, ANN, [said(replace(about(text, confidence=0.35), importance=0.1))])
        await merges.run()
        asked = ListMergeGroups(ANN, None, 10, None)
        assert len((await merges.merging.list_groups(asked)).groups) == 1
        await enter(merges.store, ANN, [said(likes("tea"), day=20)])
        merges.clock.set(DAY_ONE + timedelta(days=30))
        assert (await merges.merging.list_groups(asked)).groups == ()
        assert len((await merges.merging.list_groups(replace(asked, include_low_confidence=True))).groups) == 1
