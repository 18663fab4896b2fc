"""What the fallback does when its primary goes and comes back; the contract suite covers the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from services.common.errors import AlreadyExists, NotFound, StoreUnavailable
from services.session.config import EmbeddedSettings, FallbackSettings
from services.session.model import Session, SessionSpec
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.fallback import FallbackSessionStore
from tests.contract.session_samples import ADA, SPEC, STORE_SETTINGS, idempotency_key, ids, key, turn
from tests.support.clock import FakeClock
from tests.support.session import Line, ManualSleep, SwitchableStore

SETTINGS = FallbackSettings(probe_seconds_min=1.0, probe_seconds_max=4.0, queued_writes_max=50)


class World:
    """A primary behind a line, and a fallback over it."""

    def __init__(self, settings: FallbackSettings = SETTINGS) -> None:
        self.clock = FakeClock()
        self.primary = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
        self.line = SwitchableStore(self.primary)
        self.memory = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
        self.sleep = ManualSleep()
        self.store = FallbackSessionStore(self.line, self.memory, settings, sleep=self.sleep)

    def cut(self) -> None:
        self.line.line = Line.CUT

    async def repair(self) -> None:
        pause = await self.sleep.next_pause()  # whoever probes now still finds the line as it was
        self.line.line = Line.UP
        pause.end()
        await self.store.wait_until_recovered()

    async def say(self, *interaction_ids: str, conversation_id: str = "s1", **options: Any) -> bool:
        """Appends turns; returns whether the response was degraded."""
        options.setdefault("create", SPEC)
        now = self.clock.advance(seconds=1)
        turns = [turn(interaction_id) for interaction_id in interaction_ids]
        return (await self.store.append(key(conversation_id), turns, now=now, **options)).is_degraded

    async def held_by_primary(self, conversation_id: str = "s1") -> Session:
        session = self.primary.peek(key(conversation_id), now=self.clock.now())
        assert session is not None
        return session


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    async with world.store:
        yield world


async def test_spec_1_6_answers_come_from_memory_and_say_so(world: World) -> None:
    assert not await world.say("a", "b")
    world.cut()
    assert await world.say("c")
    response = await world.store.get(key(), now=world.clock.now())
    assert response.is_degraded
    assert ids(response.value) == ["a", "b", "c"]
    listed = await world.store.list_sessions(ADA, limit=5, after=None, now=world.clock.now())
    assert listed.is_degraded
    assert [s.turn_count for s in listed.value] == [3]
    extended = await world.store.extend(key(), ttl=timedelta(days=1), now=world.clock.now())
    assert extended.is_degraded
    assert (await world.store.create(key("s2"), SPEC, now=world.clock.now())).is_degraded
    assert (await world.store.delete(key("s2"), now=world.clock.now())).is_degraded


async def test_spec_1_6_an_outage_is_warned_of_once(world: World) -> None:
    with capture_logs() as logs:
        world.cut()
        for interaction_id in "abc":
            await world.say(interaction_id)
        await world.repair()
        await world.say("d")
        assert [log["event"] for log in logs] == ["session_store_lost", "session_store_back"]
        assert [log["log_level"] for log in logs] == ["warning", "info"]
        world.cut()
        await world.say("e")
        assert [log["event"] for log in logs][2:] == ["session_store_lost"]


async def test_spec_1_6_writes_are_replayed_in_order_and_once(world: World) -> None:
    await world.say("a")
    world.cut()
    await world.say("b", "c")
    await world.say("x", conversation_id="s2")
    await world.say("d", "b")
    await world.store.extend(key(), ttl=timedelta(days=1), now=world.clock.now())
    await world.store.delete(key("s2"), now=world.clock.now())
    degraded = (await world.store.get(key(), now=world.clock.now())).value
    await world.repair()
    assert not world.store.is_degraded
    assert await world.held_by_primary() == degraded
    assert ids(degraded) == ["a", "b", "c", "d"]
    assert world.primary.peek(key("s2"), now=world.clock.now()) is None
    assert not await world.say("e")
    assert [t.position for t in (await world.held_by_primary()).turns] == [0, 1, 2, 3, 4]


async def test_spec_1_6_a_write_of_unknown_outcome_takes_effect_once(world: World) -> None:
    await world.say("a")
    world.line.line = Line.CUT_ON_THE_WAY_BACK
    assert await world.say("b", "c", idempotency_key=idempotency_key("r1"))
    await world.store.create(key("s2"), SPEC, now=world.clock.now())
    await world.repair()
    held = await world.held_by_primary()
    assert (ids(held), held.turn_count) == (["a", "b", "c"], 3)
    assert (await world.held_by_primary("s2")).turn_count == 0


async def test_a_request_answered_before_the_outage_is_recognised_during_it(world: World) -> None:
    await world.say("a", idempotency_key=idempotency_key("r1"))
    world.cut()
    await world.say("made anew", idempotency_key=idempotency_key("r1"))
    assert ids((await world.store.get(key(), now=world.clock.now())).value) == ["a"]
    await world.say("b", idempotency_key=idempotency_key("r2"))
    await world.repair()
    await world.say("made anew again", idempotency_key=idempotency_key("r2"))
    assert ids(await world.held_by_primary()) == ["a", "b"]


async def test_a_primary_that_comes_back_empty_gets_the_windows_back(world: World) -> None:
    await world.say("a", "b")
    await world.say("r", conversation_id="read")
    world.cut()
    await world.say("c", idempotency_key=idempotency_key("r1"))
    await world.say("d")
    await world.store.get(key("read"), now=world.clock.now())
    for conversation_id in ("s1", "read"):
        world.primary.forget(key(conversation_id))
    await world.repair()
    held = await world.held_by_primary()
    assert ids(held) == ["a", "b", "c", "d"]
    assert [t.position for t in held.turns] == [0, 1, 2, 3]
    assert ids(await world.held_by_primary("read")) == ["r"]


async def test_reads_during_an_outage_keep_a_session_alive(world: World) -> None:
    await world.say("a")
    world.cut()
    for _ in range(3):
        await world.store.get(key(), now=world.clock.advance(minutes=50))
    await world.repair()
    found = await world.store.get(key(), now=world.clock.advance(minutes=50))
    assert ids(found.value) == ["a"]
    assert not found.is_degraded


async def test_another_process_s_turns_are_kept_beside_ours(world: World) -> None:
    await world.say("a")
    world.cut()
    await world.say("ours")
    await world.primary.append(key(), [turn("theirs")], create=None, now=world.clock.now())
    await world.repair()
    held = await world.held_by_primary()
    assert ids(held) == ["a", "theirs", "ours"]
    assert [t.position for t in held.turns] == [0, 1, 2]


async def test_a_full_queue_refuses_before_anything_is_changed(world: World) -> None:
    world.cut()
    for number in range(SETTINGS.queued_writes_max):
        await world.say(f"t{number}")
    with pytest.raises(StoreUnavailable):
        await world.say("too much")
    with pytest.raises(StoreUnavailable):
        await world.store.check()
    assert "too much" not in ids((await world.store.get(key(), now=world.clock.now())).value)
    await world.repair()
    assert (await world.held_by_primary()).turn_count == SETTINGS.queued_writes_max
    assert not await world.say("again")


async def test_the_queue_is_bounded_in_bytes() -> None:
    world = World(FallbackSettings(queued_bytes_max=20_000))
    async with world.store:
        world.cut()
        long = turn("long", content="x" * 15_000)
        await world.store.append(key(), [long], create=SPEC, now=world.clock.now())
        with pytest.raises(StoreUnavailable):
            await world.store.append(key(), [turn("longer", content="x" * 15_000)], create=SPEC, now=world.clock.now())


async def test_the_primary_is_probed_with_growing_pauses_and_not_by_calls(world: World) -> None:
    world.cut()
    await world.say("a")
    calls = world.line.calls
    await world.say("b")
    assert world.line.calls == calls
    for expected_seconds in (1.0, 2.0, 4.0, 4.0):
        pause = await world.sleep.next_pause()
        assert pause.seconds == expected_seconds
        pause.end()
    await world.repair()
    world.cut()
    await world.say("c")
    assert (await world.sleep.next_pause()).seconds == 1.0


async def test_an_outage_in_the_middle_of_a_replay_loses_and_doubles_nothing(world: World) -> None:
    world.cut()
    for interaction_id in "abcdef":
        await world.say(interaction_id)
    for line in (Line.CUT_ON_THE_WAY_BACK, Line.CUT):
        pause = await world.sleep.next_pause()
        world.line.line = Line.UP
        pause.end()
        await world.line.more_calls(3)
        world.line.line = line
        await world.say(f"during {line.name}")
    await world.repair()
    held = await world.held_by_primary()
    assert ids(held) == [*"abcdef", "during CUT_ON_THE_WAY_BACK", "during CUT"]
    assert held.turn_count == 8


async def test_errors_that_are_answers_are_no_outage(world: World) -> None:
    with pytest.raises(NotFound):
        await world.store.get(key(), now=world.clock.now())
    await world.say("a")
    with pytest.raises(AlreadyExists):
        await world.store.create(key(), SPEC, now=world.clock.now())
    assert not world.store.is_degraded


async def test_memory_forgets_what_the_primary_says_is_gone(world: World) -> None:
    await world.say("a")
    await world.primary.delete(key(), now=world.clock.now())
    with pytest.raises(NotFound):
        await world.store.get(key(), now=world.clock.now())
    world.cut()
    with pytest.raises(NotFound):
        await world.store.get(key(), now=world.clock.now())


async def test_leaving_makes_a_last_attempt_to_replay() -> None:
    world = World()
    async with world.store:
        world.cut()
        await world.say("a")
        world.line.line = Line.UP
    assert ids(await world.held_by_primary()) == ["a"]


async def test_leaving_without_the_primary_says_what_is_lost() -> None:
    world = World()
    with capture_logs() as logs:
        async with world.store:
            world.cut()
            await world.say("a")
            await world.say("b")
    assert logs[-1] == {"event": "session_writes_not_replayed", "log_level": "warning", "writes": 2}


async def test_calls_at_once_around_an_outage_lose_no_turn(world: World) -> None:
    spec = SessionSpec(window_turns=1_000, ttl=SPEC.ttl)
    await world.store.create(key(), spec, now=world.clock.now())

    async def write(name: str) -> None:
        for number in range(10):
            await world.store.append(key(), [turn(f"{name}{number}")], create=None, now=world.clock.now())

    async def flap(lines: Sequence[Line]) -> None:
        for line in lines:
            await asyncio.sleep(0)
            world.line.line = line

    writers = [write(name) for name in "abc"]
    await asyncio.gather(*writers, flap([Line.CUT_ON_THE_WAY_BACK, Line.UP, Line.CUT, Line.UP]))
    if world.store.is_degraded:
        await world.repair()
    held = await world.held_by_primary()
    assert held.turn_count == len(set(ids(held))) == 30
    for name in "abc":
        assert [i for i in ids(held) if i.startswith(name)] == [f"{name}{n}" for n in range(10)]


async def test_spec_1_6_what_a_replica_lost_that_took_over_is_repeated(world: World) -> None:
    for interaction_id in ("a", "b", "c"):
        assert not await world.say(interaction_id)
    before = await world.held_by_primary()
    world.cut()
    await world.say("d")
    # The replica has the session as it was two appends ago.
    await world.primary.delete(key(), now=world.clock.now())
    await world.primary.append(key(), [before.turns[0].as_new()], create=SPEC, now=world.clock.now())
    await world.repair()
    held = await world.held_by_primary()
    assert (ids(held), [t.position for t in held.turns], held.turn_count) == (["a", "b", "c", "d"], [0, 1, 2, 3], 4)


async def test_spec_1_6_a_session_that_was_ended_elsewhere_is_not_brought_back_by_repeats(world: World) -> None:
    await world.say("a")
    world.cut()
    await world.say("b", conversation_id="s2")
    await world.primary.delete(key(), now=world.clock.now())
    await world.repair()
    assert world.primary.peek(key(), now=world.clock.now()) is None


async def test_spec_1_6_an_append_that_was_on_its_way_at_the_loss_is_repeated(world: World) -> None:
    await world.say("a")
    arrived = asyncio.Event()
    world.line.answers_wait_for = arrived
    late = asyncio.create_task(world.store.append(key(), [turn("b")], create=None, now=world.clock.now()))
    await world.line.more_calls(1)
    world.line.answers_wait_for = None
    await asyncio.sleep(0)  # the call has arrived, its response has not
    assert ids(await world.held_by_primary()) == ["a", "b"]
    world.cut()
    await world.say("c", conversation_id="s2")
    arrived.set()
    assert not (await late).is_degraded
    await world.primary.delete(key(), now=world.clock.now())
    await world.primary.append(key(), [turn("a", 0)], create=SPEC, now=world.clock.now())
    await world.repair()
    assert ids(await world.held_by_primary()) == ["a", "b"]


async def test_appends_of_long_ago_are_not_repeated() -> None:
    world = World(FallbackSettings(repeated_time=timedelta(seconds=5), repeated_sessions_max=2))
    async with world.store:
        await world.say("a")
        world.clock.advance(seconds=5)
        for conversation_id in ("s2", "s3", "s4"):
            await world.say("b", conversation_id=conversation_id)
        world.cut()
        calls = world.line.calls
        await world.say("c", conversation_id="s5")
        await world.repair()
    # The lost write, a check, repeats of two sessions, and the write again.
    assert world.line.calls - calls == 5


async def test_spec_1_6_callers_that_write_without_pause_do_not_keep_a_session_degraded(world: World) -> None:
    await world.say("a")
    world.cut()
    written: list[str] = []

    async def write(name: str) -> None:
        while world.store.is_degraded:
            written.append(f"{name}{len(written)}")
            await world.say(written[-1], conversation_id=name)
            await asyncio.sleep(0)

    await world.say("b")
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        pause = await world.sleep.next_pause()
        world.line.line = Line.UP
        for name in ("s2", "s3", "s4", "s5"):
            tasks.create_task(write(name))
        pause.end()
    assert not world.store.is_degraded
    for name in ("s2", "s3", "s4", "s5"):
        held = await world.held_by_primary(name)
        assert ids(held) == [i for i in written if i.startswith(name)][-len(held.turns) :]


async def test_spec_1_6_writes_that_wait_go_on_from_memory_where_the_primary_goes_again(world: World) -> None:
    await world.say("a")
    world.cut()
    for number in range(10):
        await world.say(f"b{number}")
    pause = await world.sleep.next_pause()
    world.line.line = Line.UP
    pause.end()
    arrived = world.line.answers_wait_for = asyncio.Event()
    await world.line.more_calls(1)
    waiting = asyncio.create_task(world.say("c"))
    await asyncio.sleep(0)
    world.cut()
    arrived.set()
    assert await waiting
    await world.repair()
    assert ids(await world.held_by_primary())[-2:] == ["b9", "c"]
