"""Checkpoints: size and root of an audit log, signed. A checkpoint that is stored elsewhere pins all entries before it.

The form is that of transparency logs (C2SP signed notes and tlog checkpoints): three lines, an empty one, and a line
with the signature, which other tools can verify too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_DASH: Final = "\u2014"
_ALGORITHM: Final = b"\x01"  # Ed25519
_KEY_ID_BYTES: Final = 4


class CheckpointError(ValueError):
    """A checkpoint is malformed or its signature does not fit; the message is for people."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a log was at a time."""

    origin: str  # which log, such as "mneme/acme"
    size: int  # number of entries
    root: bytes

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


class CheckpointSigner:
    """Signs checkpoints with a key that is derived from the service secret, the same in all replicas."""

    def __init__(self, secret: bytes) -> None:
        """Derives the key."""
        seed = HKDF(SHA256(), 32, None, b"mneme audit checkpoints").derive(secret)
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public_key(self) -> bytes:
        """What checkpoints are verified with, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, checkpoint: Checkpoint) -> str:
        """The signed note."""
        text = checkpoint.text
        signature = _key_id(checkpoint.origin, self.public_key) + self._key.sign(text.encode())
        return f"{text}\n{_DASH} {checkpoint.origin} {base64.b64encode(signature).decode()}\n"


def read_checkpoint(note: str, public_key: bytes) -> Checkpoint:
    """The checkpoint of a signed note.

    Raises:
        CheckpointError: It is malformed or not signed with the key.
    """
    try:
        text, _, signed = note.partition("\n\n")
        origin, size, root = text.split("\n")
        dash, name, encoded = signed.strip().split(" ")
        signature = base64.b64decode(encoded, validate=True)
        checkpoint = Checkpoint(origin, int(size), base64.b64decode(root, validate=True))
        key = Ed25519PublicKey.from_public_bytes(public_key)
    except (ValueError, binascii.Error) as error:
        raise CheckpointError("the checkpoint is malformed") from error
    if (dash, name) != (_DASH, origin) or checkpoint.text != f"{text}\n":
        raise CheckpointError("the checkpoint is malformed")
    if signature[:_KEY_ID_BYTES] != _key_id(origin, public_key):
        raise CheckpointError("the checkpoint is signed with another key")
    try:
        key.verify(signature[_KEY_ID_BYTES:], checkpoint.text.encode())
    except InvalidSignature as error:
        raise CheckpointError("the signature of the checkpoint does not fit") from error
    return checkpoint


def _key_id(name: str, public_key: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ALGORITHM + public_key).digest()[:_KEY_ID_BYTES]
