"""Page tokens: opaque, and good only for the query and the tenant that they were issued for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Final, TypeAlias

from google.protobuf.message import Message

from services.common.errors import FieldViolation, InvalidArgument, Reason

Cursor: TypeAlias = tuple[str | int | float, ...]

_MAC_BYTES: Final = 12
_LABEL: Final = b"mneme page token 1"


def fitting(messages: Sequence[Message], *, bytes_max: int) -> int:
    """How many messages of a page, counted from its first, go into `bytes_max` bytes; one at the least.

    A page that is cut there ends early, and the next one goes on behind it: an answer never grows beyond what a
    channel takes.
    """
    room = bytes_max
    for count, message in enumerate(messages):
        room -= message.ByteSize()
        if room < 0:
            return max(count, 1)
    return len(messages)


class PageTokens:
    """Makes and reads page tokens.

    A token is base64url of 12 bytes of HMAC-SHA256 over tenant, query and cursor, and the cursor as a JSON list.
    """

    def __init__(self, secret: bytes) -> None:
        """Signs with a key derived from the service secret, which all replicas share."""
        self._key = hmac.digest(secret, _LABEL, hashlib.sha256)

    def encode(self, cursor: Cursor, *, tenant_id: str, query: Cursor) -> str:
        """The token of the page that begins after `cursor`.

        Args:
            cursor: Sort key of the last item returned.
            tenant_id: The caller's tenant.
            query: What else must be the same for the next page: method, user, filters.
        """
        body = json.dumps(cursor, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        return base64.urlsafe_b64encode(self._mac(tenant_id, query, body) + body).decode("ascii").rstrip("=")

    def next_token(self, cursor: Cursor | None, *, tenant_id: str, query: Cursor) -> str:
        """The token of the next page, empty where there is none."""
        return self.encode(cursor, tenant_id=tenant_id, query=query) if cursor is not None else ""

    def decode(self, token: str, *, tenant_id: str, query: Cursor) -> Cursor | None:
        """The cursor of a token; None for the empty token of the first page.

        Raises:
            InvalidArgument: The token is malformed, or was issued for another query or tenant.
        """
        if not token:
            return None
        try:
            raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError) as error:
            raise _invalid() from error
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(tenant_id, query, body)):
            raise _invalid()
        cursor: Cursor = tuple(json.loads(body))
        return cursor

    def _mac(self, tenant_id: str, query: Cursor, body: bytes) -> bytes:
        bound = json.dumps([tenant_id, *query], ensure_ascii=True).encode("ascii")
        return hmac.digest(self._key, len(bound).to_bytes(4, "big") + bound + body, hashlib.sha256)[:_MAC_BYTES]


def _invalid() -> InvalidArgument:
    return InvalidArgument(
        "the page token is not valid",
        reason=Reason.INVALID_PAGE_TOKEN,
        violations=[FieldViolation("page_token", "was not issued for this query")],
    )
