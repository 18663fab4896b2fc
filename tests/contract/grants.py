"""What every driver of the store of grants must do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.common.errors import InvalidArgument, LimitExceeded, NotFound, Reason
from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.gateway.grants.model import CreateGrant, Grant, GrantSettings, MemoryKind, RevokeGrant
from services.gateway.grants.store import GrantStore
from services.gateway.journal.model import Caller
from tests.support.clock import FakeClock

ACME = Caller("acme", "agent")
OTHER = Caller("other", "agent")
P1 = Scope(ScopeLevel.PROJECT, "p1")
P2 = Scope(ScopeLevel.PROJECT, "p2")
AGENT = Scope(ScopeLevel.SESSION, "p1", "s1", context_id="agent")
GRANTS_MAX = 4
SETTINGS = GrantSettings(grants_per_user_max=GRANTS_MAX)


def new(request_id: str, *, reads: Scope = P2, user: str = "ada", **fields: object) -> CreateGrant:
    return CreateGrant(request_id, user, P1, reads, **fields)  # type: ignore[arg-type]


async def ids_of(store: GrantStore, caller: Caller = ACME, user: str = "ada") -> list[str]:
    return [grant.grant_id for grant in await store.grants_of(caller.tenant_id, user)]


class GrantStoreContract:
    """Subclass it with fixtures `grants` (of `SETTINGS`) and `clock`."""

    async def test_spec_5_3_a_grant_is_read_as_it_was_made(self, grants: GrantStore, clock: FakeClock) -> None:
        expires = clock.now() + timedelta(hours=1)
        kinds = (MemoryKind.EPISODE, MemoryKind.NOTE)
        made = await grants.create(ACME, new("r1", reads=AGENT, kinds=kinds, expire_time=expires))
        grant = made.grant
        assert not made.replayed
        assert grant == Grant(grant.grant_id, "ada", P1, AGENT, kinds, clock.now(), expires, "agent")
        assert await grants.grants_of("acme", "ada") == [grant]
        assert (await grants.list_grants("acme", "ada", limit=10, after=None)).items == (grant,)
        forever = (await grants.create(ACME, CreateGrant("r2", "ada", GLOBAL_SCOPE, P1))).grant
        assert (forever.kinds, forever.expire_time) == ((), None)
        assert await grants.grants_of("acme", "ada") == [grant, forever]

    async def test_spec_5_3_between_two_places_there_is_one_grant(self, grants: GrantStore, clock: FakeClock) -> None:
        first = (await grants.create(ACME, new("r1", expire_time=clock.now() + timedelta(hours=1)))).grant
        clock.advance(seconds=60)
        second = (await grants.create(ACME, new("r2", kinds=(MemoryKind.FACT,)))).grant
        assert second == replace(first, kinds=(MemoryKind.FACT,), expire_time=None, create_time=clock.now())
        assert await grants.grants_of("acme", "ada") == [second]
        other_way = (await grants.create(ACME, CreateGrant("r3", "ada", P2, P1))).grant
        assert other_way.grant_id != second.grant_id

    async def test_spec_6_3_a_repeat_returns_the_first_answer(self, grants: GrantStore, clock: FakeClock) -> None:
        expires = clock.now() + timedelta(hours=1)
        made = await grants.create(ACME, new("r1", kinds=(MemoryKind.FACT,), expire_time=expires))
        await grants.revoke(ACME, RevokeGrant("r2", "ada", made.grant.grant_id))
        again = await grants.create(ACME, new("r1", kinds=(MemoryKind.FACT,), expire_time=expires))
        assert again == replace(made, replayed=True)
        assert await ids_of(grants) == []  # and makes no grant anew
        assert await grants.revoke(ACME, RevokeGrant("r2", "ada", made.grant.grant_id))

    async def test_spec_6_3_a_repeat_behind_the_end_of_the_grant_returns_the_first_answer(
        self, grants: GrantStore, clock: FakeClock
    ) -> None:
        command = new("r1", expire_time=clock.now() + timedelta(seconds=10))
        made = await grants.create(ACME, command)
        clock.advance(seconds=10)
        assert await grants.create(ACME, command) == replace(made, replayed=True)
        with pytest.raises(InvalidArgument) as caught:
            await grants.create(ACME, replace(command, request_id="r2"))
        assert [violation.field_path for violation in caught.value.violations] == ["expire_time"]
        assert await ids_of(grants) == []

    async def test_spec_6_3_a_request_id_with_another_content_is_refused(self, grants: GrantStore) -> None:
        made = await grants.create(ACME, new("r1"))
        with pytest.raises(InvalidArgument) as caught:
            await grants.create(ACME, new("r1", kinds=(MemoryKind.FACT,)))
        assert caught.value.reason is Reason.REQUEST_ID_REUSED
        other = await grants.create(ACME, new("r2", reads=AGENT))
        await grants.revoke(ACME, RevokeGrant("r3", "ada", made.grant.grant_id))
        with pytest.raises(InvalidArgument):
            await grants.revoke(ACME, RevokeGrant("r3", "ada", other.grant.grant_id))
        assert await ids_of(grants) == [other.grant.grant_id]

    async def test_spec_6_3_concurrent_repeats_make_one_grant(self, grants: GrantStore) -> None:
        made = await asyncio.gather(*(grants.create(ACME, new("r1")) for _ in range(6)))
        assert len({granted.grant.grant_id for granted in made}) == 1
        assert sum(not granted.replayed for granted in made) == 1

    async def test_spec_5_3_a_revoked_grant_is_gone(self, grants: GrantStore) -> None:
        made = await grants.create(ACME, new("r1"))
        assert not await grants.revoke(ACME, RevokeGrant("r2", "ada", made.grant.grant_id))
        assert await ids_of(grants) == []
        assert (await grants.list_grants("acme", "ada", limit=10, after=None)).items == ()
        with pytest.raises(NotFound):
            await grants.revoke(ACME, RevokeGrant("r3", "ada", made.grant.grant_id))

    async def test_spec_5_3_a_grant_ends_at_its_time(self, grants: GrantStore, clock: FakeClock) -> None:
        made = await grants.create(ACME, new("r1", expire_time=clock.now() + timedelta(seconds=10)))
        clock.advance(seconds=9)
        assert await ids_of(grants) == [made.grant.grant_id]
        clock.advance(seconds=1)
        assert await ids_of(grants) == []
        assert (await grants.list_grants("acme", "ada", limit=10, after=None)).items == ()
        with pytest.raises(NotFound):
            await grants.revoke(ACME, RevokeGrant("r2", "ada", made.grant.grant_id))

    async def test_spec_7_1_grants_of_other_tenants_and_users_are_not_reached(self, grants: GrantStore) -> None:
        made = await grants.create(ACME, new("r1"))
        for caller, user in [(OTHER, "ada"), (ACME, "ben")]:
            assert await ids_of(grants, caller, user) == []
            assert (await grants.list_grants(caller.tenant_id, user, limit=10, after=None)).items == ()
            with pytest.raises(NotFound):
                await grants.revoke(caller, RevokeGrant("r2", user, made.grant.grant_id))
        assert await ids_of(grants) == [made.grant.grant_id]

    async def test_a_list_has_pages(self, grants: GrantStore) -> None:
        places = [Scope(ScopeLevel.PROJECT, f"to{number}") for number in range(GRANTS_MAX)]
        made = [(await grants.create(ACME, new(f"r{n}", reads=place))).grant for n, place in enumerate(places)]
        first = await grants.list_grants("acme", "ada", limit=3, after=None)
        rest = await grants.list_grants("acme", "ada", limit=3, after=first.next_cursor)
        assert [*first.items, *rest.items] == made
        assert first.next_cursor is not None
        assert rest.next_cursor is None

    async def test_the_number_of_a_users_grants_is_limited(self, grants: GrantStore, clock: FakeClock) -> None:
        expires = clock.now() + timedelta(seconds=10)
        commands = [
            new(f"r{n}", reads=Scope(ScopeLevel.PROJECT, f"to{n}"), expire_time=expires) for n in range(GRANTS_MAX + 3)
        ]
        outcomes = await asyncio.gather(*(grants.create(ACME, command) for command in commands), return_exceptions=True)
        refused = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        assert len(refused) == 3
        assert all(isinstance(outcome, LimitExceeded) for outcome in refused)
        kept = next(command for command, outcome in zip(commands, outcomes, strict=True) if outcome not in refused)
        await grants.create(ACME, replace(kept, request_id="again"))  # replaces, and so adds none
        await grants.create(ACME, new("ben", user="ben"))
        clock.advance(seconds=10)  # all have expired
        await grants.create(ACME, new("later"))
        assert len(await ids_of(grants)) == 1
