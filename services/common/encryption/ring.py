"""Data keys of users, unwrapped: a bounded cache in front of the key management."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from services.common.encryption.envelope import DataKey, associated_data, new_data_key
from services.common.encryption.key_management import KeyManagement, WrappedKey
from services.common.encryption.vault_settings import VaultSettings
from services.common.settings_types import Count, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionSettings:
    """How data keys are cached. Encryption itself is switched on by variables: a key file, or the driver vault."""

    cached_keys_max: Count = 10_000  # unwrapped data keys in memory, of one service
    cache_seconds: Seconds = 300.0  # after which a key is unwrapped anew
    vault: VaultSettings = field(default_factory=VaultSettings)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A data key as a store holds it."""

    key_id: bytes
    wrapped: WrappedKey


class DataKeyRing:
    """Makes, unwraps and rewraps data keys. Belongs to one event loop."""

    def __init__(
        self,
        management: KeyManagement,
        settings: EncryptionSettings | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Caches what `management` unwraps."""
        self._management = management
        self._settings = settings or EncryptionSettings()
        self._monotonic = monotonic
        self._cached: OrderedDict[tuple[str, str, bytes], tuple[float, DataKey]] = OrderedDict()

    async def create(self, tenant_id: str, user_id: str) -> tuple[StoredKey, DataKey]:
        """A new key of a user. It is not cached: another one may be stored first."""
        key = new_data_key()
        wrapped = await self._management.wrap(key.key, _associated(tenant_id, user_id, key.key_id))
        return StoredKey(key.key_id, wrapped), key

    async def unwrapped(self, tenant_id: str, user_id: str, stored: StoredKey) -> DataKey:
        """The key of a user.

        Raises:
            DecryptionError: It was wrapped for another user, or by a key-encryption key that is not there any more.
            StoreUnavailable: The key management cannot be reached.
        """
        name = (tenant_id, user_id, stored.key_id)
        now = self._monotonic()
        cached = self._cached.get(name)
        if cached is not None and now < cached[0]:
            self._cached.move_to_end(name)
            return cached[1]
        raw = await self._management.unwrap(stored.wrapped, _associated(*name))
        key = DataKey(stored.key_id, raw)
        self._cached[name] = (now + self._settings.cache_seconds, key)
        self._cached.move_to_end(name)
        while len(self._cached) > self._settings.cached_keys_max:
            self._cached.popitem(last=False)
        return key

    async def rewrapped(self, tenant_id: str, user_id: str, stored: StoredKey) -> StoredKey:
        """The same key, wrapped by the current key-encryption key.

        Raises:
            DecryptionError, StoreUnavailable: See `unwrapped`.
        """
        associated = _associated(tenant_id, user_id, stored.key_id)
        raw = await self._management.unwrap(stored.wrapped, associated)
        return StoredKey(stored.key_id, await self._management.wrap(raw, associated))

    async def current_version(self) -> str:
        """The version of the key-encryption key that is in use."""
        return await self._management.current_version()

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Drops a user's keys from the cache."""
        for name in [name for name in self._cached if name[:2] == (tenant_id, user_id)]:
            del self._cached[name]


def _associated(tenant_id: str, user_id: str, key_id: bytes) -> bytes:
    return associated_data("data key", tenant_id, user_id, key_id.hex())
