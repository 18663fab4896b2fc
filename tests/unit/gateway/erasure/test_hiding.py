"""Who is hidden while being erased."""

from __future__ import annotations

import asyncio

from mneme.semantic.v1.facts_pb2 import GetFactRequest
from services.gateway.erasure.hiding import ErasedUsers
from services.gateway.erasure.model import Target, TargetKind
from services.gateway.wrapping import read_message


class Pending:
    """Erasures that are not done; a reading of all waits until `go` is set."""

    def __init__(self) -> None:
        self.owners: set[tuple[str, str]] = set()
        self.go = asyncio.Event()
        self.asked = 0

    async def pending_owners(self) -> set[tuple[str, str]]:
        found = set(self.owners)
        await self.go.wait()
        return found

    async def is_pending(self, tenant_id: str, user_id: str) -> bool:
        self.asked += 1
        return bool(self.owners & {(tenant_id, user_id), (tenant_id, "")})


async def test_spec_6_6_a_user_who_is_erased_while_others_are_looked_for_stays_hidden() -> None:
    store = Pending()
    erased = ErasedUsers(store)
    reading = asyncio.create_task(erased.refresh())
    await asyncio.sleep(0)  # it has read that nobody is erased
    store.owners.add(("t", "ada"))
    erased.add("t", Target(TargetKind.USER, "ada"))
    store.go.set()
    await reading
    assert await erased.hides("t", "ada")
    assert not await erased.hides("t", "ben")
    assert not await erased.hides("u", "ada")


async def test_spec_6_6_users_whom_another_gateway_erases_and_all_of_a_tenant_are_hidden() -> None:
    store = Pending()
    store.go.set()
    store.owners |= {("t", "ada"), ("u", "")}
    erased = ErasedUsers(store)
    await erased.refresh()
    assert await erased.hides("t", "ada")
    assert await erased.hides("u", "anybody")
    store.owners.clear()
    assert not await erased.hides("t", "ada")
    asked = store.asked
    assert not await erased.hides("t", "ada")
    assert store.asked == asked, "nobody is asked about users who are not erased"


async def test_an_erasure_of_a_part_hides_nobody() -> None:
    store = Pending()
    erased = ErasedUsers(store)
    store.owners.add(("t", "ada"))
    erased.add("t", Target(TargetKind.CONVERSATION, "ada", conversation_id="c1"))
    assert not await erased.hides("t", "ada")


async def test_spec_6_6_what_is_no_user_id_is_left_to_the_service_that_refuses_it() -> None:
    store = Pending()
    erased = ErasedUsers(store)
    store.owners.add(("t", ""))
    erased.add("t", Target(TargetKind.TENANT))
    assert not await erased.hides("t", "a\x00b")
    assert store.asked == 0
    assert await erased.hides("t", "ada")


def test_bytes_that_are_no_message_are_read_as_none() -> None:
    assert read_message(b"\x0a\x20ada", GetFactRequest) is None
    assert read_message(GetFactRequest(user_id="ada").SerializeToString(), GetFactRequest) == GetFactRequest(
        user_id="ada"
    )
