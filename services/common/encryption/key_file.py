"""Key-encryption keys in a file: one line for each version, the last one is in use."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from services.common.encryption.envelope import KEY_BYTES, DecryptionError
from services.common.encryption.key_management import WrappedKey
from services.common.errors import FailedPrecondition

_LINE: Final = re.compile(r"(?P<version>[A-Za-z0-9_.-]{1,64})\s+(?P<key>[A-Za-z0-9+/]{43}=)")
_HEADING: Final = (
    "# Key-encryption keys of Mneme: version and key, the last line is in use. Keep it secret, and keep a copy.\n"
)
_NONCE_BYTES: Final = 12


class KeyFileError(FailedPrecondition):
    """The file of key-encryption keys cannot be used."""


class FileKeyManagement:
    """A `KeyManagement` on a file, which is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        """Reads the file.

        Raises:
            KeyFileError: It is missing, or not of this form.
        """
        self._path = path
        self._stamp = _stamp(path)
        self._keys = read_key_file(path)

    async def current_version(self) -> str:
        """See `KeyManagement.current_version`."""
        return list(self._current())[-1]

    async def wrap(self, key: bytes, associated: bytes) -> WrappedKey:
        """See `KeyManagement.wrap`."""
        keys = self._current()
        version = list(keys)[-1]
        nonce = os.urandom(_NONCE_BYTES)
        return WrappedKey(version, nonce + AESGCM(keys[version]).encrypt(nonce, key, associated))

    async def unwrap(self, wrapped: WrappedKey, associated: bytes) -> bytes:
        """See `KeyManagement.unwrap`."""
        key = self._keys.get(wrapped.version) or self._current().get(wrapped.version)
        if key is None:
            raise DecryptionError(f"{self._path} has no key-encryption key of version {wrapped.version}")
        try:
            return AESGCM(key).decrypt(wrapped.data[:_NONCE_BYTES], wrapped.data[_NONCE_BYTES:], associated)
        except (InvalidTag, ValueError) as error:
            raise DecryptionError("a data key was changed, or was wrapped by another key-encryption key") from error

    async def aclose(self) -> None:
        """See `KeyManagement.aclose`."""

    def _current(self) -> Mapping[str, bytes]:
        """The keys, read again where the file is another one than before."""
        stamp = _stamp(self._path)
        if stamp != self._stamp:
            self._keys, self._stamp = read_key_file(self._path), stamp
        return self._keys


def read_key_file(path: Path) -> dict[str, bytes]:
    """Keys by their versions, in the order of the file.

    Raises:
        KeyFileError: It is missing, empty, names a version twice, or has a line of another form.
    """
    try:
        lines = path.read_text("ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"the key file {path} cannot be read: {type(error).__name__}") from error
    keys: dict[str, bytes] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise KeyFileError(f"{path}, line {number}: not a version and a key of {KEY_BYTES} bytes in base64")
        if match["version"] in keys:
            raise KeyFileError(f"{path}, line {number}: version {match['version']} is there twice")
        keys[match["version"]] = _decoded(match["key"], f"{path}, line {number}")
    if not keys:
        raise KeyFileError(f"the key file {path} holds no key")
    return keys


def add_key(path: Path) -> str:
    """Adds a new version to a file, which is made where needed, readable by its owner alone.

    Services that run read it before they wrap the next key.

    Returns:
        The version: v1, v2 and so on.

    Raises:
        KeyFileError: The file is there and cannot be used.
        OSError: It cannot be written.
    """
    known = read_key_file(path) if path.exists() else {}
    before = path.read_text("ascii") if path.exists() else _HEADING
    number = len(known) + 1
    while f"v{number}" in known:
        number += 1
    text = before if before.endswith("\n") else before + "\n"
    key = base64.b64encode(os.urandom(KEY_BYTES)).decode("ascii")
    temporary = path.with_name(path.name + ".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{text}v{number} {key}\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return f"v{number}"


def _decoded(text: str, place: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise KeyFileError(f"{place}: the key is no base64") from error
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{place}: the key has {len(key)} bytes, not {KEY_BYTES}")
    return key


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise KeyFileError(f"the key file {path} cannot be read: {type(error).__name__}") from error
    return found.st_mtime_ns, found.st_size, found.st_ino
