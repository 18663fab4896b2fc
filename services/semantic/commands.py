"""What the requests of the tier's services have in common. Pure functions; they check form, never state."""

from __future__ import annotations

import hashlib
from datetime import datetime
from uuid import UUID

from google.protobuf.message import Message

from mneme.semantic.v1 import facts_pb2 as pb
from services.common import convert as common
from services.common.auth import Principal
from services.common.errors import InvalidArgument
from services.common.scope import GLOBAL_SCOPE
from services.common.turns import TurnLimits
from services.common.validation import Violations
from services.semantic.model import InteractionId, Owner, RequestKey, SourceInteraction, TenantId, UserId


def source_interaction(
    message: pb.SourceInteraction, path: str, *, now: datetime, id_chars_max: int, turn_limits: TurnLimits
) -> SourceInteraction:
    """An interaction to learn from, with `now` for a time that is not set.

    Raises:
        InvalidArgument: A field is missing, malformed or over its limit; all of them are named by path.
    """
    v = Violations()
    v.uuid(f"{path}.interaction_id", message.interaction_id)
    v.identifier(f"{path}.user_id", message.user_id, chars_max=id_chars_max)
    v.identifier(f"{path}.conversation_id", message.conversation_id, chars_max=id_chars_max)
    if message.position < 0:
        v.add(f"{path}.position", "must not be negative")
    scope = GLOBAL_SCOPE
    turn = None
    try:
        scope = common.scope_from_proto(message.scope, present=message.HasField("scope"), field_path=f"{path}.scope")
    except InvalidArgument as error:
        v.include(error)
    try:
        turn = common.turn_from_proto(message.turn, now=now, field_path=f"{path}.turn", limits=turn_limits)
    except InvalidArgument as error:
        v.include(error)
    v.raise_if_any("the interaction is not valid")
    assert turn is not None
    return SourceInteraction(
        interaction_id=InteractionId(str(UUID(message.interaction_id))),
        user_id=UserId(message.user_id),
        conversation_id=message.conversation_id,
        position=message.position,
        turn=turn,
        scope=scope,
    )


def owner_of(user_id: str, caller: Principal) -> Owner:
    """Whose memory: the tenant is the credential's."""
    return Owner(TenantId(caller.tenant_id), UserId(user_id))


def request_key(request: Message, request_id: str, caller: Principal) -> RequestKey:
    """The request id with a digest of all that was asked; equal requests of one program version have equal digests."""
    content = request.SerializeToString(deterministic=True)
    digest = hashlib.sha256(f"{request.DESCRIPTOR.full_name}\0".encode() + content).hexdigest()
    return RequestKey(caller.principal_id, request_id, digest)
