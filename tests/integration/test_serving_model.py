"""The choice of the serving model in PostgreSQL, and processes that follow it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.common.auth import Principal, Role
from services.common.errors import FailedPrecondition, InvalidArgument, StoreUnavailable
from services.common.idempotency.model import IdempotencyKey
from services.common.postgres.pool import create_pool
from services.common.postgres.server import EmbeddedPostgres
from services.common.serving_model.following import ServingModel, ServingModelSettings, following
from services.common.serving_model.postgres import PostgresServingModels
from services.common.serving_model.store import ModelHolder, ServingState
from services.gateway.embedding_model.service import EmbeddingModels, TierCheck
from tests.support.clock import FakeClock
from tests.support.maintenance import MAINTENANCE
from tests.support.postgres import fresh_postgres

OLD, NEW, THIRD = "old-1", "new-2", "third-3"
QUICK = ServingModelSettings(follow_seconds=0.05, report_seconds=0.05)
ADMIN = Principal("acme", "root", Role.ADMIN)


@pytest.fixture
async def store(postgres_server: EmbeddedPostgres) -> AsyncIterator[PostgresServingModels]:
    async with fresh_postgres(postgres_server, migrations=[MAINTENANCE]) as urls, await create_pool(urls.app) as pool:
        yield PostgresServingModels(pool)


@asynccontextmanager
async def process(store: PostgresServingModels, name: str, *models: str) -> AsyncIterator[ServingModel]:
    async with following(store, models, service="episodic", process_id=name, settings=QUICK) as serving:
        yield serving


def request(request_id: str = "", digest: str = "d") -> IdempotencyKey:
    return IdempotencyKey(ADMIN.principal_id, request_id or str(uuid.uuid4()), digest)


def models_of(store: PostgresServingModels, serving: ServingModel) -> EmbeddingModels:
    return EmbeddingModels(store, serving, [], clock=FakeClock())


async def test_spec_8_4_a_choice_is_made_once_and_has_a_way_back(store: PostgresServingModels) -> None:
    assert await store.read() is None
    made = await store.choose(NEW, former=OLD)
    assert (made.model, made.former, made.revision) == (NEW, OLD, 1)
    assert await store.choose(NEW, former=THIRD) == made == await store.read()
    back = await store.choose(OLD, former=NEW)
    assert (back.model, back.former, back.revision) == (OLD, NEW, 2)
    await store.end(NEW)
    assert await store.read() == back
    await store.end(OLD)
    ended = await store.read()
    assert ended is not None
    assert (ended.model, ended.former) == (OLD, None)
    await store.forget(NEW)
    assert await store.read() == ended
    await store.forget(OLD)
    assert await store.read() is None


async def test_processes_that_hold_models_are_known_until_they_end(store: PostgresServingModels) -> None:
    await store.report(ModelHolder("p1", "gateway", [OLD], OLD))
    await store.report(ModelHolder("p2", "episodic", [OLD, NEW], OLD))
    await store.report(ModelHolder("p1", "gateway", [OLD, NEW], NEW))
    found = await store.holders(seconds=60.0)
    assert [(each.process_id, tuple(each.models), each.serving) for each in found] == [
        ("p2", (OLD, NEW), OLD),
        ("p1", (OLD, NEW), NEW),
    ]
    assert await store.holders(seconds=0.0) == []
    await store.leave("p2")
    assert [each.process_id for each in await store.holders(seconds=60.0)] == ["p1"]


async def test_spec_8_4_all_processes_follow_a_cut_over_and_the_way_back(store: PostgresServingModels) -> None:
    async with process(store, "a", OLD, NEW) as first, process(store, "b", OLD, NEW) as second:
        assert (first.current, second.current) == (OLD, OLD)
        for model, former in ((NEW, OLD), (OLD, NEW)):
            state = await models_of(store, first).cut_over(ADMIN, request(), model, allow_gaps=False, seconds_left=9.0)
            assert first.current == model  # the one that made it at once
            assert state.choice is not None
            assert state.choice.former == former
            async with asyncio.timeout(60):
                await second.changed(former)
        await models_of(store, first).cut_over(ADMIN, request(), NEW, allow_gaps=False, seconds_left=9.0)
    async with process(store, "c", OLD, NEW) as restarted, process(store, "d", NEW, OLD) as exchanged:
        assert (restarted.current, exchanged.current) == (NEW, NEW)


async def test_spec_6_3_a_late_repeat_of_a_cut_over_returns_the_first_response_and_changes_nothing(
    store: PostgresServingModels,
) -> None:
    async with process(store, "a", OLD, NEW) as serving:
        models = models_of(store, serving)
        first = await models.cut_over(ADMIN, request("r1"), NEW, allow_gaps=False, seconds_left=9.0)
        assert first.serving == NEW == serving.current
        unchanged = await models.cut_over(ADMIN, request("r2"), NEW, allow_gaps=False, seconds_left=9.0)
        await models.cut_over(ADMIN, request("r3"), OLD, allow_gaps=False, seconds_left=9.0)
        assert await models.cut_over(ADMIN, request("r1"), NEW, allow_gaps=False, seconds_left=9.0) == first
        assert await models.cut_over(ADMIN, request("r2"), NEW, allow_gaps=False, seconds_left=9.0) == unchanged
        assert (await models.state()).serving == OLD == serving.current
        with pytest.raises(InvalidArgument):
            await models.cut_over(ADMIN, request("r1", "other"), OLD, allow_gaps=False, seconds_left=9.0)


async def test_spec_6_3_equal_cut_overs_at_once_have_one_response(store: PostgresServingModels) -> None:
    async with process(store, "a", OLD, NEW) as serving:
        models = models_of(store, serving)
        calls = (models.cut_over(ADMIN, request("r1"), NEW, allow_gaps=False, seconds_left=9.0) for _ in range(4))
        first, *others = await asyncio.gather(*calls)
        assert others == [first] * 3
        assert first.choice is not None
        assert first.choice.revision == 1


async def test_spec_8_4_a_cut_over_is_refused_where_a_process_does_not_hold_the_model(
    store: PostgresServingModels,
) -> None:
    async with process(store, "a", OLD, NEW) as serving, process(store, "b", OLD):
        models = models_of(store, serving)
        with pytest.raises(FailedPrecondition, match=r"1 processes do not hold the model new-2: episodic \(b\)"):
            await models.cut_over(ADMIN, request(), NEW, allow_gaps=True, seconds_left=9.0)
        with pytest.raises(FailedPrecondition, match="the gateway does not hold"):
            await models.cut_over(ADMIN, request(), THIRD, allow_gaps=True, seconds_left=9.0)
        assert await store.read() is None


async def test_spec_8_4_a_cut_over_is_refused_where_episodes_facts_or_notes_lack_the_model(
    store: PostgresServingModels,
) -> None:
    def check(count: int, what: str) -> TierCheck:
        async def lacking(_principal: Principal, model: str, _seconds: float) -> int:
            assert model == NEW
            return count

        return TierCheck(lacking, what, 10, f"the job on {what.rsplit(maxsplit=1)[-1]}")

    checks = [check(2, "episodes of {} users"), check(0, "{} facts"), check(10, "{} notes")]
    async with process(store, "a", OLD, NEW) as serving:
        models = EmbeddingModels(store, serving, checks, clock=FakeClock())
        says = "lacks episodes of 2 users, 10 notes or more: wait until the job on users, the job on notes has run"
        with pytest.raises(FailedPrecondition, match=says):
            await models.cut_over(ADMIN, request(), NEW, allow_gaps=False, seconds_left=9.0)
        assert serving.current == OLD
        assert (await models.cut_over(ADMIN, request(), NEW, allow_gaps=True, seconds_left=9.0)).serving == NEW


async def test_spec_8_4_a_start_with_the_former_model_alone_is_refused_until_the_way_back(
    store: PostgresServingModels,
) -> None:
    await store.choose(NEW, former=OLD)
    with pytest.raises(FailedPrecondition, match="was cut over to new-2"):
        async with process(store, "a", OLD):
            pass
    async with process(store, "a", NEW) as serving:  # the end of the change: there is no way back any more
        assert serving.current == NEW
    ended = await store.read()
    assert ended is not None
    assert ended.former is None


async def test_spec_8_4_a_start_with_other_models_changes_nothing_for_processes_that_follow_the_choice(
    store: PostgresServingModels,
) -> None:
    await store.choose(NEW, former=OLD)
    async with process(store, "a", OLD, NEW) as serving:
        async with process(store, "b", THIRD) as stranger:
            assert stranger.current == THIRD
        assert (await store.read()) is not None
        assert serving.current == NEW
    async with process(store, "b", THIRD):
        assert await store.read() is None  # all services start with another model: a change by itself


async def test_spec_8_4_a_process_goes_on_while_the_choice_cannot_be_read(store: PostgresServingModels) -> None:
    class Failing(PostgresServingModels):
        fails = False

        def __init__(self, other: PostgresServingModels) -> None:
            super().__init__(other._pool)
            self.failed = asyncio.Event()

        async def read(self) -> ServingState | None:
            if self.fails:
                self.failed.set()
                raise StoreUnavailable("postgres")
            return await super().read()

    failing = Failing(store)
    async with process(failing, "a", OLD, NEW) as serving:
        failing.fails = True
        await store.choose(NEW, former=OLD)
        async with asyncio.timeout(60):
            await failing.failed.wait()
        assert serving.current == OLD
        failing.fails = False
        async with asyncio.timeout(60):
            await serving.changed(OLD)
