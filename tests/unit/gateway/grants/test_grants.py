"""Who is granted what, and for how long it is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import grants_pb2, tiers_pb2
from services.common.convert import timestamp
from services.common.errors import InvalidArgument, StoreUnavailable
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.grants.model import (
    CreateGrant,
    Grant,
    Granted,
    GrantSettings,
    MemoryKind,
    Readers,
    RevokeGrant,
    grants_to,
)
from services.gateway.grants.requests import GrantRequestReader
from services.gateway.grants.service import Grants
from services.gateway.journal.model import Caller, Page
from services.gateway.journal.store import Cursor
from services.gateway.recall.model import CoarseResult
from services.gateway.recall.stages.quarantine import quarantine
from tests.support.clock import FakeClock
from tests.unit.gateway.tiers import NOON, fact_hit, note_hit, session_turn, uuid

CALLER = Caller("acme", "agent")
P1 = Scope(ScopeLevel.PROJECT, "p1")
P2 = Scope(ScopeLevel.PROJECT, "p2")
SESSION = Scope(ScopeLevel.SESSION, "p1", "s1")
SIBLING = Scope(ScopeLevel.SESSION, "p1", "s2")
TASK = Scope(ScopeLevel.TASK, "p1", "s1", "t1")
AGENT = Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent")
EVERYWHERE = (GLOBAL_SCOPE, P1, P2, SESSION, SIBLING, TASK, AGENT)


def grant(of: Scope, to: Scope, *, number: int = 1, **fields: Any) -> Grant:
    values = {"kinds": (), "create_time": NOON, "expire_time": None, "principal_id": "agent", **fields}
    return Grant(uuid(number), "ada", of, to, **values)


def test_spec_5_3_a_grant_is_for_readers_at_its_place_and_below() -> None:
    to_session = grant(SIBLING, SESSION)
    holders = {reader for reader in EVERYWHERE if grants_to(reader, [to_session], NOON)}
    assert holders == {SESSION, TASK}
    to_all = grant(AGENT, GLOBAL_SCOPE)  # what was isolated is made known to all who are not
    assert {reader for reader in EVERYWHERE if grants_to(reader, [to_all], NOON)} == set(EVERYWHERE) - {AGENT}


def test_spec_5_3_a_grant_is_not_passed_on() -> None:
    chain = [grant(P1, P2), grant(P2, SIBLING, number=2)]
    held = grants_to(SIBLING, chain, NOON)
    assert [item.from_scope for item in held] == [P2]


def test_spec_5_3_a_grant_ends_with_its_last_moment() -> None:
    ending = grant(P1, P2, expire_time=NOON + timedelta(seconds=1))
    assert grants_to(P2, [ending], NOON) == (ending,)
    assert grants_to(P2, [ending], NOON + timedelta(seconds=1)) == ()


def test_spec_5_3_kinds_are_opened_one_by_one() -> None:
    readers = Readers(P2, (grant(P1, P2, kinds=(MemoryKind.FACT,)), grant(SESSION, P2, number=2)))
    assert readers.granted(MemoryKind.FACT) == (P1, SESSION)
    assert readers.granted(MemoryKind.NOTE) == (SESSION,)
    assert not readers.of(MemoryKind.EPISODE).sees(P1)
    assert readers.of(MemoryKind.FACT).sees(P1)


def test_spec_5_3_quarantine_lets_pass_what_is_granted_and_nothing_else() -> None:
    result = CoarseResult(
        facts=tuple(fact_hit(scope.key, scope=scope) for scope in EVERYWHERE),
        notes=tuple(note_hit(scope.key, scope=scope) for scope in EVERYWHERE),
        recent_turns=tuple(session_turn(1, scope.key, scope=scope) for scope in EVERYWHERE),
    )
    kept = quarantine(result, Readers(P2, (grant(SESSION, P2, kinds=(MemoryKind.FACT, MemoryKind.EPISODE)),)))
    own = {GLOBAL_SCOPE.key, P2.key}
    assert {hit.fact.fact_id for hit in kept.facts} == own | {SESSION.key}
    assert {turn.turn.content for turn in kept.recent_turns} == own | {SESSION.key}
    assert {hit.note.note_id for hit in kept.notes} == own
    isolated = quarantine(result, Readers(AGENT, (grant(P1, AGENT),)))
    assert {hit.fact.fact_id for hit in isolated.facts} == {AGENT.key, P1.key}


class StoredGrants:
    """A store that counts its reads, and can be made to wait or fail."""

    def __init__(self, *grants: Grant) -> None:
        self.grants = list(grants)
        self.reads = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()
        self.error: Exception | None = None

    async def create(self, caller: Caller, command: CreateGrant) -> Granted:
        del caller
        made = grant(command.from_scope, command.to_scope, number=len(self.grants) + 1)
        self.grants.append(made)
        return Granted(made, replayed=False)

    async def revoke(self, caller: Caller, command: RevokeGrant) -> bool:
        del caller
        self.grants = [item for item in self.grants if item.grant_id != command.grant_id]
        if self.error is not None:
            raise self.error
        return False

    async def list_grants(self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None) -> Page[Grant]:
        del tenant_id, user_id, after
        return Page(tuple(self.grants[:limit]))

    async def grants_of(self, tenant_id: str, user_id: str) -> Sequence[Grant]:
        del tenant_id, user_id
        self.reads += 1
        self.asked.set()
        found = list(self.grants)
        await self.gate.wait()
        return found


class Seconds:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make(store: StoredGrants, monotonic: Seconds | None = None, clock: FakeClock | None = None) -> Grants:
    settings = GrantSettings(cache_seconds=5.0, cached_users_max=2)
    return Grants(store, clock=clock or FakeClock(NOON), settings=settings, monotonic=monotonic or Seconds())


async def test_spec_5_3_what_another_gateway_took_back_is_used_for_the_stated_time_at_most() -> None:
    store, monotonic = StoredGrants(grant(P1, P2)), Seconds()
    grants = make(store, monotonic)
    assert len(await grants.to("acme", "ada", P2)) == 1
    store.grants.clear()
    monotonic.now = 4.9
    assert len(await grants.to("acme", "ada", P2)) == 1
    monotonic.now = 5.0
    assert await grants.to("acme", "ada", P2) == ()
    assert store.reads == 2


async def test_spec_5_3_what_this_gateway_grants_and_takes_back_holds_at_once() -> None:
    store = StoredGrants()
    grants = make(store)
    assert await grants.to("acme", "ada", P2) == ()
    made = await grants.create(CALLER, CreateGrant("r1", "ada", P1, P2))
    assert await grants.to("acme", "ada", P2) == (made.grant,)
    await grants.revoke(CALLER, RevokeGrant("r2", "ada", made.grant.grant_id))
    assert await grants.to("acme", "ada", P2) == ()


async def test_spec_5_3_a_read_that_a_revocation_overtakes_is_not_remembered() -> None:
    store = StoredGrants(grant(P1, P2))
    grants = make(store)
    store.gate.clear()
    reading = asyncio.create_task(grants.to("acme", "ada", P2))
    await store.asked.wait()
    await grants.revoke(CALLER, RevokeGrant("r1", "ada", uuid(1)))
    store.gate.set()
    await reading  # began before the revocation, and may use what it saw
    assert await grants.to("acme", "ada", P2) == ()


async def test_spec_5_3_a_revocation_whose_answer_was_lost_holds() -> None:
    store = StoredGrants(grant(P1, P2))
    grants = make(store)
    await grants.to("acme", "ada", P2)
    store.error = StoreUnavailable("postgres")
    with pytest.raises(StoreUnavailable):
        await grants.revoke(CALLER, RevokeGrant("r1", "ada", uuid(1)))
    assert await grants.to("acme", "ada", P2) == ()


async def test_spec_5_3_an_expiry_holds_though_grants_are_remembered() -> None:
    clock = FakeClock(NOON)
    grants = make(StoredGrants(grant(P1, P2, expire_time=NOON + timedelta(seconds=2))), clock=clock)
    assert len(await grants.to("acme", "ada", P2)) == 1
    clock.advance(seconds=2)
    assert await grants.to("acme", "ada", P2) == ()


async def test_grants_of_few_users_are_remembered() -> None:
    store = StoredGrants()
    grants = make(store)
    for user in ("a", "b", "c", "c", "b", "a"):
        await grants.to("acme", user, P2)
    assert store.reads == 4  # the first was forgotten for the third


READER = GrantRequestReader(id_chars_max=128, page_size_default=50, page_size_max=200)


def request(**fields: Any) -> grants_pb2.CreateGrantRequest:
    project = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_PROJECT, project_id="p1")
    everywhere = common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_GLOBAL)
    return grants_pb2.CreateGrantRequest(
        **{"request_id": "r1", "user_id": "ada", "from_scope": project, "to_scope": everywhere, **fields}
    )


def test_a_request_for_a_grant_is_read() -> None:
    kinds = [tiers_pb2.MEMORY_KIND_NOTE, tiers_pb2.MEMORY_KIND_EPISODE]
    expires = NOON + timedelta(days=1)
    command = READER.create(request(kinds=kinds, expire_time=timestamp(expires)))
    wanted = CreateGrant("r1", "ada", P1, GLOBAL_SCOPE, (MemoryKind.EPISODE, MemoryKind.NOTE), expires)
    assert command == wanted
    assert READER.create(request()) == replace(wanted, kinds=(), expire_time=None)


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"request_id": ""}, "request_id"),
        ({"user_id": ""}, "user_id"),
        ({"from_scope": common_pb2.Scope()}, "from_scope.level"),
        ({"to_scope": common_pb2.Scope(level=common_pb2.SCOPE_LEVEL_TASK)}, "to_scope.task_id"),
        ({"from_scope": None}, "from_scope"),
        ({"to_scope": None}, "to_scope"),
        ({"kinds": [tiers_pb2.MEMORY_KIND_UNSPECIFIED]}, "kinds[0]"),
        ({"kinds": [tiers_pb2.MEMORY_KIND_FACT, tiers_pb2.MEMORY_KIND_FACT]}, "kinds[1]"),
        ({"expire_time": {"seconds": 9_000_000_000_000}}, "expire_time"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_with_a_grant_is_named(wrong: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        READER.create(request(**wrong))
    assert [violation.field_path for violation in caught.value.violations] == [path]


def test_what_is_wrong_with_a_revocation_is_named() -> None:
    with pytest.raises(InvalidArgument) as caught:
        READER.revoke(grants_pb2.RevokeGrantRequest(grant_id="x"))
    paths = [violation.field_path for violation in caught.value.violations]
    assert paths == ["request_id", "user_id", "grant_id"]
    with pytest.raises(InvalidArgument):
        READER.list_size(grants_pb2.ListGrantsRequest(user_id="ada", page_size=-1))


def test_spec_6_3_digests_tell_requests_apart() -> None:
    base = CreateGrant("r", "ada", P1, P2)
    others = [
        replace(base, user_id="ben"),
        replace(base, from_scope=SESSION),
        replace(base, to_scope=SESSION),
        replace(base, kinds=(MemoryKind.FACT,)),
        replace(base, expire_time=NOON),
    ]
    assert len({command.digest for command in [base, *others]}) == 6
    assert replace(base, request_id="other").digest == base.digest
