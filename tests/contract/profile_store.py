"""What every profile store must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from services.common.errors import Conflict
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import MessageRole
from services.semantic.profile.model import Lesson, Observation, Preferences, Profile
from services.semantic.profile.store import ProfileStore, ProfileWriter
from tests.contract.fact_samples import ANN, ANN_ELSEWHERE, BO, new_id

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
PREFERENCES = Preferences(
    response_format="bullet_points",
    language="en",
    preferred_sources=("b", "a"),
    excluded_sources=("x",),
    other={"tone": "dry"},
)


def observed(owner: Owner = ANN, *, hours: float = 0, **fields: object) -> Observation:
    observation = Observation(
        interaction_id=InteractionId(new_id()),
        user_id=owner.user_id,
        conversation_id="c1",
        role=MessageRole.USER,
        time=START + timedelta(hours=hours),
    )
    return replace(observation, **fields)  # type: ignore[arg-type]


async def put(store: ProfileStore, preferences: Preferences, *, etag: str, update_time: datetime = START) -> None:
    await store.write(ANN, lambda writer: writer.put_preferences(preferences, etag=etag, update_time=update_time))


class ProfileStoreContract:
    """Subclass it with a fixture `store` that returns a fresh `ProfileStore`."""

    async def test_a_profile_that_was_never_written_is_empty(self, store: ProfileStore) -> None:
        assert await store.get(ANN) == Profile(user_id=UserId("ann"))

    async def test_preferences_are_read_as_they_were_written(self, store: ProfileStore) -> None:
        await put(store, Preferences(language="de"), etag="e1")
        assert (await store.write(ANN, lambda writer: writer.get())).etag == "e1"
        await put(store, PREFERENCES, etag="e2", update_time=START + timedelta(days=1))
        profile = await store.get(ANN)
        assert (profile.preferences, profile.etag) == (PREFERENCES, "e2")
        assert profile.update_time == START + timedelta(days=1)

    async def test_spec_6_6_the_users_of_a_tenant_are_listed_by_pages(self, store: ProfileStore) -> None:
        for owner in (ANN, BO, ANN_ELSEWHERE):
            await store.write(owner, lambda writer: writer.put_preferences(PREFERENCES, etag="e", update_time=START))
        assert await store.users(ANN.tenant_id, after=UserId(""), limit=9) == [ANN.user_id, BO.user_id]
        assert await store.users(ANN.tenant_id, after=UserId(""), limit=1) == [ANN.user_id]
        assert await store.users(ANN.tenant_id, after=ANN.user_id, limit=9) == [BO.user_id]
        assert await store.users(TenantId("nobody"), after=UserId(""), limit=9) == []

    async def test_what_a_work_returns_is_returned(self, store: ProfileStore) -> None:
        answer = object()

        async def work(_writer: ProfileWriter) -> object:
            return answer

        assert await store.write(ANN, work) is answer

    @pytest.mark.parametrize("failure", [RuntimeError("of the work"), Conflict("of the work")])
    async def test_a_work_that_fails_writes_nothing_and_its_error_comes_out_unchanged(
        self, store: ProfileStore, failure: Exception
    ) -> None:
        async def work(writer: ProfileWriter) -> None:
            await writer.put_preferences(PREFERENCES, etag="e1", update_time=START)
            raise failure

        with pytest.raises(type(failure)) as raised:
            await store.write(ANN, work)
        assert raised.value is failure
        assert (await store.get(ANN)).etag == ""

    async def test_works_on_one_user_wait_for_each_other(self, store: ProfileStore) -> None:
        async def count(writer: ProfileWriter) -> None:
            present = await writer.get()
            later = Preferences(other={"count": str(int(present.preferences.other.get("count", "0")) + 1)})
            await writer.put_preferences(later, etag="e", update_time=START)

        await asyncio.gather(*(store.write(ANN, count) for _ in range(8)))
        assert (await store.get(ANN)).preferences.other == {"count": "8"}

    async def test_interactions_are_counted(self, store: ProfileStore) -> None:
        batch = [
            observed(query_type="where", topics=("sea", "boat"), confidence=500_000),
            observed(hours=24, conversation_id="c2", confidence=1_000_000),
            observed(hours=2),
            observed(hours=1, role=MessageRole.ASSISTANT),
            observed(hours=-48, role=MessageRole.SYSTEM),
        ]
        assert await store.observe(ANN.tenant_id, batch) == 5
        statistics = (await store.get(ANN)).statistics
        assert (statistics.user_turn_count, statistics.assistant_turn_count) == (3, 1)
        assert (statistics.conversation_count, statistics.question_count) == (2, 1)
        assert statistics.mean_confidence == pytest.approx(0.75)
        assert statistics.peak_hours == (9, 11)
        assert statistics.first_interaction_time == START - timedelta(hours=48)
        assert statistics.last_interaction_time == START + timedelta(hours=24)
        # Conversation c1 on two days, c2 on one.
        assert statistics.mean_session_turns == pytest.approx(5 / 3)
        assert statistics.mean_session_length == timedelta(hours=2) / 3
        assert (statistics.topics, statistics.query_types) == ((("boat", 1), ("sea", 1)), (("where", 1),))

    async def test_spec_3_10_topics_and_types_of_questions_come_most_frequent_first(self, store: ProfileStore) -> None:
        batch = [observed(query_type="what", topics=("tea", f"word{i:02}")) for i in range(12)]
        await store.observe(ANN.tenant_id, [*batch, observed(query_type="why", topics=("milk", "tea"))])
        statistics = (await store.get(ANN)).statistics
        assert statistics.topics[:2] == (("tea", 13), ("milk", 1))
        assert len(statistics.topics) == 10
        assert statistics.query_types == (("what", 12), ("why", 1))

    async def test_spec_3_10_an_isolated_context_has_statistics_and_lessons_of_its_own(
        self, store: ProfileStore
    ) -> None:
        inside = Scope(context_id="agent")
        stated = {"language": "de"}
        isolated = observed(context_id="agent", scope_key=inside.key, stated=stated)
        await store.observe(ANN.tenant_id, [observed(), isolated])
        assert (await store.get(ANN)).statistics.user_turn_count == 1
        assert (await store.get(ANN, context_id="agent")).statistics.user_turn_count == 1
        assert await store.lessons(ANN, scope_keys=GLOBAL_SCOPE.visible_keys(), limit=9) == (Preferences(), [])
        _, lessons = await store.lessons(ANN, scope_keys=inside.visible_keys(), limit=9)
        assert lessons == [Lesson(isolated.interaction_id, stated, 0, ())]

    async def test_spec_3_10_lessons_are_the_newest_turns_that_state_something_or_were_judged(
        self, store: ProfileStore
    ) -> None:
        turns = [observed(hours=i, sources=(f"s{i}",)) for i in range(4)]
        await store.judge(ANN, [turns[0].interaction_id], 1)  # before it is observed
        stating = observed(hours=9, stated={"preferred_sources": ["a", "b"]})
        await store.observe(ANN.tenant_id, [*turns, stating, observed(BO, stated={"language": "de"})])
        await store.judge(ANN, [turns[2].interaction_id, turns[3].interaction_id], -1)
        await store.judge(ANN, [turns[3].interaction_id], 0)
        await put(store, PREFERENCES, etag="e1")
        preferences, lessons = await store.lessons(ANN, scope_keys=["1"], limit=9)
        assert preferences == PREFERENCES
        assert lessons == [
            Lesson(stating.interaction_id, {"preferred_sources": ["a", "b"]}, 0, ()),
            Lesson(turns[2].interaction_id, None, -1, ("s2",)),
            Lesson(turns[0].interaction_id, None, 1, ("s0",)),
        ]
        assert len((await store.lessons(ANN, scope_keys=["1"], limit=2))[1]) == 2
        statistics = (await store.get(ANN)).statistics
        assert (statistics.good_feedback_count, statistics.bad_feedback_count) == (1, 1)

    async def test_an_interaction_counts_once(self, store: ProfileStore) -> None:
        one, two = observed(), observed(hours=1)
        assert await store.observe(ANN.tenant_id, [one, one]) == 1
        assert await store.observe(ANN.tenant_id, [one, two]) == 1
        assert await store.observe(ANN.tenant_id, [two]) == 0
        statistics = (await store.get(ANN)).statistics
        assert (statistics.user_turn_count, statistics.conversation_count) == (2, 1)
        assert statistics.peak_hours == (9, 10)

    async def test_a_batch_may_be_of_several_users(self, store: ProfileStore) -> None:
        batch = [observed(ANN), observed(BO), observed(BO, hours=1)]
        assert await store.observe(ANN.tenant_id, batch) == 3
        counts = [(await store.get(owner)).statistics.user_turn_count for owner in (ANN, BO)]
        assert counts == [1, 2]
        assert (await store.get(BO)).statistics.peak_hours == (9, 10)

    async def test_order_and_cutting_do_not_matter(self, store: ProfileStore) -> None:
        batch = [observed(ANN, hours=i / 3, conversation_id=f"c{i % 3}", confidence=i * 7_001) for i in range(20)]
        await store.observe(ANN.tenant_id, batch)
        for i in reversed(range(20)):
            await store.observe(TenantId("globex"), batch[i : i + 2])
        assert (await store.get(ANN_ELSEWHERE)).statistics == (await store.get(ANN)).statistics

    async def test_overlapping_batches_at_once_count_each_once(self, store: ProfileStore) -> None:
        batch = [observed(owner, hours=i) for i in range(12) for owner in (ANN, BO)]
        counted = await asyncio.gather(
            *(store.observe(ANN.tenant_id, batch[i:] if i % 2 else list(reversed(batch))) for i in range(6))
        )
        assert sum(counted) == len(batch)
        assert (await store.get(BO)).statistics.user_turn_count == 12

    async def test_tenants_are_apart(self, store: ProfileStore) -> None:
        one = observed()
        await put(store, PREFERENCES, etag="e1")
        await store.observe(ANN.tenant_id, [one])
        assert await store.get(ANN_ELSEWHERE) == Profile(user_id=UserId("ann"))
        assert await store.observe(TenantId("globex"), [one]) == 1

    async def test_a_deleted_profile_is_empty_and_counts_nothing_again(self, store: ProfileStore) -> None:
        one = observed(confidence=500_000)
        await store.observe(ANN.tenant_id, [one])
        await put(store, PREFERENCES, etag="e1")
        await store.observe(ANN.tenant_id, [observed(BO)])
        assert await store.write(ANN, lambda writer: writer.delete()) is True
        assert await store.write(ANN, lambda writer: writer.delete()) is False
        assert await store.get(ANN) == Profile(user_id=UserId("ann"))
        assert await store.observe(ANN.tenant_id, [one, observed(hours=1)]) == 1
        statistics = (await store.get(ANN)).statistics
        assert (statistics.user_turn_count, statistics.conversation_count, statistics.mean_confidence) == (1, 1, None)
        assert (await store.get(BO)).statistics.user_turn_count == 1

    async def test_statistics_alone_are_a_profile_to_delete(self, store: ProfileStore) -> None:
        await store.observe(ANN.tenant_id, [observed()])
        assert await store.write(ANN, lambda writer: writer.delete()) is True
        assert await store.get(ANN) == Profile(user_id=UserId("ann"))

    async def test_spec_3_10_a_removed_turn_lowers_its_counts_and_teaches_nothing(self, store: ProfileStore) -> None:
        stays, goes, late = (
            observed(),
            observed(hours=1, query_type="what", stated={"language": "de"}),
            observed(hours=2),
        )
        await store.observe(ANN.tenant_id, [stays, goes])
        await store.judge(ANN, [goes.interaction_id], 1)
        await store.remove(ANN, [goes.interaction_id, late.interaction_id])
        await store.judge(ANN, [goes.interaction_id], 1)
        assert await store.observe(ANN.tenant_id, [stays, goes, late]) == 0
        statistics = (await store.get(ANN)).statistics
        assert (statistics.user_turn_count, statistics.question_count, statistics.good_feedback_count) == (1, 0, 0)
        assert (statistics.peak_hours, statistics.last_interaction_time) == ((9,), START)
        assert (await store.lessons(ANN, scope_keys=["1"], limit=9))[1] == []
        assert await store.observe(ANN_ELSEWHERE.tenant_id, [goes]) == 1
