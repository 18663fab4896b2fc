"""What a process holds of users in memory; see README.md."""

from services.common.cache.budget import CacheSettings, create_cache
from services.common.cache.ledger import OwnerKey
from services.common.cache.owner_cache import CacheKind, OwnerCache

__all__ = ["CacheKind", "CacheSettings", "OwnerCache", "OwnerKey", "create_cache"]
