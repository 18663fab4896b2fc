"""Session stores against a model of lists and dictionaries, with and without outages."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from services.common.errors import AlreadyExists, InvalidArgument, NotFound
from services.common.idempotency.model import IdempotencyKey
from services.session.config import EmbeddedSettings, FallbackSettings, StoreSettings
from services.session.model import Session, SessionSpec
from services.session.store import SessionStore
from services.session.stores.embedded import EmbeddedSessionStore
from services.session.stores.fallback import FallbackSessionStore
from tests.contract.session_samples import ADA, idempotency_key, key, turn
from tests.support.clock import FakeClock
from tests.support.examples import share_of
from tests.support.redis import redis_store, redis_url
from tests.support.session import Line, ManualSleep, SwitchableStore

__all__ = ["redis_url"]

T = TypeVar("T")

STORE_SETTINGS = StoreSettings(remembered_turns=3, idempotency_retention=timedelta(minutes=5))

conversation_ids = st.sampled_from(["s1", "s2", "s3"])
interaction_ids = st.sampled_from([f"t{number}" for number in range(12)])
positions = st.none() | st.integers(0, 8)
turn_lists = st.lists(st.tuples(interaction_ids, positions), min_size=1, max_size=5)
ttls = st.sampled_from([timedelta(seconds=40), timedelta(minutes=4)])
windows = st.integers(1, 4)
request_ids = st.sampled_from(["", "", "", "r1", "r2"])


@dataclass
class ModelSession:
    """A session as plainly as can be."""

    window: int
    ttl: timedelta
    created: datetime
    active: datetime
    turns: list[tuple[int, int, str]] = field(default_factory=list)  # position, arrival, id: all that ever came
    known: list[str] = field(default_factory=list)  # ids in order of arrival

    def kept(self) -> list[tuple[int, int, str]]:
        # Which turns are in the window depends on the turns alone, not on the order in which they came.
        return sorted(self.turns)[-self.window :]

    def append(self, turns: list[tuple[str, int | None]]) -> int:
        added = 0
        for interaction_id, position in turns:
            if interaction_id in self.known:
                continue
            place = position if position is not None else (self.kept()[-1][0] + 1 if self.turns else 0)
            self.turns.append((place, len(self.turns), interaction_id))
            self.known.append(interaction_id)
            added += 1
        excess = max(0, len(self.known) - self.window - STORE_SETTINGS.remembered_turns)
        in_window = {interaction_id for _, _, interaction_id in self.kept()}
        self.known = [i for n, i in enumerate(self.known) if n >= excess or i in in_window]
        return added

    def view(self) -> tuple[Any, ...]:
        placed = [(interaction_id, position) for position, _, interaction_id in self.kept()]
        return (self.window, self.ttl, self.created, self.active, len(self.turns), placed)


def view(session: Session) -> tuple[Any, ...]:
    placed = [(t.interaction_id, t.position) for t in session.turns]
    spec = session.spec
    return (
        spec.window_turns,
        spec.ttl,
        session.create_time,
        session.last_active_time,
        session.turn_count,
        placed,
    )


def without_turns(seen: tuple[Any, ...]) -> tuple[Any, ...]:
    return seen[:-1]


class SessionStoreMachine(RuleBasedStateMachine):
    """Runs the same commands on a store and on the model."""

    redis: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = contextlib.AsyncExitStack()
        self.clock = FakeClock()
        self.model: dict[str, ModelSession] = {}
        self.records: dict[str, tuple[str, Any, datetime]] = {}
        self.store: SessionStore

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[SessionStore]:
        yield EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)

    @initialize()
    def open(self) -> None:
        self.store = self.run(self.stack.enter_async_context(self.opened()))

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()

    # Idempotency: a first response is compared with what a repeat gets.

    def keyed(self, request_id: str, what: str) -> tuple[IdempotencyKey | None, Any, bool]:
        """The key of a request, its first response if it is a repeat, and whether the id was used otherwise."""
        if not request_id:
            return None, None, False
        request = idempotency_key(request_id, what)
        known = self.records.get(request_id)
        if known is None or known[2] <= self.clock.now():
            return request, None, False
        return request, known[1], known[0] != what

    def keep(self, request_id: str, what: str, response: Any) -> None:
        if request_id:
            self.records[request_id] = (what, response, self.clock.now() + STORE_SETTINGS.idempotency_retention)

    def live(self, conversation_id: str) -> ModelSession | None:
        session = self.model.get(conversation_id)
        if session is not None and session.active + session.ttl <= self.clock.now():
            del self.model[conversation_id]
            return None
        return session

    # Commands

    @rule(conversation_id=conversation_ids, window=windows, ttl=ttls, request_id=request_ids)
    def create(self, conversation_id: str, window: int, ttl: timedelta, request_id: str) -> None:
        what = f"create {conversation_id} {window} {ttl}"
        request, first, is_reused = self.keyed(request_id, what)
        now = self.clock.now()
        call = self.store.create(key(conversation_id), SessionSpec(window, ttl), now=now, idempotency_key=request)
        if is_reused:
            with pytest.raises(InvalidArgument):
                self.run(call)
        elif first is not None:
            assert view(self.run(call).value) == first
        elif self.live(conversation_id) is not None:
            with pytest.raises(AlreadyExists):
                self.run(call)
        else:
            session = self.model[conversation_id] = ModelSession(window, ttl, now, now)
            assert view(self.run(call).value) == session.view()
            self.keep(request_id, what, session.view())

    @rule(conversation_id=conversation_ids)
    def get(self, conversation_id: str) -> None:
        session = self.live(conversation_id)
        call = self.store.get(key(conversation_id), now=self.clock.now())
        if session is None:
            with pytest.raises(NotFound):
                self.run(call)
        else:
            session.active = self.clock.now()
            assert view(self.run(call).value) == session.view()

    @rule(
        conversation_id=conversation_ids,
        turns=turn_lists,
        create=st.none() | st.builds(SessionSpec, windows, ttls),
        request_id=request_ids,
    )
    def append(
        self,
        conversation_id: str,
        turns: list[tuple[str, int | None]],
        create: SessionSpec | None,
        request_id: str,
    ) -> None:
        what = f"append {conversation_id} {turns} {create}"
        request, first, is_reused = self.keyed(request_id, what)
        now, session = self.clock.now(), self.live(conversation_id)
        new = [turn(interaction_id, position) for interaction_id, position in turns]
        call = self.store.append(key(conversation_id), new, create=create, now=now, idempotency_key=request)
        if is_reused:
            with pytest.raises(InvalidArgument):
                self.run(call)
            return
        if first is not None:
            appended = self.run(call).value
            assert (appended.appended_count, appended.is_created) == first
            return
        if session is None and create is None:
            with pytest.raises(NotFound):
                self.run(call)
            return
        is_created = session is None
        if session is None:
            assert create is not None
            session = self.model[conversation_id] = ModelSession(create.window_turns, create.ttl, now, now)
        counts = (session.append(turns), is_created)
        session.active = now
        appended = self.run(call).value
        assert (appended.appended_count, appended.is_created) == counts
        assert view(appended.session) == session.view()
        self.keep(request_id, what, counts)

    @rule(conversation_id=conversation_ids, ttl=st.none() | ttls, request_id=request_ids)
    def extend(self, conversation_id: str, ttl: timedelta | None, request_id: str) -> None:
        what = f"extend {conversation_id} {ttl}"
        request, first, is_reused = self.keyed(request_id, what)
        session = self.live(conversation_id)
        call = self.store.extend(key(conversation_id), ttl=ttl, now=self.clock.now(), idempotency_key=request)
        if is_reused:
            with pytest.raises(InvalidArgument):
                self.run(call)
        elif first is not None:
            assert without_turns(view(self.run(call).value)) == first
        elif session is None:
            with pytest.raises(NotFound):
                self.run(call)
        else:
            session.ttl, session.active = ttl or session.ttl, self.clock.now()
            seen = without_turns(view(self.run(call).value))
            assert seen == without_turns(session.view())
            self.keep(request_id, what, seen)

    @rule(conversation_id=conversation_ids, request_id=request_ids)
    def delete(self, conversation_id: str, request_id: str) -> None:
        what = f"delete {conversation_id}"
        request, first, is_reused = self.keyed(request_id, what)
        session = self.live(conversation_id)
        call = self.store.delete(key(conversation_id), now=self.clock.now(), idempotency_key=request)
        if is_reused:
            with pytest.raises(InvalidArgument):
                self.run(call)
        elif first is not None:
            assert without_turns(view(self.run(call).value)) == first
        elif session is None:
            with pytest.raises(NotFound):
                self.run(call)
        else:
            del self.model[conversation_id]
            seen = without_turns(view(self.run(call).value))
            assert seen == without_turns(session.view())
            self.keep(request_id, what, seen)

    @rule(seconds=st.sampled_from([1, 20, 40, 100, 240, 300]))
    def wait(self, seconds: int) -> None:
        self.clock.advance(seconds=seconds)

    @invariant()
    def lists_agree(self) -> None:
        assert self.listed(self.store) == self.expected()

    def listed(self, store: SessionStore) -> list[tuple[str, tuple[Any, ...]]]:
        response = self.run(store.list_sessions(ADA, limit=10, after=None, now=self.clock.now()))
        return [(s.key.conversation_id, without_turns(view(s))) for s in response.value]

    def expected(self) -> list[tuple[str, tuple[Any, ...]]]:
        live = [(i, s) for i in sorted(self.model) if (s := self.live(i)) is not None]
        live.sort(key=lambda entry: entry[1].active, reverse=True)
        return [(conversation_id, without_turns(session.view())) for conversation_id, session in live]


class FallbackMachine(SessionStoreMachine):
    """The same with a primary that comes and goes: callers must not notice, but for `is_degraded` of the responses."""

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[SessionStore]:
        self.primary = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
        self.line = SwitchableStore(self.primary)
        self.sleep = ManualSleep()
        memory = EmbeddedSessionStore(EmbeddedSettings(), STORE_SETTINGS)
        async with FallbackSessionStore(self.line, memory, FallbackSettings(), sleep=self.sleep) as store:
            yield store

    @rule()
    def cut(self) -> None:
        self.line.line = Line.CUT

    @rule()
    def repair(self) -> None:
        self.run(self._repair())
        assert self.listed(self.primary) == self.expected()

    async def _repair(self) -> None:
        assert isinstance(self.store, FallbackSessionStore)
        if self.store.is_degraded:
            pause = await self.sleep.next_pause()
            self.line.line = Line.UP
            pause.end()
            await self.store.wait_until_recovered()
        self.line.line = Line.UP

    @invariant()
    def degradation_is_told(self) -> None:
        assert isinstance(self.store, FallbackSessionStore)
        response = self.run(self.store.list_sessions(ADA, limit=1, after=None, now=self.clock.now()))
        assert response.is_degraded == (self.line.line is not Line.UP)


class RedisMachine(SessionStoreMachine):
    """The same on Redis."""

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[SessionStore]:
        async with redis_store(self.redis, store_settings=STORE_SETTINGS) as store:
            yield store


def check(machine: type[SessionStoreMachine], *, examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=share_of(examples),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


def test_the_embedded_store_is_like_the_model() -> None:
    check(SessionStoreMachine, examples=150)


def test_spec_1_6_the_fallback_is_like_the_model_through_outages() -> None:
    check(FallbackMachine, examples=150)


def test_redis_is_like_the_model(redis_url: str) -> None:
    RedisMachine.redis = redis_url
    check(RedisMachine, examples=40)
