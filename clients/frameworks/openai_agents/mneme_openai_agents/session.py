"""The session: history in the conversation log, and so memory for later conversations."""

from __future__ import annotations

from typing import Any, Final

from agents.memory import SessionABC

from mneme_client import Client, Scope
from mneme_openai_agents.items import item_of, turn_of

_TURNS_MAX: Final = 256  # of one call


class MnemeSession(SessionABC):
    """The history of one conversation of a user.

    What is added is remembered as turns: it is durable when `add_items` returns, up to 256 items all or none. Later
    conversations recall it. `pop_item` and `clear_session` erase turns together with what was derived from them alone.

    Args:
        session_id: The conversation.
        user_id: Whose memory.
        client: Of a gateway. It stays open: close it yourself.
        scope: Who may see what is added; None means everyone who reads this user's memory.
    """

    def __init__(self, session_id: str, user_id: str, client: Client, *, scope: Scope | None = None) -> None:
        self.session_id = session_id
        self._user_id = user_id
        self._client = client
        self._scope = scope

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The last `limit` items, or all, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        found = [item_of(logged.turn) async for logged in self._interactions()]
        return found if limit is None else found[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """Adds items at the end."""
        turns = [turn_of(item) for item in items]
        for start in range(0, len(turns), _TURNS_MAX):
            part = turns[start : start + _TURNS_MAX]
            await self._client.remember(self._user_id, self.session_id, part, scope=self._scope)

    async def pop_item(self) -> Any | None:
        """Erases the last item and returns it; None where there is none."""
        last = None
        async for logged in self._interactions():
            last = logged
        if last is None:
            return None
        await self._client.erase_memories(self._user_id, [last.interaction_id])
        return item_of(last.turn)

    async def clear_session(self) -> None:
        """Erases the conversation."""
        await self._client.erase_conversation(self._user_id, self.session_id)

    def _interactions(self) -> Any:
        return self._client.list_interactions(self._user_id, self.session_id)
