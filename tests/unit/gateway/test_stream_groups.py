"""Items of a stream share commits: a group is closed when it is full or when nothing more comes for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from services.common.errors import InvalidArgument, MnemeError
from services.gateway.journal.model import RememberCommand
from services.gateway.remembering import RememberSettings, _grouped
from tests.unit.gateway.tiers import interaction

Item = RememberCommand | MnemeError

TURN = interaction(1).turn
QUICK = RememberSettings(stream_group_turns=4, stream_group_seconds=0.01)
PATIENT = RememberSettings(stream_group_turns=4, stream_group_seconds=30.0)


def command(name: str, turns: int = 1) -> RememberCommand:
    return RememberCommand("ada", name, (TURN,) * turns)


async def stream(*items: Item) -> AsyncIterator[Item]:
    for item in items:
        yield item


def names(groups: Sequence[Sequence[Item]]) -> list[list[str]]:
    return [[item.conversation_id if isinstance(item, RememberCommand) else "!" for item in group] for group in groups]


async def groups_of(items: AsyncIterator[Item], settings: RememberSettings = PATIENT) -> list[list[str]]:
    return names([group async for group in _grouped(items, settings)])


async def test_a_stream_that_ends_at_once_has_no_group() -> None:
    assert await groups_of(stream()) == []


async def test_a_full_group_is_closed() -> None:
    assert await groups_of(stream(*(command(c) for c in "abcdefghi"))) == [list("abcd"), list("efgh"), ["i"]]


async def test_turns_are_counted_and_no_item_is_split() -> None:
    items = (command("a", 3), command("b", 3), command("c", 1), command("d", 9), command("e"))
    assert await groups_of(stream(*items)) == [["a", "b"], ["c", "d"], ["e"]]


async def test_refused_items_keep_their_place() -> None:
    items = (command("a"), InvalidArgument("no"), command("b"), InvalidArgument("no"), InvalidArgument("no"))
    assert await groups_of(stream(*items)) == [["a", "!", "b", "!"], ["!"]]


async def test_spec_6_1_what_has_come_is_written_while_the_stream_is_quiet() -> None:
    quiet = asyncio.Event()

    async def slow() -> AsyncIterator[Item]:
        yield command("a")
        yield command("b")
        await quiet.wait()
        yield command("c")

    groups = _grouped(slow(), QUICK)
    async with asyncio.timeout(5.0):
        first = await anext(groups)
        quiet.set()
        rest = [group async for group in groups]
    assert names([first, *rest]) == [["a", "b"], ["c"]]


async def test_a_stream_that_breaks_raises_what_broke_it() -> None:
    async def broken() -> AsyncIterator[Item]:
        yield command("a")
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await groups_of(broken())


async def test_the_reading_of_a_stream_ends_with_its_groups() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[Item]:
        try:
            yield command("a")
            await asyncio.Event().wait()
        finally:
            ended.set()

    groups = _grouped(endless(), QUICK)
    assert names([await anext(groups)]) == [["a"]]
    await groups.aclose()
    async with asyncio.timeout(5.0):
        await ended.wait()
