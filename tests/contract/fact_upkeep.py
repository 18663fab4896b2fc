"""What every driver must do for the maintenance of facts, and the jobs above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from services.common.errors import StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.maintenance import Job, MaintenanceRunner, RunReport
from services.common.maintenance.store import MaintenanceStore
from services.common.owners import Owner
from services.common.scope import GLOBAL_SCOPE
from services.common.tier_embedder import TierEmbedder
from services.semantic.config import EvidenceSettings, FactMergingSettings, FactRetentionSettings, SemanticSettings
from services.semantic.facts.arguments import DeleteFact, UpdateFact
from services.semantic.facts.extraction.port import FactExtractor
from services.semantic.facts.model import Fact, FactDraft, FactId, FactStatus
from services.semantic.facts.removal import FactRemoval
from services.semantic.facts.service import FactService
from services.semantic.facts.store import FactFilter, FactSearch, FactStore
from services.semantic.facts.upkeep_store import FactUpkeepStore
from services.semantic.maintenance.merging import MergeFacts
from services.semantic.maintenance.retention import RetainFacts
from tests.contract.fact_samples import ANN, ANN_ELSEWHERE, BO, DAY_ONE, EMBEDDER, MODEL, enter, likes, said, vector
from tests.contract.fact_store import MakeStore
from tests.support.clock import FakeClock

HERE = "Ann is here"
EVERY_STATUS = FactFilter(statuses=frozenset(FactStatus))
MAKING_IT_EASY = FactMergingSettings(cosine_above=0.5, share_max=1.0)
"""The embedder of tests counts words: what says the same is less alike than with a real one."""


def about(text: str, *, importance: float = 0.5, confidence: float = 0.8, obj: str = "") -> FactDraft:
    """A fact of its own text."""
    return replace(
        likes(obj or text, confidence=confidence), text=text, subject="Ann", predicate="event", importance=importance
    )


class _NoFacts(FactExtractor):
    """Facts are entered here, not extracted."""

    async def extract(self, sources: Sequence[SourceInteraction]) -> list[list[FactDraft]]:
        raise AssertionError(sources)


class Upkeep:
    """Jobs on a store, with the claims and the log of another."""

    def __init__(
        self, store: FactStore, upkeep: FactUpkeepStore, maintenance: MaintenanceStore, clock: FakeClock
    ) -> None:
        self.store, self.upkeep, self.clock = store, upkeep, clock
        self.runner = MaintenanceRunner(maintenance, clock=clock, ids=Uuid7Ids(clock))

    def retain(self, **settings: Any) -> RetainFacts:
        chosen = FactRetentionSettings(**{"share_max": 1.0, **settings})
        return RetainFacts(self.upkeep, self.clock, chosen)

    def merge(self, settings: FactMergingSettings = MAKING_IT_EASY) -> MergeFacts:
        chosen = SemanticSettings(merging=settings)
        return MergeFacts(self.upkeep, self.store, TierEmbedder(EMBEDDER), Uuid7Ids(self.clock), chosen)

    async def run(self, job: Job[Any], **options: Any) -> RunReport:
        return await self.runner.run(job, **options)

    async def advance(self, days: float, owner: Owner = ANN) -> None:
        """Time goes by until a user says something that does not fade."""
        self.clock.set(DAY_ONE + timedelta(days=days))
        await enter(self.store, owner, [said(about(HERE, importance=0.95), day=days)])

    async def statuses(self, owner: Owner = ANN) -> dict[str, FactStatus]:
        return {fact.text: fact.status for fact in await self.facts(owner)}

    async def revisions(self, text: str, owner: Owner = ANN) -> dict[FactId, int]:
        return {fact.fact_id: fact.revision for fact in await self.facts(owner) if fact.text == text}

    async def facts(self, owner: Owner = ANN) -> list[Fact]:
        return await self.store.list_facts(owner, which=EVERY_STATUS, after=None, limit=100)

    async def found(self, query: str, owner: Owner = ANN) -> list[str]:
        search = FactSearch(vector(query), MODEL, GLOBAL_SCOPE, 100, 0.0, includes_threshold=True)
        return sorted(hit.fact.text for hit in await self.store.search(owner, search))


class FactUpkeepContract:
    """Subclass it with fixtures `make_store`, `upkeep_store` and `maintenance`, of one fresh database."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def upkeep(
        self, make_store: MakeStore, upkeep_store: FactUpkeepStore, maintenance: MaintenanceStore, clock: FakeClock
    ) -> Upkeep:
        return Upkeep(make_store(EvidenceSettings()), upkeep_store, maintenance, clock)

    async def test_spec_3_4_a_fact_that_nobody_confirms_is_deprecated_when_its_time_has_come(
        self, upkeep: Upkeep
    ) -> None:
        await enter(upkeep.store, ANN, [said(about("Ann watches a series"))])
        await enter(upkeep.store, ANN, [said(about("Ann is allergic to nuts", importance=0.95))])
        (series,) = [fact for fact in await upkeep.facts() if fact.fade_time is not None]
        # ln(0.8 / 0.3) / 0.01 days
        assert series.fade_time == pytest.approx(DAY_ONE + timedelta(days=98.083), abs=timedelta(hours=1))
        days = (series.fade_time - DAY_ONE) / timedelta(days=1)
        await upkeep.advance(days - 0.01)
        assert (await upkeep.run(upkeep.retain())).applied == 0
        await upkeep.advance(days + 0.01)
        report = await upkeep.run(upkeep.retain())
        assert (report.applied, report.retired) == (1, 1)
        assert await upkeep.statuses() == {
            "Ann watches a series": FactStatus.DEPRECATED,
            "Ann is allergic to nuts": FactStatus.TENTATIVE,
            HERE: FactStatus.STABLE,
        }
        assert await upkeep.found("Ann watches a series") == ["Ann is allergic to nuts", HERE]

    async def test_spec_3_4_time_counts_up_to_the_latest_activity_of_the_user(
        self, upkeep: Upkeep, upkeep_store: FactUpkeepStore, clock: FakeClock
    ) -> None:
        assert await upkeep_store.active_time(ANN) is None
        for owner in (ANN, BO, ANN_ELSEWHERE):
            await enter(upkeep.store, owner, [said(about("Ann watches a series"), day=1)])
        await upkeep.advance(200, BO)
        for store in (upkeep_store, upkeep.store):
            assert await store.active_time(ANN) == DAY_ONE + timedelta(days=1)
            assert await store.active_time(BO) == DAY_ONE + timedelta(days=200)
        clock.set(DAY_ONE + timedelta(days=4_000))
        assert (await upkeep.run(upkeep.retain())).applied == 1
        assert await upkeep.statuses() == {"Ann watches a series": FactStatus.TENTATIVE}
        assert (await upkeep.statuses(BO))["Ann watches a series"] is FactStatus.DEPRECATED
        await upkeep.advance(4_000)
        assert (await upkeep.run(upkeep.retain())).applied == 1
        assert (await upkeep.statuses())["Ann watches a series"] is FactStatus.DEPRECATED
        # What was said long ago and what is retired do not turn the time back.
        assert await upkeep_store.retire(ANN, await upkeep.revisions(HERE), FactStatus.ARCHIVED)
        await enter(upkeep.store, ANN, [said(about("Ann swims"), day=3)])
        assert await upkeep_store.active_time(ANN) == DAY_ONE + timedelta(days=4_000)

    async def test_spec_3_4_new_evidence_puts_the_fading_off_and_revives_a_deprecated_fact(
        self, upkeep: Upkeep
    ) -> None:
        await enter(upkeep.store, ANN, [said(about("Ann watches a series"))])
        await upkeep.advance(120)
        assert (await upkeep.run(upkeep.retain())).applied == 1
        await enter(upkeep.store, ANN, [said(about("Ann watches a series"), day=120)])
        assert (await upkeep.statuses())["Ann watches a series"] is FactStatus.STABLE
        assert (await upkeep.run(upkeep.retain())).applied == 0

    async def test_an_imported_fact_begins_to_fade_when_it_is_imported(self, upkeep: Upkeep, clock: FakeClock) -> None:
        recorded = DAY_ONE + timedelta(days=1_000)
        await enter(upkeep.store, ANN, [replace(said(about("Ann watches a series")), recorded_time=recorded)])
        clock.set(recorded)
        assert (await upkeep.run(upkeep.retain())).applied == 0

    async def test_spec_3_8_beyond_the_cap_the_least_important_and_oldest_are_archived(
        self, upkeep: Upkeep, clock: FakeClock
    ) -> None:
        drafts = [about("one", importance=0.2), about("two", importance=0.2), about("three", importance=0.6)]
        await enter(upkeep.store, ANN, [said(draft, day=day) for day, draft in enumerate(drafts)])
        await enter(upkeep.store, BO, [said(about("four", importance=0.1))])
        clock.set(DAY_ONE + timedelta(days=3))
        report = await upkeep.run(upkeep.retain(facts_max=2))
        assert report.retired == 1
        assert (await upkeep.statuses())["one"] is FactStatus.ARCHIVED
        assert await upkeep.statuses(BO) == {"four": FactStatus.TENTATIVE}
        assert await upkeep.runner.undo(upkeep.retain(), report.run_id) == 1
        assert (await upkeep.statuses())["one"] is FactStatus.TENTATIVE
        again = await upkeep.run(upkeep.retain(facts_max=2))
        assert again.retired == 1, "the cap holds whatever was taken back"

    async def test_a_dry_run_changes_nothing_and_a_run_takes_one_in_twenty_at_most(self, upkeep: Upkeep) -> None:
        await enter(upkeep.store, ANN, [said(about(f"thing {number}")) for number in range(40)])
        await upkeep.advance(200)
        job = upkeep.retain(share_max=0.05)
        dry = await upkeep.run(job, dry_run=True)
        assert (dry.retired, dry.over_cap) == (2, 38)
        assert set((await upkeep.statuses()).values()) == {FactStatus.TENTATIVE}
        assert (await upkeep.run(job)).retired == 2

    async def test_an_undone_deprecation_stays_undone(self, upkeep: Upkeep) -> None:
        await enter(upkeep.store, ANN, [said(about("Ann watches a series"), day=day) for day in (0, 1)])
        await upkeep.advance(300)
        report = await upkeep.run(upkeep.retain())
        assert await upkeep.runner.undo(upkeep.retain(), report.run_id) == 1
        assert (await upkeep.statuses())["Ann watches a series"] is FactStatus.STABLE
        assert (await upkeep.run(upkeep.retain())).applied == 0
        assert await upkeep.runner.undo(upkeep.retain(), report.run_id) == 0

    async def test_a_fact_that_was_confirmed_since_the_plan_stays(self, upkeep: Upkeep, clock: FakeClock) -> None:
        [fact_id] = await enter(upkeep.store, ANN, [said(about("Ann watches a series"))])
        await upkeep.advance(300)
        job = upkeep.retain()
        [step] = [step async for step in job.steps(after="", owner=None)]
        planned = job.plan(step.state, clock.now())
        assert [change.target for change in planned] == [fact_id]
        await enter(upkeep.store, ANN, [said(about("Ann watches a series"), day=299)])
        assert await job.apply(ANN, planned) == []
        assert (await upkeep.statuses())["Ann watches a series"] is FactStatus.STABLE

    async def test_spec_7_1_users_are_listed_across_tenants_and_their_facts_apart(
        self, upkeep: Upkeep, upkeep_store: FactUpkeepStore
    ) -> None:
        for owner in (BO, ANN_ELSEWHERE, ANN):
            await enter(upkeep.store, owner, [said(about("one")), said(about("two"))])
        [gone] = await enter(upkeep.store, BO, [said(about("one"))])
        await upkeep_store.retire(BO, {gone: 2}, FactStatus.ARCHIVED)
        pages = []
        last = None
        while page := await upkeep_store.active_counts(after=last, limit=2):
            pages += [(found.owner, found.count) for found in page]
            last = page[-1].owner
        assert pages == [(ANN, 2), (BO, 1), (ANN_ELSEWHERE, 2)]
        [only] = await upkeep_store.active_counts(after=None, limit=2, only=BO)
        assert (only.owner, only.count) == (BO, 1)
        assert await upkeep_store.active_counts(after=BO, limit=2, only=BO) == []
        [fact, *_] = await upkeep.facts()
        assert await upkeep_store.retire(ANN_ELSEWHERE, {fact.fact_id: fact.revision}, FactStatus.ARCHIVED) == []
        assert await upkeep_store.retire(BO, {fact.fact_id: fact.revision}, FactStatus.ARCHIVED) == []

    async def test_spec_3_6_facts_that_say_the_same_become_one(self, upkeep: Upkeep) -> None:
        await enter(
            upkeep.store,
            ANN,
            [
                said(about("Ann has a dozen chairs", obj="a dozen chairs")),
                said(about("Ann has twelve chairs", obj="twelve chairs", confidence=0.7), day=1),
                said(about("Ann has twelve tables", obj="twelve tables"), day=2),
                said(about("Ann has thirteen chairs", obj="thirteen chairs"), day=3),
            ],
        )
        report = await upkeep.run(upkeep.merge())
        assert report.retired == 1
        facts = await upkeep.facts()
        [loser] = [fact for fact in facts if fact.status is FactStatus.MERGED_INTO]
        [winner] = [fact for fact in facts if fact.fact_id == loser.merged_into_fact_id]
        assert (winner.evidence_count, winner.status) == (2, FactStatus.STABLE)
        assert winner.confidence == pytest.approx(0.81)
        assert "Ann has twelve chairs" in await upkeep.found("chairs")
        assert len(await upkeep.found("chairs")) == 3
        others = {fact.text: fact.status for fact in facts if fact not in (winner, loser)}
        assert others == dict.fromkeys(("Ann has twelve tables", "Ann has thirteen chairs"), FactStatus.TENTATIVE)
        assert (await upkeep.run(upkeep.merge())).retired == 0

    async def test_spec_3_6_what_repeats_a_merged_fact_confirms_the_one_it_was_merged_into(
        self, upkeep: Upkeep
    ) -> None:
        chairs = [about("Ann has a dozen chairs", obj="a dozen"), about("Ann has twelve chairs", obj="twelve")]
        await enter(upkeep.store, ANN, [said(draft, day=day) for day, draft in enumerate(chairs)])
        await upkeep.run(upkeep.merge())
        (winner,) = [fact for fact in await upkeep.facts() if fact.status is not FactStatus.MERGED_INTO]
        for day, draft in enumerate(chairs, 5):
            [confirmed] = await enter(upkeep.store, ANN, [said(draft, day=day)])
            assert confirmed == winner.fact_id
        assert (await upkeep.store.get(ANN, winner.fact_id)).evidence_count == 4

    async def test_spec_3_12_a_fact_that_others_were_merged_into_can_be_corrected(
        self, upkeep: Upkeep, clock: FakeClock
    ) -> None:
        chairs = [about("Ann has a dozen chairs", obj="a dozen"), about("Ann has twelve chairs", obj="twelve")]
        await enter(upkeep.store, ANN, [said(draft, day=day) for day, draft in enumerate(chairs)])
        await upkeep.run(upkeep.merge())
        (winner,) = [fact for fact in await upkeep.facts() if fact.status is not FactStatus.MERGED_INTO]
        assert winner.text == "Ann has twelve chairs", "the words of the one that was merged into it"
        embedder, settings = TierEmbedder(EMBEDDER), SemanticSettings()
        service = FactService(upkeep.store, embedder, _NoFacts(), clock=clock, ids=Uuid7Ids(clock), settings=settings)
        changes: list[dict[str, Any]] = [{"importance": 0.9}, {"text": "Ann has twelve stools"}]
        for number, values in enumerate(changes):
            key = IdempotencyKey("p", f"r{number}", "")
            await service.update(UpdateFact(ANN, key, winner.fact_id, values, ""))
        corrected = await upkeep.store.get(ANN, winner.fact_id)
        assert (corrected.text, corrected.importance) == ("Ann has twelve stools", 0.9)
        assert await upkeep.found("chairs") == ["Ann has twelve stools"]

    async def test_spec_3_12_a_correction_holds_though_the_fact_was_said_no_earlier(
        self, upkeep: Upkeep, clock: FakeClock
    ) -> None:
        embedder, settings = TierEmbedder(EMBEDDER), SemanticSettings()
        service = FactService(upkeep.store, embedder, _NoFacts(), clock=clock, ids=Uuid7Ids(clock), settings=settings)
        clock.set(DAY_ONE)
        for number in (0, 5):
            last = f"ffffffff-0000-7000-8000-{number:012d}"  # it sorts behind every other id
            [fact_id] = await enter(upkeep.store, ANN, [said(about(f"A{number}"), day=number, interaction_id=last)])
            key = IdempotencyKey("p", f"r{number}", "")
            updated = await service.update(UpdateFact(ANN, key, fact_id, {"text": f"B{number}"}, ""))
            assert updated.text == f"B{number}"
            assert (await upkeep.store.get(ANN, fact_id)).text == f"B{number}"

    async def test_spec_3_13_a_fact_that_goes_takes_its_evidence_from_what_it_was_merged_into(
        self, upkeep: Upkeep, clock: FakeClock
    ) -> None:
        chairs = [about("Ann has a dozen chairs", obj="a dozen"), about("Ann has twelve chairs", obj="twelve")]
        fact_ids = await enter(upkeep.store, ANN, [said(draft, day=day) for day, draft in enumerate(chairs)])
        [before, _] = [await upkeep.store.get(ANN, fact_id) for fact_id in fact_ids]
        await upkeep.run(upkeep.merge())
        (winner,) = [fact for fact in await upkeep.facts() if fact.status is not FactStatus.MERGED_INTO]
        assert (winner.fact_id, winner.text) == (fact_ids[0], "Ann has twelve chairs")
        removal = FactRemoval(
            upkeep.store, TierEmbedder(EMBEDDER), clock=clock, ids=Uuid7Ids(clock), settings=SemanticSettings()
        )
        await removal.delete(DeleteFact(ANN, IdempotencyKey("p", "r", ""), fact_ids[1], ""))
        [left] = await upkeep.facts()
        assert replace(left, revision=0) == replace(before, revision=0)
        assert await upkeep.found("chairs") == ["Ann has a dozen chairs"]

    async def test_spec_3_6_a_merge_is_undone_from_the_log(self, upkeep: Upkeep) -> None:
        chairs = [about("Ann has a dozen chairs", obj="a dozen"), about("Ann has twelve chairs", obj="twelve")]
        await enter(upkeep.store, ANN, [said(draft, day=day) for day, draft in enumerate(chairs)])
        before = {fact.fact_id: replace(fact, revision=0) for fact in await upkeep.facts()}
        report = await upkeep.run(upkeep.merge())
        assert await upkeep.runner.undo(upkeep.merge(), report.run_id) == 1
        assert {fact.fact_id: replace(fact, revision=0) for fact in await upkeep.facts()} == before
        assert len(await upkeep.found("chairs")) == 2
        assert await upkeep.runner.undo(upkeep.merge(), report.run_id) == 0

    async def test_a_merged_fact_stands_again_when_the_sources_of_its_winner_are_removed(
        self, upkeep: Upkeep, clock: FakeClock
    ) -> None:
        first, second = (
            said(about("Ann has a dozen chairs", obj="a dozen")),
            said(about("Ann has twelve chairs", obj="twelve", confidence=0.7), day=1),
        )
        await enter(upkeep.store, ANN, [first, second])
        report = await upkeep.run(upkeep.merge())
        removal = FactRemoval(
            upkeep.store, TierEmbedder(EMBEDDER), clock=clock, ids=Uuid7Ids(clock), settings=SemanticSettings()
        )
        await removal.remove_by_source(ANN, first.interaction_ids)
        assert await upkeep.found("chairs") == ["Ann has twelve chairs"]
        [left] = await upkeep.facts()
        assert (left.status, left.derived_from) == (FactStatus.TENTATIVE, second.interaction_ids)
        assert await upkeep.runner.undo(upkeep.merge(), report.run_id) == 0
        await removal.remove_by_source(ANN, second.interaction_ids)
        assert await upkeep.facts() == []

    @pytest.mark.parametrize("dies_at", range(5))
    async def test_spec_6_9_a_process_that_dies_at_any_step_leaves_nothing_half_done(
        self, upkeep: Upkeep, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, dies_at: int
    ) -> None:
        chairs = ("a dozen", "twelve")
        drafts = [about(f"Ann has {count} chairs", obj=count, importance=0.9) for count in chairs]
        for owner in (ANN, BO):
            await enter(upkeep.store, owner, [said(draft) for draft in (*drafts, about("Ann watches a series"))])
        for owner in (ANN, BO):
            await upkeep.advance(300, owner)
        for make in (upkeep.merge, upkeep.retain):
            job = make()
            with monkeypatch.context() as patch:
                _die_at(patch, upkeep, job, dies_at)
                with pytest.raises(StoreUnavailable):
                    await upkeep.run(job)
            clock.advance(seconds=61)  # another replica may take over
            await upkeep.run(make())
        for owner in (ANN, BO):
            assert sorted(fact.status for fact in await upkeep.facts(owner)) == [
                FactStatus.TENTATIVE,
                FactStatus.STABLE,
                FactStatus.DEPRECATED,
                FactStatus.MERGED_INTO,
            ]


def _die_at(patch: pytest.MonkeyPatch, upkeep: Upkeep, job: Job[Any], step: int) -> None:
    """Fails before or after a write of a run, as a process that is killed there."""
    store = upkeep.runner._store
    target, name, is_after = [
        (store, "log_planned", False),
        (store, "log_planned", True),
        (job, "apply", True),
        (store, "log_applied", True),
        (store, "renew", True),
    ][step]
    original = getattr(target, name)

    async def dying(*arguments: Any, **options: Any) -> Any:
        if is_after:
            await original(*arguments, **options)
        raise StoreUnavailable("killed")

    patch.setattr(target, name, dying)
