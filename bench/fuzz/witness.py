"""The other tenant: what it has stored, and whether it finds the same afterwards."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Self

from mneme_client import Client, Turn

_USER = "ada"
"""Called like one of the users that the requests name."""
_CONVERSATION = "monday"
_CALL_SECONDS = 120.0
_SETTLE_SECONDS = 600.0
_PAUSE_SECONDS = 3.0


class Witness:
    """A tenant that waits until the calls of another one are over."""

    def __init__(self, client: Client, canary: str) -> None:
        """See `of`."""
        self._client = client
        self.canary = canary
        """A word in everything that it has stored, and nowhere else."""
        self._before: Mapping[str, Sequence[str]] = {}

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, gateway: str, key: str, *, canary: str) -> AsyncIterator[Self]:
        """Store some turns with the canary, and look at what is found."""
        async with Client(gateway, key, default_timeout_seconds=_CALL_SECONDS) as client:
            made = cls(client, canary)
            await made._remember()
            made._before = await made._settled()
            yield made

    async def differences(self) -> Sequence[str]:
        """What is found otherwise than before, one line each."""
        now = await self._found()
        return [
            f"the other tenant's {name}: {len(before)} before, {len(now[name])} after, or others"
            for name, before in self._before.items()
            if sorted(before) != sorted(now[name])
        ]

    async def _remember(self) -> None:
        turns = [
            Turn(f"I live in {self.canary} and I am allergic to peanuts.", speaker="Ada"),
            Turn(f"My sister works for {self.canary} since May.", speaker="Ada"),
            Turn(f"I prefer trains to {self.canary}.", speaker="Ada"),
        ]
        written = await self._client.remember(_USER, _CONVERSATION, turns)
        await self._client.recall(_USER, "Where do I live?", consistency_token=written.consistency_token)

    async def _settled(self) -> Mapping[str, Sequence[str]]:
        """What is found once nothing more comes of the turns."""
        async with asyncio.timeout(_SETTLE_SECONDS):
            before = await self._found()
            while True:
                await asyncio.sleep(_PAUSE_SECONDS)
                now = await self._found()
                if now == before and now["facts"] and now["notes"]:
                    return now
                before = now

    async def _found(self) -> Mapping[str, Sequence[str]]:
        client = self._client
        recalled = await client.recall(_USER, f"Where is {self.canary}?", limit=10)
        return {
            "turns": [one.turn.content async for one in client.list_interactions(_USER, _CONVERSATION)],
            "recalled turns": [memory.turn.content for memory in recalled.memories],
            "facts": [fact.text async for fact in client.list_facts(_USER)],
            "notes": [note.content async for note in client.list_notes(_USER)],
        }
