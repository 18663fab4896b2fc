"""Encryption of what sessions and context windows say, in stores outside of this process."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from services.common.encryption.carried import CarriedCipher, CarriedKeys
from services.common.encryption.envelope import DecryptionError
from services.common.owners import Owner

SEALED: Final = "sealed"
"""Field of a payload with all that is encrypted of it."""
_MARK: Final = f'"{SEALED}"'.encode()


def sealed_fields(
    fields: dict[str, Any], names: frozenset[str], cipher: CarriedCipher | None, record: str, field: str
) -> dict[str, Any]:
    """The fields of a payload with those named as one encrypted value; as they are where there is no cipher."""
    content = {name: value for name, value in fields.items() if name in names}
    if cipher is None or not content:
        return fields
    plain = {name: value for name, value in fields.items() if name not in names}
    return {**plain, SEALED: cipher.seal(record, field, json.dumps(content, separators=(",", ":")))}


def opened_fields(fields: dict[str, Any], cipher: CarriedCipher | None, record: str, field: str) -> dict[str, Any]:
    """The inverse of `sealed_fields`.

    Raises:
        DecryptionError: It was changed or moved, or encryption is off.
    """
    if SEALED not in fields:
        return fields
    if cipher is None:
        raise DecryptionError("stored content is encrypted: set MNEME_ENCRYPTION_KEY_FILE or MNEME_ENCRYPTION_DRIVER")
    return {**fields, **json.loads(cipher.open(record, field, fields[SEALED]))}


async def cipher_for(keys: CarriedKeys | None, owner: Owner, payloads: Iterable[bytes]) -> CarriedCipher | None:
    """The cipher that opens payloads of a user; None where there is nothing to open or encryption is off.

    Raises:
        DecryptionError, StoreUnavailable: See `CarriedKeys.for_reading`.
    """
    if keys is None:
        return None
    sealed = [json.loads(payload)[SEALED] for payload in payloads if _MARK in payload]
    return await keys.for_reading(owner, sealed) if sealed else None
