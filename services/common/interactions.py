"""Interactions as the gateway hands them to the tiers that derive memories from them. Pure data."""

from __future__ import annotations

from dataclasses import dataclass

from services.common.owners import InteractionId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope
from services.common.turns import Turn


@dataclass(frozen=True, slots=True)
class SourceInteraction:
    """An interaction to derive memories from."""

    interaction_id: InteractionId
    user_id: UserId
    conversation_id: str
    position: int  # place in the conversation, from 0
    turn: Turn
    scope: Scope = GLOBAL_SCOPE  # of what is derived
