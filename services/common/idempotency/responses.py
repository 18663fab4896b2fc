"""Encryption of the stored responses to requests."""

from __future__ import annotations

from typing import Final, Protocol

from services.common.encryption.cipher import Cipher
from services.common.idempotency.model import IdempotencyKey

_FIELD: Final = "idempotency_records.response"


class ResponseSealing(Protocol):
    """The cipher of the user whose memory a request is about."""

    async def __call__(self, *, is_new: bool) -> Cipher:
        """The cipher: for a new response, or to open a stored one."""
        ...


async def sealed_response(sealing: ResponseSealing | None, key: IdempotencyKey, response: str | None) -> str | None:
    """A response as it is stored: encrypted where there is a sealing."""
    if response is None or sealing is None:
        return response
    return (await sealing(is_new=True)).seal(_name(key), _FIELD, response)


async def opened_response(sealing: ResponseSealing | None, key: IdempotencyKey, stored: str | None) -> str | None:
    """The response that `sealed_response` took.

    Raises:
        DecryptionError: See `Cipher.open`.
    """
    if stored is None or sealing is None:
        return stored
    return (await sealing(is_new=False)).open(_name(key), _FIELD, stored)


def _name(key: IdempotencyKey) -> str:
    """What a response is bound to."""
    return f"{key.principal_id}\x1f{key.request_id}"
