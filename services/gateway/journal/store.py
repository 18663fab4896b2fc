"""The port of the journal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, TypeAlias

from services.common.errors import MnemeError
from services.gateway.journal.ending import SessionLog
from services.gateway.journal.model import (
    Appended,
    Caller,
    Conversation,
    DeadLetter,
    Delivery,
    DeliveryOutcome,
    FeedbackCommand,
    FeedbackRecorded,
    Interaction,
    Page,
    RememberCommand,
    SequenceSpan,
    Tier,
    TierBacklog,
)

Cursor: TypeAlias = tuple[str | int | float, ...]


class JournalWriter(Protocol):
    """Writes that callers wait for."""

    async def append(
        self, caller: Caller, commands: Sequence[RememberCommand], *, tries_session: bool = False
    ) -> Sequence[Appended | MnemeError]:
        """Makes commands durable with their deliveries, in one transaction.

        With `tries_session` the deliveries to the session tier wait a moment, because the caller is about to put the
        turns there itself.

        Must be all or nothing for each command. A command whose request id was used before returns the first
        answer, or an `InvalidArgument` with reason REQUEST_ID_REUSED in its place if its content differs; the
        other commands are not affected. What was returned must be on disk. Positions of a conversation must be
        gapless whoever writes at once.

        Raises:
            StoreUnavailable, DeadlineExceeded: Nothing was returned; what was written is found by request id.
        """
        ...

    async def append_feedback(self, caller: Caller, command: FeedbackCommand) -> FeedbackRecorded:
        """Makes a judgement durable with its delivery.

        Raises:
            InvalidArgument: The request id was used before with another content.
        """
        ...


class JournalReader(Protocol):
    """Reads of one tenant's log."""

    async def conversations(
        self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None
    ) -> Page[Conversation]:
        """A user's conversations, the last written first, ties by id."""
        ...

    async def interactions(
        self, tenant_id: str, user_id: str, conversation_id: str, *, limit: int, after: Cursor | None
    ) -> Page[Interaction]:
        """A conversation's interactions by position."""
        ...

    async def session_interactions(
        self, tenant_id: str, user_id: str, conversation_id: str, *, limit: int
    ) -> Sequence[Interaction]:
        """The last interactions since the conversation's session was last ended, in the order of their positions."""
        ...

    async def known_interactions(self, tenant_id: str, interaction_ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that are in the log."""
        ...

    async def speakers(self, tenant_id: str, user_id: str) -> Sequence[str]:
        """Names that the user's turns were said by, sorted; at most 256."""
        ...

    async def is_delivered(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> bool:
        """Whether the tiers have taken, or finally refused, everything in the span."""
        ...

    async def backlog(self, tenant_id: str) -> Sequence[TierBacklog]:
        """Counts of deliveries, one entry for each tier."""
        ...

    async def dead_letters(
        self, tenant_id: str, *, tier: Tier | None, limit: int, after: Cursor | None
    ) -> Page[DeadLetter]:
        """Deliveries that were given up, oldest first."""
        ...


class DeliveryQueue(Protocol):
    """The outbox as its worker sees it: across tenants."""

    def claim(self, tier: Tier, *, limit: int) -> AbstractAsyncContextManager[DeliveryBatch]:
        """Takes due deliveries of one tier, oldest first, for the length of the block.

        No other worker must get them meanwhile. When the block ends without `settle`, whether by an error or by
        the death of the process, they must be due as before.
        """
        ...

    async def complete(self, tenant_id: str, tier: Tier, subject_ids: Sequence[str]) -> None:
        """Removes deliveries that were made outside of `claim`. May be lost in a crash: the tier sees a repeat."""
        ...

    async def retry(self, caller: Caller, request_id: str, delivery_ids: Sequence[int]) -> int:
        """Makes dead letters due again. Returns how many there were; a repeat of a request id, the first answer.

        Raises:
            InvalidArgument: The request id was used before with other ids.
        """
        ...

    async def forget_requests(self, *, before: datetime, limit: int) -> int:
        """Removes request ids used before a time. Returns how many."""
        ...


class DeliveryBatch(Protocol):
    """Claimed deliveries."""

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """The deliveries, oldest first."""
        ...

    async def settle(self, outcome: DeliveryOutcome) -> None:
        """Removes what was done and schedules or gives up what failed; the rest is due as before."""
        ...


class Journal(JournalWriter, JournalReader, SessionLog, DeliveryQueue, Protocol):
    """The whole journal."""
