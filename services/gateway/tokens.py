"""Consistency tokens: what Remember hands out and Recall waits for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct

from services.common.errors import FieldViolation, InvalidArgument, Reason
from services.gateway.journal.model import SequenceSpan

_BODY = struct.Struct(">QQ")
_MAC_BYTES = 12
_LABEL = b"mneme consistency token 1"


class ConsistencyTokens:
    """Encodes spans of the journal so that only the tenant they were issued to can use them.

    A token is base64url of first and last sequence number (8 bytes each, big-endian) and 12 bytes of HMAC-SHA256 over
    them and the tenant id.
    """

    def __init__(self, secret: bytes) -> None:
        """Signs with a key derived from the service secret, which all gateways share."""
        self._key = hmac.digest(secret, _LABEL, hashlib.sha256)

    def encode(self, tenant_id: str, span: SequenceSpan) -> str:
        """The token of a span."""
        body = _BODY.pack(span.first, span.last)
        return base64.urlsafe_b64encode(body + self._mac(tenant_id, body)).decode("ascii").rstrip("=")

    def decode(self, tenant_id: str, token: str) -> SequenceSpan:
        """The span of a token.

        Raises:
            InvalidArgument: It is malformed, or was issued to another tenant.
        """
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError) as error:
            raise _invalid() from error
        body, mac = raw[: _BODY.size], raw[_BODY.size :]
        if len(raw) != _BODY.size + _MAC_BYTES or not hmac.compare_digest(mac, self._mac(tenant_id, body)):
            raise _invalid()
        first, last = _BODY.unpack(body)
        return SequenceSpan(first, last)

    def _mac(self, tenant_id: str, body: bytes) -> bytes:
        return hmac.digest(self._key, body + tenant_id.encode("utf-8"), hashlib.sha256)[:_MAC_BYTES]


def _invalid() -> InvalidArgument:
    return InvalidArgument(
        "the consistency token is not valid",
        reason=Reason.INVALID_CONSISTENCY_TOKEN,
        violations=[FieldViolation("consistency_token", "was not issued by this system to this tenant")],
    )
