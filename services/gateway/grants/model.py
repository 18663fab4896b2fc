"""Grants and what is asked of them. Frozen data and pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum
from typing import Annotated

from annotated_types import Ge, Le

from services.common.auth import Principal
from services.common.scope import GLOBAL_SCOPE, GrantedReader, Reader, Scope
from services.common.settings_types import Amount, Count


class MemoryKind(IntEnum):
    """What a memory is; the numbers are those of the wire format."""

    EPISODE = 1
    FACT = 2
    NOTE = 3


@dataclass(frozen=True, slots=True)
class Grant:
    """Readers in `to_scope` and below it see the memories of `from_scope`, and of that place alone."""

    grant_id: str
    user_id: str
    from_scope: Scope
    to_scope: Scope
    kinds: tuple[MemoryKind, ...]  # ascending; empty for all
    create_time: datetime  # or when it was replaced last
    expire_time: datetime | None  # from then on it does not hold; None for never
    principal_id: str  # who granted it

    def holds(self, now: datetime) -> bool:
        """Whether it is in force."""
        return self.expire_time is None or now < self.expire_time

    def opens(self, kind: MemoryKind) -> bool:
        """Whether it is for memories of this kind."""
        return not self.kinds or kind in self.kinds


@dataclass(frozen=True, slots=True)
class CreateGrant:
    """A grant to be made. Between two places there is one: an earlier one is replaced."""

    request_id: str
    user_id: str
    from_scope: Scope
    to_scope: Scope
    kinds: tuple[MemoryKind, ...] = ()
    expire_time: datetime | None = None

    @property
    def digest(self) -> bytes:
        """Distinguishes a repeat from another request under the same id."""
        expires = "" if self.expire_time is None else self.expire_time.isoformat()
        kinds = ",".join(str(int(kind)) for kind in self.kinds)
        return _digest(self.user_id, self.from_scope.key, self.to_scope.key, kinds, expires)


@dataclass(frozen=True, slots=True)
class RevokeGrant:
    """A grant to be taken back."""

    request_id: str
    user_id: str
    grant_id: str  # a UUID

    @property
    def digest(self) -> bytes:
        """Distinguishes a repeat from another request under the same id."""
        return _digest(self.user_id, self.grant_id)


@dataclass(frozen=True, slots=True)
class Granted:
    """A grant that is durable."""

    grant: Grant
    replayed: bool  # an earlier call with this request id made it


@dataclass(frozen=True, slots=True)
class GrantSettings:
    """Limits of grants."""

    # Grants in force of one user: each makes searches look at one more place, of which they take 1,024.
    grants_per_user_max: Annotated[int, Ge(1), Le(1_024)] = 256
    cache_seconds: Amount = 5.0  # how long a grant that another gateway took back may still be used
    cached_users_max: Count = 10_000  # users whose grants are remembered


@dataclass(frozen=True, slots=True)
class Readers:
    """Who a recall reads as: what is seen may differ between kinds of memories."""

    scope: Scope = GLOBAL_SCOPE  # where the reader stands
    grants: tuple[Grant, ...] = field(default=())  # those to it

    def granted(self, kind: MemoryKind) -> tuple[Scope, ...]:
        """Places whose memories of a kind are granted, each once."""
        return tuple(dict.fromkeys(grant.from_scope for grant in self.grants if grant.opens(kind)))

    def principal(self, caller: Principal, kind: MemoryKind) -> Principal:
        """The caller, with the places whose memories of a kind are granted: as a tier is called on its behalf."""
        granted = tuple(scope.key for scope in self.granted(kind))
        return replace(caller, granted_scopes=granted) if granted else caller

    def of(self, kind: MemoryKind) -> Reader:
        """The reader of memories of a kind."""
        granted = self.granted(kind)
        return GrantedReader(self.scope, granted) if granted else self.scope


def grants_to(reader: Scope, grants: Iterable[Grant], now: datetime) -> tuple[Grant, ...]:
    """Those of the grants that hold now for a reader: grants to its place, and to those above on its path.

    A grant is not passed on: what a place was granted, its readers see, and those they grant something do not.
    """
    path = set(reader.visible_keys())
    return tuple(grant for grant in grants if grant.to_scope.key in path and grant.holds(now))


def _digest(*parts: str) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()
