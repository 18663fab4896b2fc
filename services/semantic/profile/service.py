"""Use cases of profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.common.clock import Clock
from services.common.errors import Conflict, NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.ids import IdSource
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.common.scope import GLOBAL_SCOPE, Scope
from services.semantic.config import SemanticSettings
from services.semantic.profile.learning import effective, learned_from, without_corrected
from services.semantic.profile.model import (
    Learned,
    Lesson,
    Preferences,
    Profile,
    merged,
    observation_of,
)
from services.semantic.profile.store import CorrectedStatements, ProfileStore, ProfileWriter

PROFILE_RESOURCE: Final = "profile"
"""The resource of a profile's idempotency records; a user has one profile."""


@dataclass(frozen=True, slots=True)
class UpdateProfile:
    """Preferences to set."""

    owner: Owner
    key: IdempotencyKey
    preferences: Preferences
    names: tuple[str, ...]  # which ones
    etag: str  # that the caller read; empty: whatever is stored


@dataclass(frozen=True, slots=True)
class DeleteProfile:
    """A profile to delete."""

    owner: Owner
    key: IdempotencyKey
    etag: str  # that the caller read; empty: whatever is stored


@dataclass(frozen=True, slots=True)
class _Deleted:
    """The response to a deletion."""

    user_id: UserId


class ProfileService:
    """Profiles of all users. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: ProfileStore,
        *,
        clock: Clock,
        ids: IdSource,
        settings: SemanticSettings,
        corrections: CorrectedStatements | None = None,
    ) -> None:
        """All collaborators are owned by the caller; without `corrections` nothing is corrected."""
        self._store = store
        self._corrections = corrections
        self._clock = clock
        self._ids = ids
        self._learning = settings.learning
        self._deletions = Idempotency(_Deleted, retention_seconds=settings.idempotency_retention_seconds)
        self._idempotency = Idempotency(Profile, retention_seconds=settings.idempotency_retention_seconds)

    async def get(self, owner: Owner, reader: Scope) -> Profile:
        """The profile as a reader sees it; an empty one with an empty etag if nothing was written.

        Statistics are those of the reader's isolated context, or of all that is outside of one. What was learned comes
        from turns that the reader sees.
        """
        profile = await self._store.get(owner, context_id=reader.context_id)
        _, lessons = await self._lessons(owner, reader.visible_keys())
        return replace(profile, learned=learned_from(lessons, self._learning))

    async def for_reading(self, owner: Owner, scope_keys: Sequence[str]) -> Learned:
        """What holds for reading at some places: what was set, and what was learned there."""
        stated, lessons = await self._lessons(owner, scope_keys)
        learned = learned_from(lessons, self._learning)
        return replace(learned, preferences=effective(stated, learned.preferences))

    async def judge(self, owner: Owner, interaction_ids: Sequence[InteractionId], feedback: int) -> None:
        """Sets the judgement of turns, from which sources and the threshold are learned."""
        await self._store.judge(owner, interaction_ids, feedback)

    async def _lessons(self, owner: Owner, scope_keys: Sequence[str]) -> tuple[Preferences, Sequence[Lesson]]:
        """What was set, and the newest lessons without what was corrected (SPEC 3.12).

        Corrections are looked up whenever the profile is read: one that is taken back counts no more at once.
        """
        preferences, lessons = await self._store.lessons(owner, scope_keys=scope_keys, limit=self._learning.lessons_max)
        stating = [lesson.interaction_id for lesson in lessons if lesson.stated]
        if self._corrections is None or not stating:
            return preferences, lessons
        return preferences, without_corrected(lessons, await self._corrections.corrected(owner, stating))

    async def update(self, command: UpdateProfile) -> Profile:
        """Sets preferences; the profile after it.

        Raises:
            Conflict: The preferences were changed since the caller read them.
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        _, lessons = await self._lessons(command.owner, GLOBAL_SCOPE.visible_keys())
        learned = learned_from(lessons, self._learning)

        async def change(writer: ProfileWriter) -> Profile:
            present = await writer.get()
            _check_etag(present, command.etag)
            preferences = merged(present.preferences, command.preferences, command.names)
            # Never used before, so that an etag of a profile that was deleted does not fit its successor.
            etag = self._ids.new_id()
            await writer.put_preferences(preferences, etag=etag, update_time=now)
            return replace(present, preferences=preferences, etag=etag, update_time=now, learned=learned)

        async def once(writer: ProfileWriter) -> Profile:
            return await self._idempotency.run(
                writer.idempotency,
                command.key,
                lambda: change(writer),
                now=now,
                user_id=command.owner.user_id,
                resource_id=lambda _: PROFILE_RESOURCE,
            )

        return await self._store.write(command.owner, once)

    async def delete(self, command: DeleteProfile) -> None:
        """Deletes what was set, learned and counted. Turns that were observed are not observed again.

        Raises:
            NotFound: The owner has no profile.
            Conflict: The preferences were changed since the caller read them.
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        owner = command.owner

        async def remove(writer: ProfileWriter) -> _Deleted:
            _check_etag(await writer.get(), command.etag)
            if not await writer.delete():
                raise NotFound("profile", owner.user_id)
            await writer.idempotency.erase(owner.user_id, [PROFILE_RESOURCE])
            return _Deleted(owner.user_id)

        await self._store.write(
            owner,
            lambda writer: self._deletions.run(
                writer.idempotency,
                command.key,
                lambda: remove(writer),
                now=now,
                user_id=owner.user_id,
                resource_id=lambda _: f"deletion of {PROFILE_RESOURCE}",
            ),
        )

    async def remove_owner(self, owner: Owner) -> bool:
        """Deletes the profile of a user, and erases the responses about it; whether there was one."""

        async def remove(writer: ProfileWriter) -> bool:
            await writer.idempotency.erase(owner.user_id, [PROFILE_RESOURCE])
            return await writer.delete()

        return await self._store.write(owner, remove)

    async def remove(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> None:
        """Takes turns out of statistics and of what was learned; they are never observed again."""
        await self._store.remove(owner, interaction_ids)

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have a profile; see `ProfileStore.users`."""
        return await self._store.users(tenant_id, after=after, limit=limit)

    async def observe(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> int:
        """Observes turns, each once; how many were new."""
        return await self._store.observe(tenant_id, [observation_of(source) for source in sources])


def _check_etag(profile: Profile, etag: str) -> None:
    if etag and etag != profile.etag:
        raise Conflict("the profile was changed since it was read: read it again")
