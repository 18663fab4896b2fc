"""From the messages of mneme.common.internal.v1 to interactions. Pure functions."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mneme.common.internal.v1 import interactions_pb2 as pb
from services.common import convert
from services.common.errors import InvalidArgument
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, UserId
from services.common.scope import GLOBAL_SCOPE
from services.common.turns import TurnLimits
from services.common.validation import Violations


def source_interaction_from_proto(
    message: pb.SourceInteraction, field_path: str, *, now: datetime, id_chars_max: int, turn_limits: TurnLimits
) -> SourceInteraction:
    """The interaction, with `now` for a time that is not set.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named by path.
    """
    violations = Violations()
    violations.uuid(f"{field_path}.interaction_id", message.interaction_id)
    violations.identifier(f"{field_path}.user_id", message.user_id, chars_max=id_chars_max)
    violations.identifier(f"{field_path}.conversation_id", message.conversation_id, chars_max=id_chars_max)
    if message.position < 0:
        violations.add(f"{field_path}.position", "must not be negative")
    scope = GLOBAL_SCOPE
    turn = None
    try:
        scope = convert.scope_from_proto(
            message.scope, present=message.HasField("scope"), field_path=f"{field_path}.scope"
        )
    except InvalidArgument as error:
        violations.include(error)
    try:
        turn = convert.turn_from_proto(message.turn, now=now, field_path=f"{field_path}.turn", limits=turn_limits)
    except InvalidArgument as error:
        violations.include(error)
    violations.raise_if_any("the interaction is not valid")
    assert turn is not None
    return SourceInteraction(
        interaction_id=InteractionId(str(UUID(message.interaction_id))),
        user_id=UserId(message.user_id),
        conversation_id=message.conversation_id,
        position=message.position,
        turn=turn,
        scope=scope,
    )
