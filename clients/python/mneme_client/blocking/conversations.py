# Generated from aio/conversations.py by `make client`, not to be edited.
"""The conversation log."""

from __future__ import annotations

from collections.abc import Iterator

from mneme.gateway.v1 import conversations_pb2
from mneme_client import from_wire_turns, results
from mneme_client.blocking.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_page

_SERVICE = "/mneme.gateway.v1.ConversationService"


class ConversationOperations(Operations):
    """Lists conversations and their turns."""

    def list_conversations(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> Iterator[results.Conversation]:
        """All conversations of a user, the last written first; pages are fetched as they are needed."""
        request = conversations_pb2.ListConversationsRequest(user_id=user_id, page_size=page_size)
        response = conversations_pb2.ListConversationsResponse
        read = read_page("conversations", from_wire_turns.conversation)
        return self._pages(Call(f"{_SERVICE}/ListConversations", request, response, read), timeout_seconds)

    def list_interactions(
        self,
        user_id: str,
        conversation_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> Iterator[results.Interaction]:
        """The transcript of a conversation, oldest first; pages are fetched as they are needed."""
        request = conversations_pb2.ListInteractionsRequest(
            user_id=user_id, conversation_id=conversation_id, page_size=page_size
        )
        response = conversations_pb2.ListInteractionsResponse
        read = read_page("interactions", from_wire_turns.interaction)
        return self._pages(Call(f"{_SERVICE}/ListInteractions", request, response, read), timeout_seconds)
