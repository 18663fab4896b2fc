"""Use cases of supersessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from services.common.clock import Clock
from services.common.comparing.port import Comparer
from services.common.idempotency.model import RETENTION_SECONDS, Idempotency, IdempotencyKey
from services.common.interactions import SourceInteraction
from services.common.owners import InteractionId, Owner, TenantId, UserId
from services.semantic.config import SupersessionSettings
from services.semantic.supersession.model import (
    Assertion,
    ClearPolicy,
    Decision,
    Marks,
    Place,
    Reason,
    State,
    Supersession,
    SupersessionPosition,
    corrected_number,
)
from services.semantic.supersession.reading import assertions_of
from services.semantic.supersession.resolving import decided, followed
from services.semantic.supersession.store import SupersessionStore


class SupersessionService:
    """Finds out which statements hold no more. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: SupersessionStore,
        comparer: Comparer,
        *,
        clock: Clock,
        settings: SupersessionSettings,
        retention_seconds: float = RETENTION_SECONDS,
        clear_policy: ClearPolicy = ClearPolicy.SUPERSEDE,
    ) -> None:
        """All collaborators are owned by the caller; requests are recognised again for `retention_seconds`."""
        self._reduces = clear_policy is ClearPolicy.REDUCE
        self._idempotency = Idempotency(Supersession, retention_seconds=retention_seconds)
        self._store = store
        self._comparer = comparer
        self._clock = clock
        self._settings = settings

    def _candidates_max(self, statement: Assertion) -> int:
        return self._settings.candidates_of(len(statement.keys))

    async def take_in(self, tenant_id: TenantId, sources: Sequence[SourceInteraction]) -> int:
        """Reads turns, and marks what they supersede or are superseded by. Repeats are harmless.

        Returns:
            How many supersessions are new.
        """
        by_user: dict[UserId, list[SourceInteraction]] = defaultdict(list)
        for source in sources:
            by_user[source.user_id].append(source)
        count = 0
        for user_id, turns in by_user.items():
            owner = Owner(tenant_id, user_id)
            read = await assertions_of(owner, turns, self._settings, self._comparer)
            decide = partial(decided, self._comparer, at=self._clock.now(), reduces=self._reduces)
            rest = partial(followed, at=self._clock.now())
            new = await self._store.add(owner, read, decide, candidates_max=self._candidates_max, rest=rest)
            count += len(new)
        return count

    async def mark(
        self,
        owner: Owner,
        statements: Sequence[tuple[InteractionId, str]],
        standing_id: InteractionId,
        *,
        end_time: datetime,
        about: str = "",
        is_called_wrong: bool = False,
    ) -> int:
        """Marks statements as corrected by a turn; one without a text stands for all of its turn.

        Args:
            owner: Whose.
            statements: What was said, each with its turn.
            standing_id: The turn.
            end_time: Since when the statements do not hold.
            about: What the correction is about, in words: of the facts of a sentence that gave several, those end that
                share a word with it. Empty: all of them.
            is_called_wrong: Whether these are the words that were called wrong. Then the one fact of a sentence stands,
                too, if it has none of them and repeats other words of the sentence.

        Returns:
            How many were not marked so before.
        """
        now = self._clock.now()
        return await self._store.put(
            owner,
            [
                Supersession(
                    loser=Place(interaction_id, corrected_number(text)),
                    winner=Place(standing_id),
                    reason=Reason.CORRECTED,
                    state=State.APPLIED,
                    end_time=end_time,
                    create_time=now,
                    statement=text,
                    is_whole=not text,
                    premise=about,
                    is_called_wrong=is_called_wrong,
                )
                for interaction_id, text in statements
            ],
        )

    async def marks(self, owner: Owner, *, cached_revision: int | None, incremental: bool = False) -> Marks:
        """The superseded and the reduced statements of a user; none where the caller has the newest.

        `incremental`: those that were added since suffice, where no other has changed.
        """
        return await self._store.marks(
            owner, cached_revision=cached_revision, limit=self._settings.marks_max, incremental=incremental
        )

    async def corrected(
        self, owner: Owner, interaction_ids: Sequence[InteractionId]
    ) -> Sequence[tuple[InteractionId, str]]:
        """The sentences of these turns that are corrected; see `SupersessionStore.corrected`."""
        return await self._store.corrected(owner, interaction_ids, limit=self._settings.marks_max)

    async def list_page(
        self, owner: Owner, *, state: State | None, after: SupersessionPosition | None, page_size: int
    ) -> tuple[Sequence[Supersession], SupersessionPosition | None]:
        """Supersessions, newest first, and where the next page begins."""
        found = await self._store.list_page(owner, state=state, after=after, limit=page_size + 1)
        page = found[:page_size]
        more = len(found) > page_size
        return page, SupersessionPosition(page[-1].create_time, page[-1].supersession_id) if more else None

    async def resolve(
        self, owner: Owner, key: IdempotencyKey, supersession_id: str, decision: Decision
    ) -> Supersession:
        """Decides about a pair.

        Raises:
            NotFound: The owner has no such supersession.
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        return await self._store.resolve(
            owner,
            supersession_id,
            decision,
            lambda records, work: self._idempotency.run(
                records, key, work, now=now, user_id=owner.user_id, resource_id=lambda one: one.supersession_id
            ),
        )

    async def remove_sources(self, owner: Owner, interaction_ids: Sequence[InteractionId]) -> int:
        """Removes what interactions stated, and the supersessions in which they took part; how many of these."""
        return await self._store.remove_sources(owner, interaction_ids)

    async def remove_owner(self, owner: Owner) -> int:
        """Removes everything of a user; how many supersessions."""
        return await self._store.remove_owner(owner)
