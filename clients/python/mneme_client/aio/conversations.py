"""The conversation log, and the sessions of running conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator

from mneme.gateway.v1 import conversations_pb2
from mneme.session.v1 import session_pb2
from mneme_client import from_wire, results, to_wire
from mneme_client.aio.operations import Operations
from mneme_client.calls import PAGE_SIZE_MAX, Call, read_nothing, read_page

_SERVICE = "/mneme.gateway.v1.ConversationService"
_SESSIONS = "/mneme.session.v1.SessionService"


class ConversationOperations(Operations):
    """Lists conversations and their turns, reads sessions and deletes them."""

    def list_conversations(
        self, user_id: str, *, page_size: int = PAGE_SIZE_MAX, timeout_seconds: float | None = None
    ) -> AsyncIterator[results.Conversation]:
        """All conversations of a user, the last written first; pages are fetched as they are needed."""
        request = conversations_pb2.ListConversationsRequest(user_id=user_id, page_size=page_size)
        response = conversations_pb2.ListConversationsResponse
        read = read_page("conversations", from_wire.conversation)
        return self._pages(Call(f"{_SERVICE}/ListConversations", request, response, read), timeout_seconds)

    def list_interactions(
        self,
        user_id: str,
        conversation_id: str,
        *,
        page_size: int = PAGE_SIZE_MAX,
        timeout_seconds: float | None = None,
    ) -> AsyncIterator[results.Interaction]:
        """The transcript of a conversation, oldest first; pages are fetched as they are needed."""
        request = conversations_pb2.ListInteractionsRequest(
            user_id=user_id, conversation_id=conversation_id, page_size=page_size
        )
        response = conversations_pb2.ListInteractionsResponse
        read = read_page("interactions", from_wire.interaction)
        return self._pages(Call(f"{_SERVICE}/ListInteractions", request, response, read), timeout_seconds)

    async def get_session(
        self, user_id: str, conversation_id: str, *, timeout_seconds: float | None = None
    ) -> results.SessionWindow:
        """The window of a running conversation.

        Raises:
            MnemeClientError: With NOT_FOUND when it never was, expired, or was deleted.
        """
        request = session_pb2.GetSessionRequest(user_id=user_id, conversation_id=conversation_id)
        response = session_pb2.GetSessionResponse
        call = Call(f"{_SESSIONS}/GetSession", request, response, from_wire.session_window)
        return await self._call(call, timeout_seconds)

    async def delete_session(
        self,
        user_id: str,
        conversation_id: str,
        *,
        discard: bool = False,
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> None:
        """Deletes a session. Turns that are not in the log are archived to it first.

        Args:
            user_id: Whose session.
            conversation_id: The conversation.
            discard: Do not archive turns that are not in the log.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        request = session_pb2.DeleteSessionRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            conversation_id=conversation_id,
            discard=discard,
        )
        response = session_pb2.DeleteSessionResponse
        await self._call(Call(f"{_SESSIONS}/DeleteSession", request, response, read_nothing), timeout_seconds)
