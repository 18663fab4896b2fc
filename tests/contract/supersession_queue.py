"""What every queue of supersessions must do, and the job above it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from services.common.ids import Uuid7Ids
from services.common.language_model.openai_compatible import OpenAILanguageModel
from services.common.language_model.port import LanguageModel, LanguageModelSettings, NoLanguageModel
from services.common.maintenance import MaintenanceRunner, RunReport
from services.common.maintenance.store import MaintenanceStore
from services.common.owners import Owner
from services.semantic.config import EvidenceSettings, SupersessionQueueSettings, SupersessionSettings
from services.semantic.facts.model import ExtractionResult, FactDraft, FactId, Statement, StatementId
from services.semantic.facts.store import FactStore, FactWriter
from services.semantic.maintenance.queue import ResolveSupersessions
from services.semantic.supersession.adjudication import Adjudicator
from services.semantic.supersession.model import (
    Decider,
    Decision,
    QueuedPair,
    QueuePolicy,
    State,
    Strength,
    Supersession,
    SupersessionPosition,
    Verdict,
)
from services.semantic.supersession.queue_store import SupersessionQueueStore
from services.semantic.supersession.store import SupersessionStore
from tests.contract.fact_samples import enter, lives_in
from tests.contract.fact_store import MakeStore
from tests.contract.supersession_samples import ADA, BEN, NOON, OTHER, assertion, at_most, decide, once, turn
from tests.support.clock import FakeClock
from tests.support.language_model import FakeEndpoint, fake_endpoint
from tests.unit.semantic.test_adjudication import prefers, rulings

LATER = NOON + timedelta(days=60)
"""Long after all pairs of these tests were recorded."""
LATER_STANDS = Verdict(Decision.LATER_STANDS, Decider.POLICY, "because")
EARLIER_STANDS = replace(LATER_STANDS, decision=Decision.EARLIER_STANDS)


@dataclass
class Queue:
    """A queue with the stores around it, of one database."""

    supersessions: SupersessionStore
    pairs: SupersessionQueueStore
    facts: FactStore
    runner: MaintenanceRunner
    clock: FakeClock

    async def wait(self, number: int, *, owner: Owner = ADA) -> str:
        """Has two statements wait for a decision; the id of the pair."""
        said = [
            assertion(number, f"home{number} Ghent", number),
            assertion(number + 1, f"home{number} perhaps", number),
        ]
        [found] = await self.supersessions.add(owner, said, decide, candidates_max=at_most(10))
        return found.supersession_id

    async def believe(self, number: int, draft: FactDraft, *, owner: Owner = ADA, sentence: int = 0) -> FactId:
        """Reads a fact in a sentence of a turn."""
        interaction_id = turn(number)
        statement = Statement(
            StatementId(interaction_id), NOON + timedelta(days=number), draft, (interaction_id,), sentences=(sentence,)
        )
        [fact_id] = await enter(self.facts, owner, [statement])

        async def mark(writer: FactWriter) -> None:
            await writer.add_extracted([ExtractionResult(interaction_id, (fact_id,))])

        await self.facts.write(owner, mark)
        return fact_id

    async def queued(self, owner: Owner = ADA, *, limit: int = 10) -> Sequence[QueuedPair]:
        return await self.pairs.queued(owner, recorded_before=LATER, after=None, limit=limit)

    async def judged(self, verdict: Verdict | None, *ids: str, owner: Owner = ADA) -> Sequence[Supersession]:
        return await self.pairs.decide_queued(owner, ids, lambda _: verdict)

    async def stored(self, supersession_id: str, owner: Owner = ADA) -> Supersession:
        page = await self.supersessions.list_page(owner, state=None, after=None, limit=100)
        return next(one for one in page if one.supersession_id == supersession_id)

    def job(
        self,
        policy: QueuePolicy = QueuePolicy.CONFIDENCE,
        model: LanguageModel | None = None,
        **queue: Any,
    ) -> ResolveSupersessions:
        chosen = SupersessionQueueSettings(**{"page_size": 1, "owners_page": 1, "model_pairs_max": 2, **queue})
        adjudicator = None if model is None else Adjudicator(model, reason_chars_max=chosen.reason_chars_max)
        settings = SupersessionSettings(policy=policy, queue=chosen)
        return ResolveSupersessions(self.pairs, self.clock, settings, adjudicator)

    async def run(self, job: ResolveSupersessions, **options: Any) -> RunReport:
        return await self.runner.run(job, **options)


class SupersessionQueueContract:
    """Subclass it with fixtures `supersessions`, `pairs`, `make_store` and `maintenance`, of one fresh database."""

    @pytest.fixture
    def queue(
        self,
        supersessions: SupersessionStore,
        pairs: SupersessionQueueStore,
        make_store: MakeStore,
        maintenance: MaintenanceStore,
    ) -> Queue:
        clock = FakeClock()
        clock.set(LATER)
        runner = MaintenanceRunner(maintenance, clock=clock, ids=Uuid7Ids(clock))
        return Queue(supersessions, pairs, make_store(EvidenceSettings()), runner, clock)

    async def test_what_waits_is_queued_with_what_is_known_of_its_facts(self, queue: Queue) -> None:
        pair = await queue.wait(1)
        assert [(one.earlier, one.later) for one in await queue.queued()] == [(None, None)]
        await queue.believe(1, lives_in("Ghent", confidence=0.7))
        await queue.believe(2, replace(lives_in("Bruges", confidence=0.9), importance=0.4))
        [found] = await queue.queued()
        assert (found.supersession.supersession_id, found.supersession.state) == (pair, State.PENDING)
        assert (found.earlier, found.later) == (Strength(0.7, 0.7), Strength(0.9, 0.4))

    async def test_facts_of_another_sentence_or_another_user_say_nothing(self, queue: Queue) -> None:
        await queue.wait(1)
        await queue.believe(1, lives_in("Ghent"), sentence=1)
        await queue.believe(2, lives_in("Bruges"), owner=BEN)
        assert [(one.earlier, one.later) for one in await queue.queued()] == [(None, None)]

    async def test_pages_are_oldest_first_without_gaps(self, queue: Queue) -> None:
        expected = [await queue.wait(number) for number in (1, 3, 5, 7)]
        seen: list[str] = []
        after: SupersessionPosition | None = None
        while page := await queue.pairs.queued(ADA, recorded_before=LATER, after=after, limit=3):
            newest = page[-1].supersession
            after = SupersessionPosition(newest.create_time, newest.supersession_id)
            seen += [pair.supersession.supersession_id for pair in page]
        assert seen == expected
        recorded: datetime = (await queue.stored(expected[2])).create_time
        assert len(await queue.pairs.queued(ADA, recorded_before=recorded, after=None, limit=10)) == 2

    async def test_users_with_queued_pairs_are_listed_over_all_tenants(self, queue: Queue) -> None:
        for number, owner in enumerate((ADA, BEN, OTHER)):
            await queue.wait(1 + 2 * number, owner=owner)
        third = Owner(ADA.tenant_id, type(ADA.user_id)("zoe"))
        await queue.supersessions.add(
            third, [assertion(1, "home a", 1), assertion(2, "home b", 1)], decide, candidates_max=at_most(9)
        )
        seen: list[Owner] = []
        after: Owner | None = None
        while page := await queue.pairs.queued_owners(recorded_before=LATER, after=after, limit=2):
            seen += page
            after = page[-1]
        assert seen == [ADA, BEN, OTHER]
        assert await queue.pairs.queued_owners(recorded_before=NOON, after=None, limit=10) == []

    async def test_a_decision_is_marked_with_who_took_it_and_why(self, queue: Queue) -> None:
        pair = await queue.wait(1)
        [decided] = await queue.judged(EARLIER_STANDS, pair)
        assert (decided.state, decided.is_turned, decided.statement) == (State.APPLIED, True, "home1 perhaps")
        assert (decided.decided_by, decided.decision_reason) == (Decider.POLICY, "because")
        assert await queue.stored(pair) == decided
        marks = await queue.supersessions.marks(ADA, cached_revision=None, limit=10)
        assert marks.superseded == [decided]
        assert await queue.queued() == []

    async def test_spec_3_5_a_decision_of_the_user_stands_that_came_before_the_one_of_a_job(self, queue: Queue) -> None:
        pairs = [await queue.wait(1), await queue.wait(3)]
        assert len(await queue.queued()) == 2
        by_user = await queue.supersessions.resolve(ADA, pairs[0], Decision.BOTH_STAND, once)
        assert by_user.decided_by is Decider.USER
        decided = await queue.judged(LATER_STANDS, *pairs)
        assert [one.supersession_id for one in decided] == [pairs[1]]
        assert await queue.stored(pairs[0]) == by_user
        assert await queue.judged(LATER_STANDS, *pairs, "no/such") == []

    async def test_the_user_decides_last(self, queue: Queue) -> None:
        pair = await queue.wait(1)
        await queue.judged(LATER_STANDS, pair)
        await queue.supersessions.resolve(ADA, pair, Decision.EARLIER_STANDS, once)
        found = await queue.stored(pair)
        assert (found.statement, found.decided_by, found.decision_reason) == ("home1 perhaps", Decider.USER, "")

    async def test_nothing_is_decided_without_a_verdict_or_of_other_users(self, queue: Queue) -> None:
        pair = await queue.wait(1)
        assert await queue.judged(None, pair) == []
        assert await queue.judged(LATER_STANDS, pair, owner=BEN) == []
        assert len(await queue.queued()) == 1

    async def test_what_is_left_to_the_user_is_pending_and_queued_no_more(self, queue: Queue) -> None:
        pair = await queue.wait(1)
        [left] = await queue.judged(Verdict(None, Decider.LANGUAGE_MODEL, "unclear"), pair)
        assert (left.state, left.decided_by, left.decision_reason) == (State.PENDING, Decider.LANGUAGE_MODEL, "unclear")
        assert await queue.queued() == []
        assert await queue.supersessions.list_page(ADA, state=State.PENDING, after=None, limit=10) == [left]

    @pytest.mark.parametrize("verdict", [LATER_STANDS, EARLIER_STANDS])
    async def test_a_decision_is_taken_back_and_waits_for_the_user(self, queue: Queue, verdict: Verdict) -> None:
        pair = await queue.wait(1)
        before = await queue.stored(pair)
        await queue.judged(verdict, pair)
        assert (await queue.pairs.reopen(ADA, [pair]), await queue.pairs.reopen(ADA, [pair])) == (1, 0)
        assert await queue.stored(pair) == replace(before, decided_by=Decider.USER)
        assert (await queue.supersessions.marks(ADA, cached_revision=None, limit=10)).superseded == []
        assert await queue.queued() == []

    async def test_a_decision_of_the_user_is_not_taken_back(self, queue: Queue) -> None:
        pair = await queue.wait(1)
        await queue.judged(LATER_STANDS, pair)
        by_user = await queue.supersessions.resolve(ADA, pair, Decision.LATER_STANDS, once)
        assert await queue.pairs.reopen(ADA, [pair]) == 0
        assert await queue.stored(pair) == by_user

    async def clear(self, queue: Queue, number: int, *, owner: Owner = ADA) -> str:
        """A pair of which the earlier statement is believed more, and the later one matters more."""
        pair = await queue.wait(number, owner=owner)
        await queue.believe(number, replace(lives_in(f"a{number}", confidence=0.9), importance=0.3), owner=owner)
        later = replace(lives_in(f"b{number}", confidence=0.6), importance=0.8)
        await queue.believe(number + 1, later, owner=owner)
        return pair

    @pytest.mark.parametrize(
        ("policy", "loser", "reason"),
        [
            (QueuePolicy.CONFIDENCE, "home1 perhaps", "confidence 0.9000 against 0.6000"),
            (QueuePolicy.IMPORTANCE, "home1 Ghent", "importance 0.8000 against 0.3000"),
        ],
    )
    async def test_spec_3_5_the_policy_decides_about_queued_pairs(
        self, queue: Queue, policy: QueuePolicy, loser: str, reason: str
    ) -> None:
        pair = await self.clear(queue, 1)
        tied = await queue.wait(3)
        report = await queue.run(queue.job(policy))
        assert (report.applied, report.retired) == (1, 1)
        found = await queue.stored(pair)
        assert (found.statement, found.state, found.decided_by) == (loser, State.APPLIED, Decider.POLICY)
        assert found.decision_reason == reason
        assert (await queue.stored(tied)).state is State.PENDING, "nothing is known of its facts"

    async def test_spec_3_5_equal_values_stay_queued(self, queue: Queue) -> None:
        await queue.wait(1)
        await queue.believe(1, lives_in("Ghent"))
        await queue.believe(2, lives_in("Bruges"))
        for policy in set(QueuePolicy) - {QueuePolicy.REDUCE}:
            assert (await queue.run(queue.job(policy))).planned == 0
        assert len(await queue.queued()) == 1

    @pytest.mark.parametrize("policy", [QueuePolicy.RECENCY, QueuePolicy.USER])
    async def test_spec_3_5_by_recency_pairs_of_one_time_wait_for_the_user(
        self, queue: Queue, policy: QueuePolicy
    ) -> None:
        await self.clear(queue, 1)
        assert (await queue.run(queue.job(policy))).planned == 0

    async def test_spec_3_5_the_policy_reduce_marks_neither_and_halves_both(self, queue: Queue) -> None:
        pair = await self.clear(queue, 1)
        unknown = await queue.wait(3)
        job = queue.job(QueuePolicy.REDUCE)
        report = await queue.run(job)
        assert (report.applied, report.retired) == (1, 1)
        found = await queue.stored(pair)
        assert (found.state, found.decided_by) == (State.REDUCED, Decider.POLICY)
        assert "half as much" in found.decision_reason
        assert (await queue.stored(unknown)).state is State.PENDING, "nothing is known of its facts"
        assert await queue.runner.undo(job, report.run_id) == 1
        assert (await queue.stored(pair)).state is State.PENDING

    async def test_spec_3_5_a_young_pair_waits_for_the_user_first(self, queue: Queue) -> None:
        pair = await self.clear(queue, 1)
        recorded = (await queue.stored(pair)).create_time
        queue.clock.set(recorded + timedelta(hours=1))
        assert (await queue.run(queue.job(age_min_seconds=3_600.0))).planned == 0
        queue.clock.set(recorded + timedelta(hours=1, seconds=1))
        assert (await queue.run(queue.job(age_min_seconds=3_600.0))).applied == 1

    async def test_spec_3_5_a_run_has_a_cap_and_a_dry_run(self, queue: Queue) -> None:
        pairs = [await self.clear(queue, number) for number in (1, 3, 5)]
        pairs_of_ben = await self.clear(queue, 7, owner=BEN)
        looked = await queue.run(queue.job(decided_max=2), dry_run=True)
        assert (looked.planned, looked.retired, looked.over_cap, len(await queue.queued())) == (4, 3, 1, 3)
        report = await queue.run(queue.job(decided_max=2))
        assert (report.applied, report.over_cap) == (3, 1)
        states = [(await queue.stored(pair)).state for pair in pairs]
        assert states == [State.APPLIED, State.APPLIED, State.PENDING]
        assert (await queue.stored(pairs_of_ben, BEN)).state is State.APPLIED
        assert (await queue.run(queue.job(), owner=BEN)).planned == 0
        assert (await queue.run(queue.job(), owner=ADA)).applied == 1

    async def test_spec_3_5_a_run_is_taken_back(self, queue: Queue) -> None:
        pairs = [await self.clear(queue, number) for number in (1, 3)]
        job = queue.job()
        report = await queue.run(job)
        by_user = await queue.supersessions.resolve(ADA, pairs[0], Decision.LATER_STANDS, once)
        assert await queue.runner.undo(job, report.run_id) == 1
        assert await queue.stored(pairs[0]) == by_user
        assert (await queue.stored(pairs[1])).state is State.PENDING
        assert (await queue.run(job)).planned == 0, "what was taken back waits for the user"

    async def test_spec_3_5_a_pair_is_left_alone_whose_facts_changed_since_the_plan(self, queue: Queue) -> None:
        pair = await self.clear(queue, 1)
        job = queue.job()
        [changes] = [job.plan(step.state, LATER) async for step in job.steps(after="", owner=None)]
        assert [(change.action, change.target, change.retires) for change in changes] == [("decide", pair, 1)]
        assert changes[0].facts == {"decision": int(Decision.EARLIER_STANDS), "by": int(Decider.POLICY)}
        await enter(queue.facts, ADA, [_again(lives_in("b1", confidence=0.95))])
        assert await job.apply(ADA, changes) == []
        assert (await queue.stored(pair)).state is State.PENDING

    @pytest.fixture
    async def endpoint(self) -> AsyncIterator[FakeEndpoint]:
        async with fake_endpoint() as opened:
            yield opened

    @pytest.fixture
    async def model(self, endpoint: FakeEndpoint) -> AsyncIterator[LanguageModel]:
        opened = OpenAILanguageModel(endpoint.url, "m", settings=LanguageModelSettings())
        yield opened
        await opened.aclose()

    async def test_spec_3_5_a_language_model_decides_in_batches_and_its_decisions_say_so(
        self, queue: Queue, endpoint: FakeEndpoint, model: LanguageModel
    ) -> None:
        pairs = [await queue.wait(number) for number in (1, 3, 5)]
        endpoint.respond = rulings(prefers("home1 Ghent", "home3 perhaps"))
        job = queue.job(QueuePolicy.LANGUAGE_MODEL, model)
        looked = await queue.run(job, dry_run=True)
        assert (looked.planned, looked.retired) == (3, 2)
        report = await queue.run(job)
        assert (report.steps, report.applied, report.retired) == (2, 3, 2)
        found = [await queue.stored(pair) for pair in pairs]
        assert [one.state for one in found] == [State.APPLIED, State.APPLIED, State.PENDING]
        assert [one.is_turned for one in found] == [True, False, False]
        assert {(one.decided_by, one.decision_reason) for one in found} == {(Decider.LANGUAGE_MODEL, "It is newer.")}
        asked = len(endpoint.requests)
        assert (await queue.run(job)).planned == 0, "what it leaves to the user is not asked again"
        assert len(endpoint.requests) == asked
        assert await queue.runner.undo(job, report.run_id) == 3
        assert {(await queue.stored(pair)).state for pair in pairs} == {State.PENDING}

    async def test_spec_3_5_a_model_without_a_usable_response_leaves_all_in_the_queue(
        self, queue: Queue, endpoint: FakeEndpoint, model: LanguageModel
    ) -> None:
        await queue.wait(1)
        endpoint.content = "I cannot help with that."
        job = queue.job(QueuePolicy.LANGUAGE_MODEL, model)
        assert (await queue.run(job)).planned == 0
        assert len(await queue.queued()) == 1
        assert (await queue.run(queue.job(QueuePolicy.LANGUAGE_MODEL, NoLanguageModel()))).steps == 0
        assert (await queue.run(queue.job(QueuePolicy.LANGUAGE_MODEL))).steps == 0

    async def test_spec_3_5_what_the_user_decides_while_the_model_thinks_stands(
        self, queue: Queue, endpoint: FakeEndpoint, model: LanguageModel
    ) -> None:
        pair = await queue.wait(1)
        endpoint.respond = rulings(prefers("Ghent"))
        job = queue.job(QueuePolicy.LANGUAGE_MODEL, model)
        async with aclosing(job.steps(after="", owner=ADA)) as steps:  # type: ignore[type-var]
            step = await anext(steps)
            changes = job.plan(step.state, LATER)
            assert len(changes) == 1
            by_user = await queue.supersessions.resolve(ADA, pair, Decision.LATER_STANDS, once)
            assert await job.apply(ADA, changes) == []
        assert await queue.stored(pair) == by_user


def _again(draft: FactDraft) -> Statement:
    return Statement(StatementId(turn(90)), NOON + timedelta(days=90), draft, (turn(90),))
