"""Methods that change a profile: passed on; then recalls here read the profile anew. See door.py."""

from __future__ import annotations

from typing import Final, Protocol

from mneme.semantic.v1 import profile_pb2 as pb
from services.common.auth import current_principal
from services.common.rpc.interceptors.base import Context
from services.gateway.door import Handler
from services.gateway.servicer import Handlers, UseCases

_SERVICE: Final = "mneme.semantic.v1.ProfileService"


class ProfileCache(Protocol):
    """What recalls cache of profiles."""

    def forget(self, tenant_id: str, user_id: str) -> None:
        """Drop what is cached of a user."""
        ...


class ProfileHandlers(Handlers):
    """Handlers of ProfileService at the gateway."""

    def __init__(self, use_cases: UseCases, cache: ProfileCache) -> None:
        """Drops entries of `cache`, also where a call fails: its change may have been made."""
        super().__init__(use_cases)
        self._cache = cache

    def by_name(self) -> dict[str, Handler]:
        """The handlers by the full names of their methods."""
        return {f"{_SERVICE}.UpdateProfile": self.update_profile, f"{_SERVICE}.DeleteProfile": self.delete_profile}

    async def update_profile(self, request: pb.UpdateProfileRequest, _context: Context) -> pb.UpdateProfileResponse:
        """See profile.proto."""
        caller = current_principal()
        try:
            return await self._use.upstream.profile.update(caller, request, timeout_seconds=self._seconds_left())
        finally:
            self._cache.forget(caller.tenant_id, request.user_id)

    async def delete_profile(self, request: pb.DeleteProfileRequest, _context: Context) -> pb.DeleteProfileResponse:
        """See profile.proto."""
        caller = current_principal()
        try:
            return await self._use.upstream.profile.delete(caller, request, timeout_seconds=self._seconds_left())
        finally:
            self._cache.forget(caller.tenant_id, request.user_id)
