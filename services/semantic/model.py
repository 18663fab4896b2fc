"""What the subjects of the semantic tier share. Pure data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Turn

TenantId = NewType("TenantId", str)
UserId = NewType("UserId", str)
InteractionId = NewType("InteractionId", str)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory: every read and write names it, and sees nothing of any other."""

    tenant_id: TenantId
    user_id: UserId


@dataclass(frozen=True, slots=True)
class SourceInteraction:
    """An interaction to learn from."""

    interaction_id: InteractionId
    user_id: UserId
    conversation_id: str
    position: int  # place in the conversation, from 0
    turn: Turn
    scope: Scope = GLOBAL_SCOPE


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Who asked for a change under which id, and a digest of what was asked."""

    principal_id: str
    request_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """The first answer to a request, for its repeats."""

    request: RequestKey
    answer: str
    create_time: datetime  # aware, UTC
