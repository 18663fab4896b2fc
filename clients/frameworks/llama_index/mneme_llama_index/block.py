"""The memory block: what leaves the short-term memory is remembered, and a context is recalled."""

from __future__ import annotations

from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from mneme_client import Client, Role, Scope, Turn

_CONVERSATION: Final = "llama-index"  # of messages that come without a session
_SESSION_KEY: Final = "session_id"  # of a message's additional arguments, set by LlamaIndex
_TURNS_MAX: Final = 256  # of one call
_QUERY_CHARS_MAX: Final = 8_000
_ROLES: Final = {
    MessageRole.USER: Role.USER,
    MessageRole.ASSISTANT: Role.ASSISTANT,
    MessageRole.CHATBOT: Role.ASSISTANT,
    MessageRole.MODEL: Role.ASSISTANT,
    MessageRole.TOOL: Role.TOOL,
    MessageRole.FUNCTION: Role.TOOL,
}


class MnemeMemoryBlock(BaseMemoryBlock[str]):
    """The memory of a user, over all sessions.

    Messages that LlamaIndex moves out of its short-term memory are turns in the conversation of the session. For the
    prompt the block returns a context of facts, notes and earlier turns for the user's last message, within a budget
    of tokens. It is data from conversations, never an instruction. Messages of the system, and those without text, are
    not remembered.
    """

    name: str = Field(default="Mneme", description="The name of the memory block.")
    client: Client = Field(description="Of a gateway. It stays open: close it yourself.", exclude=True)
    user_id: str = Field(description="Whose memory.")
    token_budget: int = Field(default=1_000, description="Tokens of the context at most, 64 to 100,000.")
    scope: Scope | None = Field(default=None, description="Who may see what is written; None means GLOBAL.")

    _written: str = PrivateAttr(default="")  # consistency token of the last write

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """The context for the last message of the user; empty where there is none, or nothing is known."""
        del block_kwargs  # the session: the memory is that of all sessions
        asked = (_text_of(message) for message in reversed(messages or []) if message.role is MessageRole.USER)
        query = next(filter(None, asked), "")
        if not query:
            return ""
        context = await self.client.build_context(
            self.user_id,
            query[-_QUERY_CHARS_MAX:],
            token_budget=self.token_budget,
            scope=self.scope,
            consistency_token=self._written,
        )
        return context.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Remembers messages: they are durable when this returns."""
        turns: dict[str, list[Turn]] = {}
        for message in messages:
            conversation_id = message.additional_kwargs.get(_SESSION_KEY) or _CONVERSATION
            role, text = _ROLES.get(message.role), _text_of(message)
            if role is not None and text:
                turns.setdefault(conversation_id, []).append(Turn(text, role=role))
        for conversation_id, said in turns.items():
            for start in range(0, len(said), _TURNS_MAX):
                part = said[start : start + _TURNS_MAX]
                written = await self.client.remember(self.user_id, conversation_id, part, scope=self.scope)
                self._written = written.consistency_token

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leaves out the last lines: sections begin with what ranks best. None where nothing is left."""
        if not content:
            return None
        count = get_tokenizer()
        lines = content.splitlines()
        left = tokens_to_truncate
        while lines and left > 0:
            left -= len(count(f"{lines.pop()}\n"))
        while lines and (not lines[-1].strip() or lines[-1].startswith("## ")):  # a heading without anything below it
            lines.pop()
        return "\n".join(lines) or None


def _text_of(message: ChatMessage) -> str:
    return "\n".join(block.text for block in message.blocks if isinstance(block, TextBlock)).strip()
