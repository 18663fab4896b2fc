"""Fills a store with synthetic memories: many users, and one who owns a tenth."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from bench.common import BenchError
from bench.gateway import Gateway
from bench.texts import SyntheticTurn, TextSource
from mneme.common.v1 import common_pb2
from mneme.gateway.v1 import memory_pb2

MAIN_USER: Final = "user-main"
"""The user who owns a tenth and asks the questions."""
OTHER_USERS: Final = 20
_TURNS_IN_CONVERSATION: Final = 40
_ITEMS_IN_BATCH: Final = 20
_BATCHES_AT_ONCE: Final = 2
_TURNS_WAITING_MAX: Final = 10_000
"""Turns that wait for their deliveries: the gateway takes 100,000 deliveries of a tenant, some for each turn."""
_FIRST_DAY: Final = datetime(2025, 1, 6, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """One conversation to be stored."""

    user_id: str
    conversation_id: str
    start: datetime
    turns: tuple[SyntheticTurn, ...]


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """How long the loading took."""

    turns: int
    acknowledge_seconds: float
    index_seconds: float


def conversations_of(size: int, *, seed: int) -> Iterator[StoredConversation]:
    """Conversations with `size` turns in all, users mixed as they would come in; a tenth is the main user's."""
    texts = TextSource(seed)
    owners = random.Random(seed)
    remaining = {MAIN_USER: size // 10}
    for number in range(OTHER_USERS):
        share = (size - size // 10) // OTHER_USERS
        rest = (size - size // 10) % OTHER_USERS if number == 0 else 0
        remaining[f"user-{number:02}"] = share + rest
    number = 0
    while pending := [user_id for user_id, count in remaining.items() if count > 0]:
        user_id = owners.choice(pending)
        count = min(_TURNS_IN_CONVERSATION, remaining[user_id])
        remaining[user_id] -= count
        number += 1
        yield StoredConversation(
            user_id=user_id,
            conversation_id=f"conversation-{number}",
            start=_FIRST_DAY + number * timedelta(hours=1),
            turns=tuple(texts.turns(count)),
        )


async def load_through_gateway(gateway: Gateway, size: int, *, seed: int) -> LoadTimes:
    """Load by RememberBatch, as an application would, and wait until all is indexed."""
    return await remember_conversations(gateway, conversations_of(size, seed=seed))


async def remember_conversations(gateway: Gateway, conversations: Iterable[StoredConversation]) -> LoadTimes:
    """The same with other conversations, in parts that the gateway takes in at once."""
    started = time.perf_counter()
    turns, acknowledge_seconds = 0, 0.0
    last: dict[str, str] = {}

    async def write(batches: Iterator[Sequence[memory_pb2.RememberRequest]]) -> None:
        for batch in batches:
            for item, response in zip(batch, await gateway.remember_batch(batch), strict=True):
                last[item.user_id] = response.consistency_token

    for part in _parts(conversations):
        begun = time.perf_counter()
        batches = _batched(map(_remember_request, part))
        await asyncio.gather(*[write(batches) for _ in range(_BATCHES_AT_ONCE)])
        acknowledge_seconds += time.perf_counter() - begun
        turns += sum(len(conversation.turns) for conversation in part)
        backlog = await gateway.wait_delivered()
        if backlog.dead:
            raise BenchError(f"{backlog.dead} deliveries were given up while loading")
    for user_id, token in last.items():
        await gateway.wait_visible(user_id, token)
    return LoadTimes(turns, acknowledge_seconds, time.perf_counter() - started)


def _parts(conversations: Iterable[StoredConversation]) -> Iterator[list[StoredConversation]]:
    """Conversations with up to `_TURNS_WAITING_MAX` turns together."""
    part: list[StoredConversation] = []
    for conversation in conversations:
        if sum(len(one.turns) for one in part) + len(conversation.turns) > _TURNS_WAITING_MAX:
            yield part
            part = []
        part.append(conversation)
    if part:
        yield part


def _remember_request(conversation: StoredConversation) -> memory_pb2.RememberRequest:
    request = memory_pb2.RememberRequest(
        request_id=f"load/{conversation.conversation_id}",
        user_id=conversation.user_id,
        conversation_id=conversation.conversation_id,
    )
    for position, turn in enumerate(conversation.turns):
        message = request.turns.add(role=common_pb2.MESSAGE_ROLE_USER, speaker=turn.speaker, content=turn.text)
        message.time.FromDatetime(conversation.start + position * timedelta(seconds=20))
    return request


def _batched(items: Iterator[memory_pb2.RememberRequest]) -> Iterator[Sequence[memory_pb2.RememberRequest]]:
    batch: list[memory_pb2.RememberRequest] = []
    for item in items:
        batch.append(item)
        if len(batch) == _ITEMS_IN_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
