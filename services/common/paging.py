"""Pages: the size of one response, and tokens that hold only for the query and tenant they were issued for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar

from google.protobuf.message import Message

from services.common.errors import FieldViolation, InvalidArgument, Reason

Cursor: TypeAlias = tuple[str | int | float, ...]

RESPONSE_BYTES_MAX: Final = 3 * 1024 * 1024
"""Default bound of what a response lists: below the 8 MiB of a message here, and the 4 MiB of other gRPC clients."""

_MessageT = TypeVar("_MessageT", bound=Message)

_FRAME_BYTES: Final = 6  # of a field's number and a length below 256 MiB, before each message in a list
_MAC_BYTES: Final = 12
_LABEL: Final = b"mneme page token 1"


def listed_bytes(messages: Iterable[Message]) -> int:
    """Bytes of a list of messages, at the most."""
    return sum(message.ByteSize() + _FRAME_BYTES for message in messages)


def fitting(messages: Sequence[Message], *, bytes_max: int) -> int:
    """How many messages of a response, counted from its first, go into `bytes_max` bytes; one at the least.

    So a response never exceeds what a channel accepts, and is never empty where there are items.
    """
    budget = bytes_max
    for count, message in enumerate(messages):
        budget -= message.ByteSize() + _FRAME_BYTES
        if budget < 0:
            return max(count, 1)
    return len(messages)


def cut_page(
    messages: Sequence[_MessageT], *, has_more: bool, bytes_max: int, cursor_of: Callable[[int], Cursor]
) -> tuple[Sequence[_MessageT], Cursor | None]:
    """A page that ends early where it would exceed `bytes_max`, and the cursor of the one behind it.

    Args:
        messages: The page as the store gave it.
        has_more: Whether the store has more behind it.
        bytes_max: What fits; a first message above it comes alone.
        cursor_of: The cursor of the page behind the message with this index.

    Returns:
        The messages, and None for the cursor where the list ends with them.
    """
    count = fitting(messages, bytes_max=bytes_max)
    if count == len(messages) and not has_more:
        return messages, None
    return messages[:count], cursor_of(count - 1)


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
