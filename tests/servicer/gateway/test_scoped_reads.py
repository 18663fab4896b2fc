"""Lists and reads by id in a reader's scope, through the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import pytest

from mneme.episodic.v1 import episodic_pb2
from mneme_client import (
    Client,
    FactCategory,
    LinkType,
    MemoryKind,
    MnemeClientError,
    NoteKind,
    ProcedureKind,
    Scope,
    ScopeLevel,
    Turn,
    to_wire,
)
from tests.support.stack import Stubs, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

P1, P2 = Scope(ScopeLevel.PROJECT, "p1"), Scope(ScopeLevel.PROJECT, "p2")
AGENT = Scope(ScopeLevel.PROJECT, "p1", context_id="agent")
PLACES: dict[str, Scope | None] = {"global": None, "p1": P1, "p2": P2, "agent": AGENT}
READERS = {
    "every": (None, {"global", "p1", "p2", "agent"}),
    "global": (Scope(), {"global"}),
    "p1": (P1, {"global", "p1"}),
    "p2": (P2, {"global", "p2"}),
    "agent": (AGENT, {"agent"}),
}


async def listed(items: AsyncIterator[Any]) -> list[Any]:
    return [one async for one in items]


async def is_found(call: Awaitable[object]) -> bool:
    try:
        await call
    except MnemeClientError as error:
        if error.code is not grpc.StatusCode.NOT_FOUND:
            raise
        return False
    return True


async def check(
    ids: dict[str, str],
    listing: Callable[[Scope | None], AsyncIterator[Any]],
    id_of: Callable[[Any], str],
    get: Callable[[str, Scope | None], Awaitable[object]],
    *,
    also: frozenset[str] = frozenset(),
) -> None:
    """What each reader lists and finds by id; `also` is what was granted to p1."""
    for name, (scope, places) in READERS.items():
        seen = places | (also if name == "p1" else set())
        assert {id_of(one) for one in await listed(listing(scope))} & set(ids.values()) == {ids[one] for one in seen}
        assert {place for place, one in ids.items() if await is_found(get(one, scope))} == seen


async def test_spec_5_3_facts_are_listed_and_read_in_a_scope(client: Client, user_id: str) -> None:
    ids = {}
    for name, place in PLACES.items():
        fact = await client.create_fact(user_id, f"Ada keeps a {name} diary", FactCategory.CONTEXT, scope=place)
        ids[name] = fact.fact_id

    async def check_facts(also: frozenset[str] = frozenset()) -> None:
        await check(
            ids,
            lambda scope: client.list_facts(user_id, scope=scope, page_size=1),
            lambda fact: str(fact.fact_id),
            lambda fact_id, scope: client.get_fact(user_id, fact_id, scope=scope),
            also=also,
        )

    await check_facts()
    await client.create_grant(user_id, from_scope=P2, to_scope=P1, kinds=[MemoryKind.NOTE])
    await check_facts()
    await client.create_grant(user_id, from_scope=P2, to_scope=P1, kinds=[MemoryKind.FACT])
    await check_facts(frozenset({"p2"}))


async def test_spec_5_3_episodes_are_listed_and_read_in_a_scope(client: Client, gateway: Stubs, user_id: str) -> None:
    ids = {}
    for name, place in PLACES.items():
        written = await client.remember(user_id, "c1", [Turn(f"I like {name}.")], scope=place)
        await client.wait_until_visible(user_id, written.consistency_token)
        ids[name] = written.interactions[0].interaction_id

    async def check_episodes(also: frozenset[str] = frozenset()) -> None:
        await check(
            ids,
            lambda scope: client.list_episodes(user_id, scope=scope, page_size=1),
            lambda episode: str(episode.episode_id),
            lambda episode_id, scope: client.get_episode(user_id, episode_id, scope=scope),
            also=also,
        )
        for name, (scope, places) in READERS.items():
            asked = episodic_pb2.BatchGetEpisodesRequest(
                user_id=user_id, episode_ids=ids.values(), reader_scope=to_wire.scope(scope)
            )
            found = await gateway.episodes.BatchGetEpisodes(asked)
            seen = places | (also if name == "p1" else set())
            assert {one.episode_id for one in found.episodes} == {ids[one] for one in seen}

    await check_episodes()
    await client.create_grant(user_id, from_scope=P2, to_scope=P1)
    await check_episodes(frozenset({"p2"}))


async def test_spec_5_3_notes_and_links_are_listed_and_read_in_a_scope(client: Client, user_id: str) -> None:
    ids = {}
    for name, place in PLACES.items():
        note = await client.create_note(user_id, f"The {name} garden", NoteKind.FACT, scope=place)
        ids[name] = note.note.note_id
    for name in ("p1", "p2", "agent"):
        await client.create_link(user_id, ids["global"], ids[name], LinkType.SUPPORTS, strength=0.5)

    async def linked(scope: Scope | None) -> set[str]:
        found = await listed(client.list_links(user_id, ids["global"], type=LinkType.SUPPORTS, scope=scope))
        ends = {end for link in found for end in (link.from_note_id, link.to_note_id)}
        read = (await client.get_note(user_id, ids["global"], scope=scope)).links
        read_ends = {e for link in read if link.type is LinkType.SUPPORTS for e in (link.from_note_id, link.to_note_id)}
        assert ends == read_ends
        return {name for name, note_id in ids.items() if note_id in ends} - {"global"}

    await check(
        ids,
        lambda scope: client.list_notes(user_id, scope=scope, page_size=1),
        lambda note: str(note.note_id),
        lambda note_id, scope: client.get_note(user_id, note_id, scope=scope),
    )
    assert await linked(None) == {"p1", "p2", "agent"}
    assert await linked(P1) == {"p1"}
    assert not await is_found(listed(client.list_links(user_id, ids["p2"], scope=P1)))
    await client.create_grant(user_id, from_scope=AGENT, to_scope=P1)
    assert await linked(P1) == {"p1", "agent"}


async def test_spec_5_3_procedures_are_listed_and_read_in_a_scope(client: Client, user_id: str) -> None:
    ids = {}
    for name, place in PLACES.items():
        made = await client.create_procedure(
            user_id, ProcedureKind.QUERY_REWRITING, trigger=f"{name} kb", action="knowledge base", scope=place
        )
        ids[name] = made.procedure_id
    await client.create_grant(user_id, from_scope=P2, to_scope=P1)  # is of turns, facts and notes
    await check(
        ids,
        lambda scope: client.list_procedures(user_id, scope=scope, page_size=1),
        lambda procedure: str(procedure.procedure_id),
        lambda procedure_id, scope: client.get_procedure(user_id, procedure_id, scope=scope),
    )


async def test_spec_5_3_supersessions_are_those_of_which_both_turns_are_seen(client: Client, user_id: str) -> None:
    for number, name in enumerate(("choir", "band", "club", "crew", "team")):
        place = P2 if number % 2 else P1
        for text in (f"The {name} meets in the old mill.", f"The {name} meets in the library now."):
            written = await client.remember(user_id, f"{user_id}-{name}-{len(text)}", [Turn(text)], scope=place)
            await client.wait_until_visible(user_id, written.consistency_token)

    async def pairs(scope: Scope | None, page_size: int = 200) -> list[str]:
        found = await listed(client.list_supersessions(user_id, scope=scope, page_size=page_size))
        return [one.statement.split()[1] for one in found]

    async def is_read() -> bool:
        return len(await pairs(None)) >= 5

    await until(is_read)
    everything = await pairs(None)
    assert await pairs(Scope()) == []
    for size in (1, 2, 200):
        assert await pairs(P1, size) == [name for name in everything if name in {"choir", "club", "team"}]
        assert await pairs(P2, size) == [name for name in everything if name in {"band", "crew"}]
    await client.create_grant(user_id, from_scope=P2, to_scope=P1, kinds=[MemoryKind.EPISODE])
    assert await pairs(P1, 2) == everything
