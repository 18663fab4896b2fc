"""Use cases of profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from services.common.clock import Clock
from services.common.errors import Conflict, FieldViolation, InvalidArgument, Reason
from services.common.ids import IdSource
from services.semantic.config import SemanticSettings
from services.semantic.model import Owner, Receipt, RequestKey, SourceInteraction, TenantId
from services.semantic.profile.model import (
    Preferences,
    Profile,
    merged,
    observation_of,
    profile_from_json,
    profile_to_json,
)
from services.semantic.profile.store import ProfileStore, ProfileWriter


@dataclass(frozen=True, slots=True)
class UpdateProfile:
    """Preferences to set."""

    owner: Owner
    request: RequestKey
    preferences: Preferences
    names: tuple[str, ...]  # which ones; all where empty
    etag: str  # that the caller read; empty overwrites whatever is there


class ProfileService:
    """Profiles of all users. Arguments have been checked for form by the edge."""

    def __init__(self, store: ProfileStore, *, clock: Clock, ids: IdSource, settings: SemanticSettings) -> None:
        """All collaborators are owned by the caller."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._settings = settings

    async def get(self, owner: Owner) -> Profile:
        """The profile; an empty one with an empty etag if nothing was written."""
        return await self._store.get(owner)

    async def update(self, command: UpdateProfile) -> Profile:
        """Sets preferences; the profile after it.

        Raises:
            Conflict: The preferences were changed since the caller read them.
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        forget_before = now - timedelta(seconds=self._settings.receipt_retention_seconds)

        async def change(writer: ProfileWriter) -> Profile:
            receipt = await writer.receipt(command.request)
            if receipt is not None:
                return _first_answer(receipt, command.request)
            present = await writer.get()
            if command.etag and command.etag != present.etag:
                raise Conflict("the profile was changed since it was read: read it again")
            preferences = merged(present.preferences, command.preferences, command.names)
            # Never used before, so that an etag of a profile that was deleted does not fit its successor.
            etag = self._ids.new_id()
            await writer.put_preferences(preferences, etag=etag, update_time=now)
            profile = replace(present, preferences=preferences, etag=etag, update_time=now)
            answer = Receipt(command.request, profile_to_json(profile), now)
            await writer.add_receipt(answer, forget_before=forget_before)
            return profile

        return await self._store.write(command.owner, change)

    async def observe(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> int:
        """Counts interactions into the statistics, each once; how many were new."""
        return await self._store.observe(tenant_id, [observation_of(source) for source in sources])


def _first_answer(receipt: Receipt, request: RequestKey) -> Profile:
    if receipt.request.fingerprint != request.fingerprint:
        raise InvalidArgument(
            "the request id was used before with a different request",
            reason=Reason.REQUEST_ID_REUSED,
            violations=[FieldViolation("request_id", "was used before with a different request")],
        )
    return profile_from_json(receipt.answer)
