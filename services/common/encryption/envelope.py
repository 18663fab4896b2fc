"""The stored form of encrypted values: AES-256-GCM with what a value belongs to as associated data."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.common.errors import FailedPrecondition

KEY_BYTES: Final = 32
"""Of every key: AES-256."""
KEY_ID_BYTES: Final = 8
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_VERSION: Final = 1
_HEADER_BYTES: Final = 1 + KEY_ID_BYTES + _NONCE_BYTES

_ESCAPE: Final = "\x02"
SEALED_TEXT: Final = f"{_ESCAPE}enc:"
"""How a text begins that is encrypted."""
_PLAIN_TEXT: Final = f"{_ESCAPE}raw:"
"""How a text begins that is not, and would otherwise look like one that is."""
SEALED_BYTES: Final = SEALED_TEXT.encode()
"""How bytes begin that are encrypted. No serialised protobuf begins so: there is no field 0."""


class DecryptionError(FailedPrecondition):
    """A stored value cannot be decrypted: it was changed, belongs elsewhere, or its key is another or gone."""


@dataclass(frozen=True)
class DataKey:
    """A key that one user's content is encrypted with."""

    key_id: bytes  # KEY_ID_BYTES; stands in every envelope
    key: bytes  # KEY_BYTES

    @cached_property
    def _aead(self) -> AESGCM:
        return AESGCM(self.key)

    @cached_property
    def _nonce_key(self) -> bytes:
        return self.derived("nonces of equal names")

    def __repr__(self) -> str:
        """Without the key."""
        return f"DataKey({self.key_id.hex()})"

    def derived(self, purpose: str) -> bytes:
        """A key for another purpose: HMAC-SHA256 of its name, KEY_BYTES."""
        return hmac.digest(self.key, f"mneme {purpose}".encode(), hashlib.sha256)

    def seal(self, plaintext: bytes, associated: bytes, *, is_deterministic: bool = False) -> bytes:
        """An envelope: version, key id, nonce, ciphertext with tag.

        Nonces are random: 2^32 values of one user is where NIST SP 800-38D wants another key. With `is_deterministic`
        the nonce is an HMAC of plaintext and associated data, so that equal values have equal envelopes.
        """
        if is_deterministic:
            framed = len(associated).to_bytes(8, "big") + associated + plaintext
            nonce = hmac.digest(self._nonce_key, framed, hashlib.sha256)[:_NONCE_BYTES]
        else:
            nonce = os.urandom(_NONCE_BYTES)
        header = bytes((_VERSION,)) + self.key_id + nonce
        return header + self._aead.encrypt(nonce, plaintext, header[: 1 + KEY_ID_BYTES] + associated)

    def open(self, envelope: bytes, associated: bytes) -> bytes:
        """What `seal` took.

        Raises:
            DecryptionError: It is another key's, was changed, or other associated data was given.
        """
        if key_id_of(envelope) != self.key_id:
            raise DecryptionError("the key of stored content has been destroyed or replaced")
        nonce = envelope[1 + KEY_ID_BYTES : _HEADER_BYTES]
        try:
            return self._aead.decrypt(nonce, envelope[_HEADER_BYTES:], envelope[: 1 + KEY_ID_BYTES] + associated)
        except InvalidTag as error:
            raise DecryptionError("stored content was changed or moved, and cannot be decrypted") from error


def new_data_key() -> DataKey:
    """A random key."""
    return DataKey(os.urandom(KEY_ID_BYTES), os.urandom(KEY_BYTES))


def key_id_of(envelope: bytes) -> bytes:
    """The id of the key that an envelope was made with.

    Raises:
        DecryptionError: It is no envelope, or a newer program's.
    """
    if len(envelope) < _HEADER_BYTES + _TAG_BYTES:
        raise DecryptionError("stored content is truncated and cannot be decrypted")
    if envelope[0] != _VERSION:
        raise DecryptionError(
            f"stored content has format version {envelope[0]}, but this program supports versions up to {_VERSION}"
        )
    return envelope[1 : 1 + KEY_ID_BYTES]


def associated_data(*parts: str) -> bytes:
    """Parts with their lengths, so that no two lists of parts give the same bytes."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in encoded)


def to_text(envelope: bytes) -> str:
    """An envelope as a text column holds it."""
    return SEALED_TEXT + base64.b64encode(envelope).decode("ascii")


def escaped(text: str) -> str:
    """A text that is stored as it is, with a mark where it would look encrypted."""
    return f"{_PLAIN_TEXT}{text}" if text.startswith(_ESCAPE) else text


def from_text(stored: str) -> bytes | str:
    """The envelope in a stored text, or the text itself where it was stored as it is.

    Raises:
        DecryptionError: It is marked as an envelope and is none.
    """
    if not stored.startswith(_ESCAPE):
        return stored
    if stored.startswith(_PLAIN_TEXT):
        return stored[len(_PLAIN_TEXT) :]
    if not stored.startswith(SEALED_TEXT):
        return stored
    try:
        return base64.b64decode(stored[len(SEALED_TEXT) :], validate=True)
    except binascii.Error as error:
        raise DecryptionError("stored content was changed, and cannot be decrypted") from error
