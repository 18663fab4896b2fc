"""What every store of procedures must do, alone and under the use cases."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.common.errors import AlreadyExists, Conflict, InvalidArgument, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.common.ids import Uuid7Ids
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import Scope, ScopeLevel
from services.common.turns import MessageRole, Turn
from services.semantic.config import ProcedureSettings
from services.semantic.procedures.arguments import CreateProcedure, DeleteProcedure, UpdateProcedure
from services.semantic.procedures.model import (
    JudgedRecall,
    Observed,
    Procedure,
    ProcedureDraft,
    ProcedureKind,
    ProcedureOrigin,
    ProcedurePosition,
)
from services.semantic.procedures.service import ProcedureService
from services.semantic.procedures.store import ProcedureStore
from tests.support.clock import FakeClock

ADA = Owner(TenantId("acme"), UserId("ada"))
BEN = Owner(TenantId("acme"), UserId("ben"))
OTHER = Owner(TenantId("other"), UserId("ada"))
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
ML = ProcedureDraft(ProcedureKind.QUERY_REWRITING, "ML", "machine learning")


def key(request_id: str, digest: str = "d") -> IdempotencyKey:
    return IdempotencyKey("agent", request_id, digest)


def turn(number: int) -> InteractionId:
    return InteractionId(f"00000000-0000-4000-8000-{number:012d}")


def said(number: int, text: str, role: MessageRole = MessageRole.USER) -> SourceInteraction:
    return SourceInteraction(turn(number), ADA.user_id, "c", number, Turn(role=role, content=text, time=NOON))


class ProcedureStoreContract:
    """Subclasses give a fresh `store`."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock(NOON)

    @pytest.fixture
    def service(self, store: ProcedureStore, clock: FakeClock) -> ProcedureService:
        return ProcedureService(store, clock=clock, ids=Uuid7Ids(clock), settings=ProcedureSettings())

    @pytest.fixture
    def judge(self, service: ProcedureService, clock: FakeClock) -> Callable[..., Awaitable[None]]:
        ids = Uuid7Ids(clock)

        async def judged(recall: int, query: str, feedback: int, *applied: Procedure, scope_key: str = "1") -> None:
            clock.advance(seconds=1)
            await service.judge(
                ADA,
                JudgedRecall(
                    recall_id=str(uuid.UUID(int=recall)),
                    judgement_id=ids.new_id(),
                    feedback=feedback,
                    query=query,
                    scope_key=scope_key,
                    time=NOON + timedelta(seconds=recall),
                    procedure_ids=tuple(one.procedure_id for one in applied),
                ),
            )

        return judged

    async def all_of(self, service: ProcedureService, owner: Owner = ADA) -> list[Procedure]:
        page, position = await service.list_page(owner, kind=None, after=None, page_size=50)
        assert position is None
        return list(page)

    async def test_spec_3_9_a_stated_procedure_is_created_once_read_changed_and_deleted(
        self, service: ProcedureService
    ) -> None:
        create = CreateProcedure(ADA, key("create"), ML, 0.7)
        created = await service.create(create)
        assert (created.draft, created.confidence, created.origin) == (ML, 0.7, ProcedureOrigin.STATED)
        assert await service.create(create) == created
        assert await service.get(ADA, created.procedure_id) == created
        for stranger in (BEN, OTHER):
            with pytest.raises(NotFound):
                await service.get(stranger, created.procedure_id)
        with pytest.raises(AlreadyExists):
            await service.create(replace(create, key=key("again")))
        with pytest.raises(InvalidArgument):
            await service.create(replace(create, key=key("create", "other")))
        update = UpdateProcedure(ADA, key("update"), created.procedure_id, created.etag, {"expands": True}, 0.9)
        updated = await service.update(update)
        assert (updated.draft.expands, updated.confidence, updated.create_time) == (True, 0.9, created.create_time)
        with pytest.raises(Conflict):
            await service.update(replace(update, key=key("late")))
        with pytest.raises(InvalidArgument):
            await service.update(replace(update, key=key("empty"), etag="", draft={"trigger": ""}))
        await service.delete(DeleteProcedure(ADA, key("delete"), created.procedure_id, updated.etag))
        await service.delete(DeleteProcedure(ADA, key("delete"), created.procedure_id, updated.etag))
        with pytest.raises(NotFound):
            await service.delete(DeleteProcedure(ADA, key("delete again"), created.procedure_id, ""))
        with pytest.raises(NotFound):
            await service.create(create)  # what a repeat would return was deleted
        assert await self.all_of(service) == []

    async def test_spec_3_9_procedures_are_listed_in_pages_newest_first(
        self, service: ProcedureService, clock: FakeClock
    ) -> None:
        made = []
        for number, kind in enumerate(ProcedureKind):
            clock.advance(seconds=1)
            made.append(
                await service.create(CreateProcedure(ADA, key(str(number)), ProcedureDraft(kind, "a", "b"), 0.7))
            )
        position: ProcedurePosition | None = None
        read: list[Procedure] = []
        while True:
            page, position = await service.list_page(ADA, kind=None, after=position, page_size=3)
            read += page
            if position is None:
                break
        assert read == made[::-1]
        page, _ = await service.list_page(ADA, kind=ProcedureKind.CO_EDIT, after=None, page_size=3)
        assert list(page) == [made[4]]
        assert await self.all_of(service, BEN) == []

    async def test_spec_3_9_trusted_procedures_are_sent_anew_only_where_they_changed(
        self, service: ProcedureService, store: ProcedureStore
    ) -> None:
        assert await service.trusted(ADA, cached_revision=None) == (0, [])
        assert await service.trusted(ADA, cached_revision=0) == (0, None)
        sure = await service.create(CreateProcedure(ADA, key("1"), ML, 0.9))
        unsure = await service.create(CreateProcedure(ADA, key("2"), replace(ML, trigger="DL"), 0.61))
        await service.create(CreateProcedure(ADA, key("3"), replace(ML, trigger="NN"), 0.6))
        revision, found = await service.trusted(ADA, cached_revision=0)
        assert found is not None
        assert list(found) == [sure, unsure]
        assert await service.trusted(ADA, cached_revision=revision) == (revision, None)
        await service.delete(DeleteProcedure(ADA, key("4"), sure.procedure_id, ""))
        newer, found = await service.trusted(ADA, cached_revision=revision)
        assert found is not None
        assert (newer > revision, list(found)) == (True, [unsure])
        assert await store.trusted(OTHER, cached_revision=None, confidence_above=0.0, limit=9) == (0, [])

    async def test_spec_3_9_the_worked_example_two_successes_and_a_failure_make_two_thirds(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        await judge(1, "ML papers", -1)
        await judge(2, "machine learning papers", 1)
        [learned] = await self.all_of(service)
        assert (learned.draft, learned.origin) == (ML, ProcedureOrigin.REPHRASED)
        assert (learned.success_count, learned.failure_count) == (1, 0)
        assert learned.confidence == pytest.approx(0.73)  # a single outcome moves it by a tenth
        await judge(3, "ML algorithms", 1, learned)
        [learned] = await self.all_of(service)
        assert (learned.success_count, learned.failure_count, learned.confidence) == (2, 0, 1.0)
        await judge(4, "ML history", -1, learned)
        [learned] = await self.all_of(service)
        assert (learned.success_count, learned.failure_count) == (2, 1)
        assert learned.confidence == pytest.approx(2 / 3)

    async def test_spec_3_9_an_outcome_counts_once_and_can_be_changed_and_taken_back(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        stated = await service.create(CreateProcedure(ADA, key("1"), ML, 0.7))

        async def counts() -> tuple[int, int]:
            found = await service.get(ADA, stated.procedure_id)
            return found.success_count, found.failure_count

        await judge(1, "ML?", 1, stated)
        await judge(1, "ML?", 1, stated)
        assert await counts() == (1, 0)
        await judge(1, "ML?", -1, stated)
        assert await counts() == (0, 1)
        await judge(1, "ML?", 0, stated)
        assert await counts() == (0, 0)
        assert (await service.get(ADA, stated.procedure_id)).confidence == 0.7

    async def test_spec_6_6_queries_of_a_scope_are_forgotten_and_their_judgements_stay(
        self, service: ProcedureService, store: ProcedureStore, judge: Callable[..., Awaitable[None]]
    ) -> None:
        project, task = Scope(ScopeLevel.PROJECT, "p1"), Scope(ScopeLevel.TASK, "p1", task_id="t1")

        async def stored() -> list[tuple[str, int]]:
            found = await store.write(
                ADA, lambda writer: writer.judged_between(NOON, NOON + timedelta(hours=1), limit=9)
            )
            return [(judged.query, judged.feedback) for judged in found]

        for recall, (query, scope_key) in enumerate((("a", project.key), ("b", task.key), ("c", "1")), start=1):
            await judge(recall, query, -1, scope_key=scope_key)
        assert await service.forget_queries(ADA, project, with_nested=False) == 1
        assert await stored() == [("c", -1), ("b", -1), ("", -1)]
        assert await service.forget_queries(ADA, project, with_nested=True) == 1
        assert await service.forget_queries(ADA, project, with_nested=True) == 0
        assert await stored() == [("c", -1), ("", -1), ("", -1)]

    async def test_spec_3_9_a_judgement_that_arrives_late_changes_nothing(self, service: ProcedureService) -> None:
        stated = await service.create(CreateProcedure(ADA, key("1"), ML, 0.7))
        late = JudgedRecall(str(uuid.UUID(int=1)), str(uuid.UUID(int=1)), 1, "", "1", NOON, (stated.procedure_id,))
        await service.judge(ADA, replace(late, judgement_id=str(uuid.UUID(int=2)), feedback=-1))
        await service.judge(ADA, late)
        assert (await service.get(ADA, stated.procedure_id)).failure_count == 1

    async def test_spec_3_9_a_procedure_that_fails_is_pruned_below_its_least_confidence(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        stated = await service.create(CreateProcedure(ADA, key("1"), ML, 0.7))
        for recall, feedback in enumerate((1, -1, -1), start=1):
            await judge(recall, "", feedback, stated)
        assert (await service.get(ADA, stated.procedure_id)).confidence == pytest.approx(1 / 3)
        await judge(4, "", -1, stated)
        assert await self.all_of(service) == []

    async def test_spec_3_9_a_learned_rewriting_goes_with_the_judgement_that_it_was_learned_from(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        await judge(2, "machine learning papers", 1)
        await judge(1, "ML papers", -1)  # in whichever order the judgements arrive
        assert len(await self.all_of(service)) == 1
        await judge(2, "machine learning papers", 0)
        assert await self.all_of(service) == []

    async def test_spec_3_9_other_words_are_applied_only_when_they_helped_twice(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        await judge(1, "sofa prices", -1)
        await judge(2, "couch prices", 1)
        [learned] = await self.all_of(service)
        assert learned.confidence == pytest.approx(0.55)
        assert (await service.trusted(ADA, cached_revision=None))[1] == []
        await judge(3, "couch covers", 1)  # the recall before was judged good: this one asks for something else
        await judge(11, "which sofa did I buy?", -1)
        await judge(12, "which couch did I buy?", 1)
        [learned] = await self.all_of(service)
        assert (learned.draft.trigger, learned.draft.action, learned.confidence) == ("sofa", "couch", 1.0)

    async def test_spec_3_9_nothing_is_learned_across_scopes_or_long_after(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        isolated = Scope(ScopeLevel.GLOBAL, context_id="x").key
        await judge(1, "ML papers", -1)
        await judge(2, "machine learning papers", 1, scope_key=isolated)
        await judge(700, "machine learning papers", 1)
        assert await self.all_of(service) == []
        await judge(3, "ML papers", -1, scope_key=isolated)
        await judge(4, "machine learning papers", 1, scope_key=isolated)
        [learned] = await self.all_of(service)
        assert learned.draft.scope_key == isolated

    async def test_spec_3_9_abbreviations_that_a_user_defines_go_with_the_last_turn_that_defines_them(
        self, service: ProcedureService
    ) -> None:
        turns = [said(1, "I read about machine learning (ML) a lot."), said(2, "Machine learning (ML), you know.")]
        assert await service.learn(ADA.tenant_id, [*turns, said(3, "deep learning (DL)", MessageRole.ASSISTANT)]) == 1
        assert await service.learn(ADA.tenant_id, turns) == 0
        [found] = await self.all_of(service)
        assert (found.draft, found.origin) == (replace(ML, expands=True), ProcedureOrigin.DEFINED)
        assert found.derived_from == (turn(1), turn(2))
        revision, _ = await service.trusted(ADA, cached_revision=None)
        assert await service.remove_sources(BEN, [turn(1), turn(2)]) == 0
        assert await service.remove_sources(ADA, [turn(1)]) == 0
        assert await service.remove_sources(ADA, [turn(2)]) == 1
        assert await self.all_of(service) == []
        assert (await service.trusted(ADA, cached_revision=revision))[1] == []

    async def test_spec_3_12_an_abbreviation_goes_with_the_last_sentence_that_defines_it_and_is_not_corrected(
        self, service: ProcedureService
    ) -> None:
        first, second = "I read about machine learning (ML) a lot.", "Machine learning (ML), you know."
        stated = await service.create(CreateProcedure(ADA, key("1"), ML, 0.7, (turn(1),)))
        await service.learn(ADA.tenant_id, [said(1, f"It rains. {first}"), said(2, second)])
        assert await service.take_back_definitions(ADA, [(turn(1), "It rains."), (turn(3), "")]) == 0
        assert await service.take_back_definitions(BEN, [(turn(1), first), (turn(2), "")]) == 0
        assert await service.take_back_definitions(ADA, []) == 0
        [found] = [one for one in await self.all_of(service) if one.origin is ProcedureOrigin.DEFINED]
        assert found.derived_from == (turn(1), turn(2))
        assert await service.take_back_definitions(ADA, [(turn(1), first)]) == 0
        assert (await service.get(ADA, found.procedure_id)).derived_from == (turn(2),)
        assert await service.take_back_definitions(ADA, [(turn(1), ""), (turn(2), "")]) == 1
        assert [one.procedure_id for one in await self.all_of(service)] == [stated.procedure_id]

    async def test_spec_3_9_a_source_that_is_one_of_two_leaves_the_procedure(self, service: ProcedureService) -> None:
        both = await service.create(CreateProcedure(ADA, key("1"), ML, 0.7, (turn(1), turn(2))))
        assert await service.remove_sources(ADA, [turn(1)]) == 0
        assert (await service.get(ADA, both.procedure_id)).derived_from == (turn(2),)

    async def test_spec_3_9_of_too_many_the_least_confident_goes_and_never_the_new_one(
        self, store: ProcedureStore, clock: FakeClock
    ) -> None:
        service = ProcedureService(store, clock=clock, ids=Uuid7Ids(clock), settings=ProcedureSettings(per_kind_max=2))
        for number, confidence in enumerate((0.8, 0.9, 0.1)):
            draft = replace(ML, trigger=f"T{number}")
            await service.create(CreateProcedure(ADA, key(str(number)), draft, confidence))
        other = ProcedureDraft(ProcedureKind.RESPONSE_FORMATTING, "", "Use lists.")
        await service.create(CreateProcedure(ADA, key("other"), other, 0.05))
        assert {one.draft.trigger for one in await self.all_of(service)} == {"T1", "T2", ""}

    async def test_spec_6_6_a_removed_user_leaves_nothing_and_others_stay(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        create = CreateProcedure(ADA, key("1"), ML, 0.7)
        await service.create(create)
        kept = await service.create(replace(create, owner=BEN, key=key("2")))
        assert await service.users(ADA.tenant_id, after=UserId(""), limit=9) == [ADA.user_id, BEN.user_id]
        await judge(1, "ML papers", -1)
        assert await service.remove_owner(ADA) == 1
        await judge(2, "machine learning papers", 1)
        assert await self.all_of(service) == []
        with pytest.raises(NotFound):
            await service.create(create)
        assert await self.all_of(service, BEN) == [kept]
        assert await service.users(ADA.tenant_id, after=UserId(""), limit=9) == [BEN.user_id]

    async def test_spec_3_9_what_the_activity_log_shows_becomes_procedures(
        self, service: ProcedureService, store: ProcedureStore
    ) -> None:
        pair = ProcedureDraft(ProcedureKind.CO_EDIT, "app.py", "Edit test_app.py together with app.py.")
        fix = ProcedureDraft(ProcedureKind.ERROR_FIX, "ImportError", "When pytest fails: edit app.py.")
        await service.create(CreateProcedure(ADA, key("r"), ML, 0.7))
        found = await service.observe(ADA, [Observed(pair, 3, 1), Observed(fix, 1, 0), Observed(pair, 9, 9)])
        assert (found.changed, found.deleted) == (2, 0)
        revision, trusted = await service.trusted(ADA, cached_revision=None)
        assert {one.draft.trigger: one.confidence for one in trusted or ()} == {
            "ML": pytest.approx(0.7),
            "app.py": 0.75,
            "ImportError": pytest.approx(0.73),
        }
        assert (await service.observe(ADA, [Observed(fix, 1, 0), Observed(pair, 3, 1)])).changed == 0
        assert await service.trusted(ADA, cached_revision=revision) == (revision, None), "a repeat changes nothing"
        found = await service.observe(ADA, [Observed(pair, 3, 3)])
        assert (found.changed, found.deleted) == (1, 1)
        left = await store.list_page(ADA, kind=ProcedureKind.CO_EDIT, after=None, limit=9)
        assert [(one.origin, one.confidence) for one in left] == [(ProcedureOrigin.OBSERVED, 0.5)]
        assert (await service.observe(ADA, [])).deleted == 1
        _, trusted = await service.trusted(ADA, cached_revision=None)
        assert [one.draft for one in trusted or ()] == [ML]
        assert (await service.observe(BEN, [])).deleted == 0
        assert BEN.user_id not in await store.users(BEN.tenant_id, after=UserId(""), limit=9)

    async def test_spec_3_9_feedback_counts_beside_what_the_activity_log_shows(
        self, service: ProcedureService, judge: Callable[..., Awaitable[None]]
    ) -> None:
        pair = ProcedureDraft(ProcedureKind.CO_EDIT, "app.py", "Edit test_app.py together with app.py.")
        await service.observe(ADA, [Observed(pair, 2, 0)])
        [shown], _ = await service.list_page(ADA, kind=ProcedureKind.CO_EDIT, after=None, page_size=9)
        for recall in range(1, 7):
            await judge(recall, "app.py", -1, shown)
        judged = await service.get(ADA, shown.procedure_id)
        assert (judged.failure_count, judged.confidence) == (6, 0.25), "it stays, and is not applied"
        _, trusted = await service.trusted(ADA, cached_revision=None)
        assert trusted == []
        await service.observe(ADA, [Observed(pair, 14, 0)])
        judged = await service.get(ADA, shown.procedure_id)
        assert (judged.failure_count, judged.confidence) == (6, 0.7)
        changed = await service.update(UpdateProcedure(ADA, key("u"), shown.procedure_id, "", {"action": "Edit both."}))
        assert (changed.origin, changed.observed_count) == (ProcedureOrigin.STATED, 0)
        assert (await service.observe(ADA, [])).deleted == 0, "what somebody has changed is theirs"
