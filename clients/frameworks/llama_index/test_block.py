"""The block in LlamaIndex's own Memory, against a running gateway at MNEME_TARGET."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock
from llama_index.core.memory import InsertMethod, Memory
from mneme_llama_index import MnemeMemoryBlock

from mneme_client import Client

KEY = "The spare key is under the blue flower pot."


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(os.environ["MNEME_TARGET"]) as opened:
        yield opened


@pytest.fixture
def user_id() -> str:
    return f"llama-{uuid.uuid4().hex[:8]}"


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def tokens(text: str) -> list[str]:
    """A tokenizer that needs no file."""
    return text.split()


def memory_with(block: MnemeMemoryBlock, *, token_limit: int = 400, **fields: object) -> Memory:
    """A memory whose short term holds some 20 words."""
    return Memory.from_defaults(
        token_limit=token_limit,
        token_flush_size=10,
        chat_history_token_ratio=20 / token_limit,
        memory_blocks=[block],
        tokenizer_fn=tokens,
        session_id=uuid.uuid4().hex,
        **fields,
    )


async def test_what_leaves_the_short_term_memory_is_in_the_prompt_again(client: Client, user_id: str) -> None:
    memory = memory_with(MnemeMemoryBlock(client=client, user_id=user_id))
    await memory.aput(user(KEY))
    await memory.aput(ChatMessage(role="assistant", content="I will remember the key under the blue pot."))
    for number in range(4):
        await memory.aput(user(f"Here is filler sentence number {number} about the weather of the week."))
    await memory.aput(user("Where is the spare key?"))
    messages = await memory.aget()
    assert KEY not in [message.content for message in messages]
    assert messages[0].role is MessageRole.SYSTEM
    assert KEY in (messages[0].content or "")
    logged = [one.turn.content async for one in client.list_interactions(user_id, memory.session_id)]
    assert logged[0] == KEY


async def test_a_later_session_recalls_an_earlier_one(client: Client, user_id: str) -> None:
    earlier = MnemeMemoryBlock(client=client, user_id=user_id)
    await earlier.aput([user(KEY)], from_short_term_memory=True, session_id="monday")
    token = (await client.remember(user_id, "other", "Something else.")).consistency_token
    await client.wait_until_visible(user_id, token)
    later = memory_with(MnemeMemoryBlock(client=client, user_id=user_id), insert_method=InsertMethod.USER)
    messages = await later.aget(input="Where is the spare key?")
    assert KEY in str([message.content for message in messages])
    other = MnemeMemoryBlock(client=client, user_id=f"{user_id}-other")
    assert KEY not in await other.aget([user("Where is the spare key?")])


async def test_only_what_was_said_is_remembered(client: Client, user_id: str) -> None:
    block = MnemeMemoryBlock(client=client, user_id=user_id)
    await block.aput(
        [
            ChatMessage(role="system", content="Be brief."),
            ChatMessage(
                role="user", blocks=[TextBlock(text="Look at this:"), ImageBlock(url="https://x.example/a.png")]
            ),
            ChatMessage(role="user", blocks=[ImageBlock(url="https://x.example/b.png")]),
            ChatMessage(role="tool", content="22 °C"),
        ]
    )
    logged = [one.turn async for one in client.list_interactions(user_id, "llama-index")]
    assert [turn.content for turn in logged] == ["Look at this:", "22 °C"]
    closed = MnemeMemoryBlock(client=client, user_id=user_id, accept_short_term_memory=False)
    await closed.aput([user("Not for the memory.")], from_short_term_memory=True, session_id="s")
    assert [one async for one in client.list_interactions(user_id, "s")] == []


async def test_without_a_question_there_is_no_context(client: Client, user_id: str) -> None:
    block = MnemeMemoryBlock(client=client, user_id=user_id)
    for messages in (None, [], [ChatMessage(role="assistant", content="Hello.")], [user(" ")]):
        assert await block.aget(messages) == ""


async def test_a_block_is_cut_to_what_the_memory_has_left(client: Client, user_id: str) -> None:
    block = MnemeMemoryBlock(client=client, user_id=user_id, priority=1)
    said = [f"Item {n} of the packing list is a rope of {n} metres." for n in range(12)]
    await block.aput([user(text) for text in said])
    whole = await block.aget([user("What is on the packing list?")])
    cut = await block.atruncate(whole, 60)
    assert cut is not None
    assert whole.startswith(cut)
    assert len(cut) < len(whole)
    assert await block.atruncate(whole, 100_000) is await block.atruncate("", 10) is None
    assert await block.atruncate(whole, 0) == whole.rstrip()
    memory = memory_with(block, token_limit=80)
    messages = await memory.aget(input="What is on the packing list?")
    assert sum(len(tokens(message.content or "")) for message in messages) <= 80
