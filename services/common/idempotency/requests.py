"""From requests to idempotency keys."""

from __future__ import annotations

import hashlib
from typing import Final

from google.protobuf.message import Message

from services.common.auth import Principal
from services.common.idempotency.model import IdempotencyKey

_REQUEST_ID: Final = "request_id"


def idempotency_key(request: Message, caller: Principal) -> IdempotencyKey:
    """The key of a request that has a field `request_id`: repeats have an equal digest, any difference another one."""
    return IdempotencyKey(caller.principal_id, getattr(request, _REQUEST_ID), request_digest(request).hex())


def request_digest(request: Message) -> bytes:
    """A digest of a request's type and of every field but its request id, 32 bytes."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField(_REQUEST_ID)
    digest = hashlib.sha256(f"{request.DESCRIPTOR.full_name}\0".encode())
    digest.update(content.SerializeToString(deterministic=True))
    return digest.digest()
