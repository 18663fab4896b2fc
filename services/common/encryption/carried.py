"""Encryption of values that carry their data key, wrapped: for stores that have no place for keys of their own."""

from __future__ import annotations

import base64
import binascii
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from services.common.encryption.envelope import (
    DataKey,
    DecryptionError,
    associated_data,
    key_id_of,
    new_data_key,
)
from services.common.encryption.key_management import KeyManagement, WrappedKey
from services.common.encryption.ring import EncryptionSettings
from services.common.owners import Owner

_VERSION: Final = 1
_CUT_OFF: Final = "stored content is truncated and cannot be decrypted"

_KeyName = tuple[Owner, bytes]  # whose, key id


@dataclass(frozen=True, slots=True)
class _Made:
    """The key that new values of a user are encrypted with."""

    key: DataKey
    wrapped: WrappedKey
    expire: float


class CarriedCipher:
    """Encrypts and decrypts values of one user. A value opens only with the record and field it was sealed with."""

    def __init__(self, owner: Owner, made: tuple[DataKey, WrappedKey] | None, known: Mapping[bytes, DataKey]) -> None:
        """With the key of new values, where there are any, and the keys of those that are stored, by their ids."""
        self._owner = (str(owner.tenant_id), str(owner.user_id))
        self._made = made
        self._known = known

    def seal(self, record: str, field: str, text: str) -> str:
        """A text as it is stored: base64."""
        assert self._made is not None, "a cipher for reading"
        key, wrapped = self._made
        version = wrapped.version.encode("utf-8")
        parts = (
            bytes((_VERSION, len(version))),
            version,
            len(wrapped.data).to_bytes(2, "big"),
            wrapped.data,
            key.seal(text.encode("utf-8", "surrogatepass"), associated_data(*self._owner, record, field)),
        )
        return base64.b64encode(b"".join(parts)).decode("ascii")

    def open(self, record: str, field: str, sealed: str) -> str:
        """The text that `seal` took.

        Raises:
            DecryptionError: It was changed, or is another record's.
        """
        _, envelope = _parts_of(sealed)
        key = self._known.get(key_id_of(envelope))
        if key is None:
            raise DecryptionError("the key of stored content was not unwrapped")
        return key.open(envelope, associated_data(*self._owner, record, field)).decode("utf-8", "surrogatepass")


class CarriedKeys:
    """Makes data keys of users, each for a while, and unwraps those that stored values carry.

    A key belongs to one user. It is nowhere but in the values, wrapped, so that it goes with the last of them. Belongs
    to one event loop.
    """

    def __init__(
        self,
        management: KeyManagement,
        settings: EncryptionSettings | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Caches at most `cached_keys_max` keys of each kind for `cache_seconds`."""
        self._management = management
        self._settings = settings or EncryptionSettings()
        self._monotonic = monotonic
        self._made: OrderedDict[Owner, _Made] = OrderedDict()
        self._unwrapped: OrderedDict[_KeyName, tuple[float, DataKey]] = OrderedDict()

    async def for_writing(self, owner: Owner) -> CarriedCipher:
        """A cipher for new values of a user.

        Raises:
            StoreUnavailable: The key management cannot be reached.
        """
        now = self._monotonic()
        made = self._made.get(owner)
        if made is None or made.expire <= now:
            key = new_data_key()
            wrapped = await self._management.wrap(key.key, _associated(owner, key.key_id))
            made = _Made(key, wrapped, now + self._settings.cache_seconds)
            self._made[owner] = made
        self._made.move_to_end(owner)
        while len(self._made) > self._settings.cached_keys_max:
            self._made.popitem(last=False)
        return CarriedCipher(owner, (made.key, made.wrapped), {made.key.key_id: made.key})

    async def for_reading(self, owner: Owner, sealed: Iterable[str]) -> CarriedCipher:
        """A cipher for these values of a user.

        Raises:
            DecryptionError: A key was changed, or wrapped by a key-encryption key that is not there any more.
            StoreUnavailable: The key management cannot be reached.
        """
        known: dict[bytes, DataKey] = {}
        for value in sealed:
            wrapped, envelope = _parts_of(value)
            key_id = key_id_of(envelope)
            if key_id not in known:
                known[key_id] = await self._key(owner, key_id, wrapped)
        return CarriedCipher(owner, None, known)

    async def _key(self, owner: Owner, key_id: bytes, wrapped: WrappedKey) -> DataKey:
        name, now = (owner, key_id), self._monotonic()
        cached = self._unwrapped.get(name)
        if cached is not None and now < cached[0]:
            self._unwrapped.move_to_end(name)
            return cached[1]
        key = DataKey(key_id, await self._management.unwrap(wrapped, _associated(owner, key_id)))
        self._unwrapped[name] = (now + self._settings.cache_seconds, key)
        self._unwrapped.move_to_end(name)
        while len(self._unwrapped) > self._settings.cached_keys_max:
            self._unwrapped.popitem(last=False)
        return key


def _parts_of(sealed: str) -> tuple[WrappedKey, bytes]:
    """The wrapped key and the envelope of a stored value."""
    try:
        data = base64.b64decode(sealed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DecryptionError("stored content was changed, and cannot be decrypted") from error
    if len(data) < 2:
        raise DecryptionError(_CUT_OFF)
    if data[0] != _VERSION:
        raise DecryptionError(
            f"stored content has format version {data[0]}, but this program supports versions up to {_VERSION}"
        )
    end = 2 + data[1]
    size = int.from_bytes(data[end : end + 2], "big")
    if len(data) < end + 2 + size:
        raise DecryptionError(_CUT_OFF)
    try:
        version = data[2:end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecryptionError("stored content was changed, and cannot be decrypted") from error
    return WrappedKey(version, data[end + 2 : end + 2 + size]), data[end + 2 + size :]


def _associated(owner: Owner, key_id: bytes) -> bytes:
    return associated_data("carried data key", owner.tenant_id, owner.user_id, key_id.hex())
