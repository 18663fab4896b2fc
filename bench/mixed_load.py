"""A mixed load at an even pace by the client library, which notes every call that failed after its repeats."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from bench.texts import TextSource
from mneme_client import Client, MnemeClientError

_CALL_SECONDS: Final = 30.0
_USERS: Final = 6
_WORDS: Final = 8


@dataclass
class MixedLoad:
    """What callers did and saw: 60 % Recall, 25 % Remember, 15 % lists of conversations."""

    target: str
    per_second: float
    seed: int = 1
    calls: int = 0
    degraded: int = 0
    failures: list[str] = field(default_factory=list)
    """Status and method of calls that failed for good."""
    seconds: list[float] = field(default_factory=list)
    """Duration of each call, repeats included."""
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    """Text of each acknowledged turn by user and conversation."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Client]:
        """Makes calls for the length of the block, and waits for those that are under way."""
        async with Client(self.target, default_timeout_seconds=_CALL_SECONDS) as client:
            stopped = asyncio.Event()
            loading = asyncio.create_task(self._run(client, stopped))
            try:
                yield client
            finally:
                stopped.set()
                await loading

    async def _run(self, client: Client, stopped: asyncio.Event) -> None:
        choices, texts = random.Random(self.seed), TextSource(self.seed)
        begin = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in itertools.count():
                delay = begin + number / self.per_second - time.perf_counter()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopped.wait(), max(0.0, delay))
                if stopped.is_set():
                    return
                user, kind = f"user-{number % _USERS}", choices.random()
                group.create_task(self._call(client, user, f"{user}-{self.seed}-{number}", texts.turn().text, kind))

    async def _call(self, client: Client, user: str, conversation: str, text: str, kind: float) -> None:
        begin = time.perf_counter()
        self.calls += 1
        try:
            if kind < 0.25:
                await client.remember(user, conversation, text)
                self.acknowledged[user, conversation] = text
            elif kind < 0.40:
                async for _ in client.list_conversations(user):
                    break
            else:
                found = await client.recall(user, " ".join(text.split()[:_WORDS]))
                self.degraded += found.degraded
        except MnemeClientError as error:
            self.failures.append(f"{error.code.name} {error.reason} {error.method} {error.message}")
        self.seconds.append(time.perf_counter() - begin)
