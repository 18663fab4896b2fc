"""Encryption of one user's values, by record and field; without a key, values pass as they are."""

from __future__ import annotations

import json
from typing import Any, Final, Protocol

from services.common.encryption.envelope import (
    SEALED_BYTES,
    DataKey,
    DecryptionError,
    associated_data,
    escaped,
    from_text,
    to_text,
)

_SEALED: Final = "sealed"
"""Name of the only member of an encrypted JSON object."""


class Cipher(Protocol):
    """Encrypts and decrypts values of one user. A value opens only with the record and field it was sealed with.

    Empty values are stored empty. Values from before encryption was switched on are returned as they are.
    """

    def seal(self, record: str, field: str, text: str) -> str:
        """A text as it is stored."""
        ...

    def seal_name(self, field: str, text: str) -> str:
        """A text of which equal ones are stored alike, so that the database can compare them; of no record."""
        ...

    def seal_json(self, record: str, field: str, value: Any) -> Any:
        """An object or a list as it is stored."""
        ...

    def seal_bytes(self, record: str, field: str, value: bytes) -> bytes:
        """Bytes as they are stored."""
        ...

    def open(self, record: str, field: str, stored: str) -> str:
        """The text that `seal` took.

        Raises:
            DecryptionError: It was changed, is another record's, or the key is not there any more.
        """
        ...

    def open_name(self, field: str, stored: str) -> str:
        """The text that `seal_name` took; see `open`."""
        ...

    def open_json(self, record: str, field: str, stored: Any) -> Any:
        """What `seal_json` took; see `open`."""
        ...

    def open_bytes(self, record: str, field: str, stored: bytes) -> bytes:
        """The bytes that `seal_bytes` took; see `open`."""
        ...


class UserCipher:
    """A `Cipher` with a user's data key."""

    def __init__(self, tenant_id: str, user_id: str, key: DataKey) -> None:
        """Binds values to tenant and user as well."""
        self._owner = (tenant_id, user_id)
        self._key = key

    def seal(self, record: str, field: str, text: str) -> str:
        """See `Cipher.seal`."""
        return to_text(self._key.seal(_encoded(text), self._associated(record, field))) if text else ""

    def seal_name(self, field: str, text: str) -> str:
        """See `Cipher.seal_name`."""
        if not text:
            return ""
        return to_text(self._key.seal(_encoded(text), self._associated("", field), is_deterministic=True))

    def seal_json(self, record: str, field: str, value: Any) -> Any:
        """See `Cipher.seal_json`."""
        if not value:
            return value
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return {_SEALED: self.seal(record, field, text)}

    def seal_bytes(self, record: str, field: str, value: bytes) -> bytes:
        """See `Cipher.seal_bytes`."""
        return SEALED_BYTES + self._key.seal(value, self._associated(record, field)) if value else b""

    def open(self, record: str, field: str, stored: str) -> str:
        """See `Cipher.open`."""
        found = from_text(stored)
        if isinstance(found, str):
            return found
        return self._key.open(found, self._associated(record, field)).decode("utf-8", "surrogatepass")

    def open_name(self, field: str, stored: str) -> str:
        """See `Cipher.open_name`."""
        return self.open("", field, stored)

    def open_json(self, record: str, field: str, stored: Any) -> Any:
        """See `Cipher.open_json`."""
        if not _is_sealed(stored):
            return stored
        return json.loads(self.open(record, field, stored[_SEALED]))

    def open_bytes(self, record: str, field: str, stored: bytes) -> bytes:
        """See `Cipher.open_bytes`."""
        if not stored.startswith(SEALED_BYTES):
            return stored
        return self._key.open(stored[len(SEALED_BYTES) :], self._associated(record, field))

    def _associated(self, record: str, field: str) -> bytes:
        return associated_data(*self._owner, record, field)


class KeylessCipher:
    """A `Cipher` that stores values as they are, and refuses those that are encrypted."""

    def __init__(self, reason: str) -> None:
        """Says why there is no key."""
        self._reason = reason

    def seal(self, record: str, field: str, text: str) -> str:  # noqa: ARG002 - the interface
        """See `Cipher.seal`."""
        return escaped(text)

    def seal_name(self, field: str, text: str) -> str:  # noqa: ARG002
        """See `Cipher.seal_name`."""
        return escaped(text)

    def seal_json(self, record: str, field: str, value: Any) -> Any:  # noqa: ARG002
        """See `Cipher.seal_json`."""
        return value

    def seal_bytes(self, record: str, field: str, value: bytes) -> bytes:  # noqa: ARG002
        """See `Cipher.seal_bytes`."""
        return value

    def open(self, record: str, field: str, stored: str) -> str:  # noqa: ARG002
        """See `Cipher.open`."""
        found = from_text(stored)
        if isinstance(found, str):
            return found
        raise DecryptionError(self._reason)

    def open_name(self, field: str, stored: str) -> str:
        """See `Cipher.open_name`."""
        return self.open("", field, stored)

    def open_json(self, record: str, field: str, stored: Any) -> Any:  # noqa: ARG002
        """See `Cipher.open_json`."""
        if _is_sealed(stored):
            raise DecryptionError(self._reason)
        return stored

    def open_bytes(self, record: str, field: str, stored: bytes) -> bytes:  # noqa: ARG002
        """See `Cipher.open_bytes`."""
        if stored.startswith(SEALED_BYTES):
            raise DecryptionError(self._reason)
        return stored


PLAIN: Final = KeylessCipher("stored content is encrypted: set MNEME_ENCRYPTION_KEY_FILE or MNEME_ENCRYPTION_DRIVER")
"""The cipher of services without encryption."""
DESTROYED: Final = KeylessCipher("the key of stored content has been destroyed")
"""The cipher of a user who has no key."""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _is_sealed(stored: Any) -> bool:
    return isinstance(stored, dict) and len(stored) == 1 and isinstance(stored.get(_SEALED), str)
