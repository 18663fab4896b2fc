"""Sessions and turns for tests of the session store, and what its contract's parts share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from services.common.idempotency.model import IdempotencyKey
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.turns import MessageRole, Turn
from services.session.config import StoreSettings
from services.session.model import Appended, ConversationId, NewTurn, Session, SessionKey, SessionSpec
from services.session.store import SessionStore
from tests.support.clock import FakeClock

STORE_SETTINGS = StoreSettings(remembered_turns=20, events_max=30, idempotency_retention=timedelta(hours=1))
"""What a driver under the contract is configured with."""

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SPEC = SessionSpec(window_turns=10, ttl=timedelta(seconds=3600))
ADA = Owner(TenantId("acme"), UserId("ada"))


def key(conversation_id: str = "s1", owner: Owner = ADA) -> SessionKey:
    return SessionKey(owner, ConversationId(conversation_id))


def turn(interaction_id: str, position: int | None = None, *, content: str = "") -> NewTurn:
    said = Turn(role=MessageRole.USER, content=content or f"said in {interaction_id}", time=NOON)
    return NewTurn(interaction_id=InteractionId(interaction_id), position=position, turn=said, token_count=3)


def idempotency_key(request_id: str, digest: str = "f", principal: str = "agent") -> IdempotencyKey:
    return IdempotencyKey(principal, request_id, digest)


def ids(session: Session) -> list[str]:
    return [t.interaction_id for t in session.turns]


class SessionStoreTests:
    """Subclass it with a fixture `store`: a fresh driver with `STORE_SETTINGS`."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @staticmethod
    async def append(
        store: SessionStore,
        clock: FakeClock,
        turns: Sequence[NewTurn],
        *,
        at: SessionKey | None = None,
        create: SessionSpec | None = SPEC,
        request: IdempotencyKey | None = None,
    ) -> Appended:
        response = await store.append(at or key(), turns, create=create, now=clock.now(), idempotency_key=request)
        return response.value
