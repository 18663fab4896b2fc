"""Episodes, owners and places for tests of the episodic tier."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from services.common.idempotency.model import IdempotencyKey
from services.common.turns import MessageRole
from services.episodic.model import EpisodeId, NewEpisode, Owner, TenantId, UserId
from tests.support.clock import START

TENANT = TenantId("acme")
OWNER = Owner(TENANT, UserId("ann"))
SAME_NAME_ELSEWHERE = Owner(TenantId("other"), UserId("ann"))
GLOBAL = ("1",)


def episode_id(number: int) -> EpisodeId:
    return EpisodeId(UUID(int=number))


def new_episode(number: int = 1, *, owner: Owner = OWNER, **changes: Any) -> NewEpisode:
    """The episode at position `number` of a session, an hour after the one before."""
    values: dict[str, Any] = {
        "episode_id": episode_id(number),
        "owner": owner,
        "conversation_id": "s1",
        "position": number,
        "role": MessageRole.USER,
        "time": later(hours=number),
        "query": f"turn number {number}",
    }
    return NewEpisode(**{**values, **changes})


def write(request_id: str = "r", content: str = "") -> IdempotencyKey:
    """The key of a request of one principal with this content."""
    return IdempotencyKey("tester", request_id, content)


def later(*, hours: float = 0, days: float = 0) -> datetime:
    return START + timedelta(hours=hours, days=days)
