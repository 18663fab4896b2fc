"""The port of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, TypeAlias

from services.common.errors import MnemeError
from services.common.turns import MessageRole
from services.gateway.journal.ending import SessionLog
from services.gateway.journal.judged import JudgedRecall
from services.gateway.journal.model import (
    Appended,
    Caller,
    Conversation,
    DeadLetter,
    Delivery,
    DeliveryOutcome,
    DeliveryState,
    FeedbackCommand,
    FeedbackRecorded,
    Interaction,
    Page,
    RecallRecord,
    RememberCommand,
    Removed,
    RetryCommand,
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
        response, or an `InvalidArgument` with reason REQUEST_ID_REUSED in its place if its content differs; the
        other commands are not affected. What was returned must be on disk. Positions of a conversation must be
        gapless under concurrent writes.

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

    async def context_items(
        self, tenant_id: str, user_id: str, conversation_id: str, item_ids: Sequence[str]
    ) -> Mapping[str, Interaction]:
        """Interactions of a conversation that were these items of a context window, by item id; the last of each."""
        ...

    async def known_interactions(self, tenant_id: str, interaction_ids: Sequence[str]) -> frozenset[str]:
        """Those of the ids that are in the log, or were and have been removed from it."""
        ...

    async def turn_sources(self, tenant_id: str, interaction_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """The sources of those of the turns that name any."""
        ...

    async def turn_speakers(
        self, tenant_id: str, user_id: str, interaction_ids: Sequence[str]
    ) -> Mapping[str, tuple[MessageRole, str]]:
        """Role and speaker's name of those of the turns that are in the user's log."""
        ...

    async def speakers(self, tenant_id: str, user_id: str) -> Sequence[str]:
        """Names that the user's turns were said by, sorted; at most 256."""
        ...

    async def delivery_state(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> DeliveryState:
        """What became of the deliveries of a span to these tiers. A span without any is DELIVERED."""
        ...

    async def backlog(self, tenant_id: str) -> Sequence[TierBacklog]:
        """Counts of deliveries, one entry for each tier."""
        ...

    async def pending_count(self, tenant_id: str, *, count_max: int) -> int:
        """How many deliveries of the tenant wait, counted up to a bound: dead letters are not among them."""
        ...

    async def dead_letters(
        self, tenant_id: str, *, tier: Tier | None, limit: int, after: Cursor | None
    ) -> Page[DeadLetter]:
        """Deliveries that were given up, oldest first."""
        ...


class DeliveryQueue(Protocol):
    """The outbox as its worker sees it: across tenants."""

    def claim(self, tier: Tier, *, limit: int) -> AbstractAsyncContextManager[DeliveryBatch]:
        """Takes due deliveries of one tier for the length of the block, fairly by tenant.

        Tenants with due deliveries must take turns, whatever their backlogs: a claim takes those of one tenant, and the
        next one goes on behind it, so that no tenant waits for what becomes of another's. The oldest come first. No
        other worker must get the deliveries meanwhile, nor others of their users to a tier of `IN_ORDER`. When the
        block ends without `settle`, whether by an error or by the death of the process, they must be due as before.
        """
        ...

    async def backlog_of_all(self) -> Sequence[TierBacklog]:
        """Counts of all tenants' deliveries, one entry for each tier: for metrics, since it reads the whole queue."""
        ...

    async def complete(self, tenant_id: str, tier: Tier, subject_ids: Sequence[str]) -> None:
        """Removes deliveries that were made outside of `claim`. May be lost in a crash: the tier sees a repeat."""
        ...

    async def retry(self, caller: Caller, command: RetryCommand) -> int:
        """Makes dead letters due again. Returns how many there were; a repeat of a request id, the first response.

        Raises:
            InvalidArgument: The request id was used before with other ids.
        """
        ...

    async def purge_requests(self, *, before: datetime, limit: int) -> int:
        """Removes idempotency records from before a time. Returns how many."""
        ...

    async def purge_recalls(self, *, before: datetime, limit: int) -> int:
        """Removes records of recalls from before a time. Returns how many."""
        ...


class DeliveryBatch(Protocol):
    """Claimed deliveries."""

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """The deliveries, all of one tenant, the oldest first."""
        ...

    async def settle(self, outcome: DeliveryOutcome) -> None:
        """Removes what was done and schedules or gives up what failed; the rest is due as before."""
        ...


class RecallRecords(Protocol):
    """What recalls returned, for feedback that judges a recall as a whole."""

    async def add_recalls(self, records: Sequence[RecallRecord]) -> None:
        """Writes records of any tenants, with their entries in the audit log; those that are there are left.

        May be lost in a crash.
        """
        ...

    async def recall_record(self, tenant_id: str, user_id: str, recall_id: str) -> RecallRecord | None:
        """The record of a user's recall, None where there is none."""
        ...

    async def latest_recalls(self, tenant_id: str, user_id: str, *, limit: int) -> Sequence[RecallRecord]:
        """A user's recalls, the latest first; the query of one that is long or names something erased is empty."""
        ...

    async def judged_recalls(
        self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None
    ) -> Page[JudgedRecall]:
        """Those of the next `limit` recalls of a user, newest first, of which something was judged good.

        Recalls whose question is not stored are passed over, so a page may have fewer than `limit`, and be none.
        """
        ...

    async def claim_uses(self, *, now: datetime, until: datetime, limit: int) -> list[RecallRecord]:
        """Recalls of any tenants that returned two or more notes and whose use is not settled, the oldest first.

        They have no query, and are not claimed again before `until`.
        """
        ...

    async def settle_uses(self, records: Sequence[RecallRecord]) -> None:
        """Ends claims for good: the uses of these recalls were counted, or cannot be."""
        ...


class JournalRemoval(Protocol):
    """Takes rows out of the journal for good; idempotent.

    What is removed must be gone from every read at once. Removed interactions leave tombstones: their deliveries, dead
    letters included, are removed with them, after waiting for a worker that has claimed one, and a session that still
    holds such a turn does not bring it back into the log.
    """

    async def remove_interactions(self, tenant_id: str, user_id: str, interaction_ids: Sequence[str]) -> Removed:
        """Removes a user's interactions, with what was judged of them; ids of others are ignored."""
        ...

    async def remove_conversation(self, tenant_id: str, user_id: str, conversation_id: str) -> Removed:
        """Removes a conversation with all its interactions."""
        ...

    async def remove_user(self, tenant_id: str, user_id: str) -> Removed:
        """Removes all that is the user's, idempotency records and grants included."""
        ...

    async def remove_tenant(self, tenant_id: str) -> Removed:
        """Removes all that is the tenant's."""
        ...


class Journal(JournalWriter, JournalReader, SessionLog, DeliveryQueue, RecallRecords, JournalRemoval, Protocol):
    """The whole journal."""
