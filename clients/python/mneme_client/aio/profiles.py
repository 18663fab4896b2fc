"""Profiles: what a user prefers, and what was counted about it."""

from __future__ import annotations

from collections.abc import Collection

from mneme.semantic.v1 import profile_pb2
from mneme_client import from_wire_resources, to_wire
from mneme_client import resources as r
from mneme_client.aio.operations import Operations
from mneme_client.calls import Call, read_nothing, read_one
from mneme_client.types import Scope

_SERVICE = "/mneme.semantic.v1.ProfileService"


class ProfileOperations(Operations):
    """Reads, updates and deletes profiles."""

    async def get_profile(
        self, user_id: str, *, scope: Scope | None = None, timeout_seconds: float | None = None
    ) -> r.Profile:
        """The user's profile; one that was never written is empty, with an empty etag.

        Args:
            user_id: Whose profile.
            scope: The reader's: what is learned from the turns that it sees; None means GLOBAL.
            timeout_seconds: Deadline of this call.
        """
        request = profile_pb2.GetProfileRequest(user_id=user_id, reader_scope=to_wire.scope(scope))
        read = read_one("profile", from_wire_resources.profile)
        return await self._call(
            Call(f"{_SERVICE}/GetProfile", request, profile_pb2.GetProfileResponse, read), timeout_seconds
        )

    async def update_profile(
        self,
        user_id: str,
        preferences: r.Preferences,
        *,
        clear: Collection[str] = (),
        etag: str = "",
        request_id: str | None = None,
        timeout_seconds: float | None = None,
    ) -> r.Profile:
        """Sets preferences and returns the profile.

        Args:
            user_id: Whose profile.
            preferences: The new values. Empty ones stay as they are; lists and `other` are replaced as a whole.
            clear: Names of the preferences to clear, such as "language".
            etag: The etag last read: the call fails with CONFLICT if the preferences have changed since. Empty:
                unconditional.
            request_id: Idempotency key; None makes a new one.
            timeout_seconds: Deadline of this call.
        """
        message = to_wire.preferences(preferences)
        request = profile_pb2.UpdateProfileRequest(
            request_id=request_id or to_wire.new_request_id(),
            user_id=user_id,
            preferences=message,
            update_mask=to_wire.field_mask((field.name for field, _ in message.ListFields()), clear),
            etag=etag,
        )
        read = read_one("profile", from_wire_resources.profile)
        return await self._call(
            Call(f"{_SERVICE}/UpdateProfile", request, profile_pb2.UpdateProfileResponse, read), timeout_seconds
        )

    async def delete_profile(
        self, user_id: str, *, etag: str = "", request_id: str | None = None, timeout_seconds: float | None = None
    ) -> None:
        """Deletes preferences and statistics. Fails with NOT_FOUND if there are neither."""
        request = profile_pb2.DeleteProfileRequest(
            request_id=request_id or to_wire.new_request_id(), user_id=user_id, etag=etag
        )
        call = Call(f"{_SERVICE}/DeleteProfile", request, profile_pb2.DeleteProfileResponse, read_nothing)
        await self._call(call, timeout_seconds)
