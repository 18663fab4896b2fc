"""The journal in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import structlog
from asyncpg.pool import PoolAcquireContext

from services.common.clock import Clock
from services.common.encryption.cipher import PLAIN, Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import opened_rows
from services.common.errors import Conflict, MnemeError
from services.common.ids import IdSource
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.settings_types import Count, CountOrNone, DurationOrNone, Seconds
from services.common.turns import MessageRole
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.gate import GateSettings, WriteGate
from services.gateway.journal.model import (
    Appended,
    Caller,
    Conversation,
    DeadLetter,
    DeliveryState,
    FeedbackCommand,
    FeedbackRecorded,
    Interaction,
    Page,
    RememberCommand,
    RetryPolicy,
    SequenceSpan,
    Tier,
    TierBacklog,
)
from services.gateway.journal.store import Cursor
from services.gateway.journal.stores import rows
from services.gateway.journal.stores.postgres_queue import PostgresQueue
from services.gateway.journal.stores.postgres_recalls import PostgresRecalls
from services.gateway.journal.stores.postgres_removal import PostgresRemoval
from services.gateway.journal.stores.postgres_sessions import PostgresSessions

_log = structlog.get_logger(__name__)

MIGRATIONS: Final = Path(__file__).parent.parent / "migrations"
SCHEMA: Final = "gateway"

_APPEND: Final = """
    SELECT gateway.append_interactions(
        $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22
    )
"""
_APPEND_FEEDBACK: Final = """
    SELECT gateway.append_feedback($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""
_JUDGED_BY: Final = {
    MemoryKind.EPISODE: (Tier.EPISODIC, Tier.PROFILE),
    MemoryKind.FACT: (Tier.SEMANTIC,),
    MemoryKind.NOTE: (Tier.AGENTIC,),
}
"""The tiers that take feedback on memories of a kind."""


def _judges(command: FeedbackCommand) -> set[Tier]:
    """The tiers that a judgement is delivered to. Procedures are learned from recalls where profiles are."""
    judges = {tier for kind, _ in command.memories for tier in _JUDGED_BY[kind]}
    return judges | {Tier.PROFILE} if command.recall_id else judges


@dataclass(frozen=True, slots=True)
class PostgresJournalSettings:
    """How the journal writes."""

    tiers: tuple[Tier, ...] = tuple(Tier)  # tiers that interactions are delivered to
    gated_tiers: tuple[Tier, ...] = (Tier.SESSION, Tier.PROFILE)  # those of them that take what the write gate stopped
    gate: GateSettings = field(default_factory=GateSettings)
    session_delay: DurationOrNone = timedelta(seconds=2)  # head start of the gateway's own session append
    speakers_max: CountOrNone = 256  # names read for one user
    conflict_attempts: Count = 3  # tries of a write that a deadlock with another one undoes
    acquire_timeout_seconds: Seconds = 5.0  # patience with a pool that has no free connection
    retry: RetryPolicy = field(default_factory=RetryPolicy)


class PostgresJournal(PostgresSessions, PostgresQueue, PostgresRecalls, PostgresRemoval):
    """Implements the `Journal` port; see there for what each method guarantees."""

    def __init__(
        self,
        pool: Pool,
        *,
        clock: Clock,
        ids: IdSource,
        settings: PostgresJournalSettings | None = None,
        keys: DataKeys = NO_DATA_KEYS,
    ) -> None:
        """Uses a pool whose role is bound by row-level security; the schema must be migrated.

        What users said is encrypted with `keys`.
        """
        self._pool = pool
        self._keys = keys
        self._clock = clock
        self._ids = ids
        self._settings = settings or PostgresJournalSettings()
        self._gate = WriteGate(self._settings.gate)
        self._retry = self._settings.retry
        self._last_tenants = {}

    def _acquire(self) -> PoolAcquireContext:
        return self._pool.acquire(timeout=self._settings.acquire_timeout_seconds)

    async def append(
        self, caller: Caller, commands: Sequence[RememberCommand], *, tries_session: bool = False
    ) -> Sequence[Appended | MnemeError]:
        """See `JournalWriter.append`. One command is one round trip, several share one commit."""
        for _ in range(self._settings.conflict_attempts - 1):
            try:
                return await self._append(caller, commands, tries_session=tries_session)
            except Conflict:
                # Two writers waited for each other, and this one gave way; nothing of it was written.
                _log.info("append_repeated_after_conflict")
        return await self._append(caller, commands, tries_session=tries_session)

    async def _append(
        self, caller: Caller, commands: Sequence[RememberCommand], *, tries_session: bool
    ) -> Sequence[Appended | MnemeError]:
        delay = self._settings.session_delay if tries_session else timedelta()
        if len(commands) == 1 and not self._keys.is_on:
            with translate_errors():
                async with self._acquire() as connection:
                    return [await self._append_one(connection, caller, commands[0], delay, PLAIN)]
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            ciphers = await self._keys.for_writing(connection, caller.tenant_id, {c.user_id for c in commands})
            # Names first and sorted, so that batches with the same new speakers cannot wait for each other.
            names = sorted(
                {
                    (c.user_id, ciphers.of(caller.tenant_id, c.user_id).seal_name("speaker", turn.speaker))
                    for c in commands
                    for turn in c.turns
                    if turn.speaker
                }
            )
            await connection.execute(
                "INSERT INTO gateway.speakers (tenant_id, user_id, speaker)"
                " SELECT $1, n.user_id, n.speaker FROM unnest($2::text[], $3::text[]) AS n (user_id, speaker)"
                " ON CONFLICT DO NOTHING",
                caller.tenant_id,
                [user_id for user_id, _ in names],
                [speaker for _, speaker in names],
            )
            # Conversations in a fixed order, so that two batches over the same ones cannot wait for each other;
            # within a conversation the order is the caller's.
            order = sorted(range(len(commands)), key=lambda i: _lock_key(commands[i]))
            outcomes: dict[int, Appended | MnemeError] = {}
            for index in order:
                cipher = ciphers.of(caller.tenant_id, commands[index].user_id)
                outcomes[index] = await self._append_one(connection, caller, commands[index], delay, cipher)
        return [outcomes[index] for index in range(len(commands))]

    async def _append_one(
        self,
        connection: Connection,
        caller: Caller,
        command: RememberCommand,
        session_delay: timedelta,
        cipher: Cipher,
    ) -> Appended | MnemeError:
        turns = command.turns
        verdicts = await self._gate.judge(turns)
        ids = [UUID(text) for text in command.interaction_ids] or [UUID(self._ids.new_id()) for _ in turns]
        sealed = [rows.sealed_turn(cipher, identifier, turn) for identifier, turn in zip(ids, turns, strict=True)]
        result = await connection.fetchval(
            _APPEND,
            caller.tenant_id,
            caller.principal_id,
            command.request_id,
            command.digest,
            command.user_id,
            command.conversation_id,
            command.scope.key,
            ids,
            [int(turn.role) for turn in turns],
            [one["speaker"] for one in sealed],
            [one["content"] for one in sealed],
            [turn.time for turn in turns],
            [one["extra"] for one in sealed],
            [int(verdict.reason) for verdict in verdicts],
            [verdict.detail for verdict in verdicts],
            [verdict.reason.is_gated for verdict in verdicts],
            [int(tier) for tier in command.tiers or self._settings.tiers],
            [int(tier) for tier in self._settings.gated_tiers],
            int(Tier.SESSION),
            session_delay,
            caller.trace_context,
            self._clock.now(),
        )
        try:
            rows.checked(result)
        except MnemeError as error:
            return error
        return rows.appended(result)

    async def append_feedback(self, caller: Caller, command: FeedbackCommand) -> FeedbackRecorded:
        """See `JournalWriter.append_feedback`."""
        with translate_errors():
            async with self._acquire() as connection:
                result = await connection.fetchval(
                    _APPEND_FEEDBACK,
                    caller.tenant_id,
                    caller.principal_id,
                    command.request_id,
                    command.digest,
                    command.user_id,
                    UUID(self._ids.new_id()),
                    UUID(command.recall_id) if command.recall_id else None,
                    [int(kind) for kind, _ in command.memories],
                    [UUID(memory_id) for _, memory_id in command.memories],
                    command.value,
                    sorted(map(int, _judges(command))),
                    caller.trace_context,
                    self._clock.now(),
                )
        rows.checked(result)
        span = SequenceSpan(result["first"], result["last"])
        return FeedbackRecorded(span, result["memories"], replayed=bool(result.get("replayed")))

    async def conversations(
        self, tenant_id: str, user_id: str, *, limit: int, after: Cursor | None
    ) -> Page[Conversation]:
        """See `JournalReader.conversations`."""
        parameters: list[Any] = [tenant_id, user_id, limit + 1]
        condition = ""
        if after is not None:
            parameters += [rows.from_micros(after[0]), str(after[1])]
            condition = "AND (update_time < $4 OR (update_time = $4 AND conversation_id > $5))"
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                "SELECT conversation_id, user_id, interaction_count, create_time, update_time"  # noqa: S608 - a constant
                " FROM gateway.conversations WHERE tenant_id = $1 AND user_id = $2 AND interaction_count > 0 "
                f"{condition} ORDER BY update_time DESC, conversation_id LIMIT $3",
                *parameters,
            )
        items = [Conversation(*row) for row in found]
        return _page(items, limit, lambda c: (rows.to_micros(c.update_time), c.conversation_id))

    async def interactions(
        self, tenant_id: str, user_id: str, conversation_id: str, *, limit: int, after: Cursor | None
    ) -> Page[Interaction]:
        """See `JournalReader.interactions`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                f"SELECT {rows.INTERACTION_COLUMNS} FROM gateway.interactions i WHERE i.tenant_id = $1"  # noqa: S608
                " AND i.user_id = $2 AND i.conversation_id = $3 AND i.position > $4"
                " ORDER BY i.position LIMIT $5",
                tenant_id,
                user_id,
                conversation_id,
                int(after[0]) if after is not None else -1,
                limit + 1,
            )
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return _page([rows.interaction(row) for row in opened], limit, lambda i: (i.position,))

    async def session_interactions(
        self, tenant_id: str, user_id: str, conversation_id: str, *, limit: int
    ) -> Sequence[Interaction]:
        """See `JournalReader.session_interactions`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                f"SELECT {rows.INTERACTION_COLUMNS} FROM gateway.conversations c"  # noqa: S608 - constants
                " JOIN gateway.interactions i ON i.tenant_id = c.tenant_id AND i.user_id = c.user_id"
                " AND i.conversation_id = c.conversation_id AND i.position >= c.session_start"
                " WHERE c.tenant_id = $1 AND c.user_id = $2 AND c.conversation_id = $3"
                " ORDER BY i.position DESC LIMIT $4",
                tenant_id,
                user_id,
                conversation_id,
                limit,
            )
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return [rows.interaction(row) for row in reversed(opened)]

    async def known_interactions(self, tenant_id: str, interaction_ids: Sequence[str]) -> frozenset[str]:
        """See `JournalReader.known_interactions`. Ids that are no UUIDs are not known."""
        wanted = [identifier for identifier in map(rows.uuid_or_none, interaction_ids) if identifier]
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return await rows.known_ids(connection, tenant_id, wanted)

    async def turn_sources(self, tenant_id: str, interaction_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """See `JournalReader.turn_sources`. Ids that are no UUIDs are not known."""
        wanted = [identifier for identifier in map(rows.uuid_or_none, interaction_ids) if identifier]
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                "SELECT tenant_id, user_id, interaction_id, extra FROM gateway.interactions"
                " WHERE tenant_id = $1 AND interaction_id = ANY($2) AND extra ?| ARRAY['sources', 'sealed']",
                tenant_id,
                wanted,
            )
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return {
            str(row["interaction_id"]): tuple(row["extra"]["sources"]) for row in opened if "sources" in row["extra"]
        }

    async def turn_speakers(
        self, tenant_id: str, user_id: str, interaction_ids: Sequence[str]
    ) -> dict[str, tuple[MessageRole, str]]:
        """See `JournalReader.turn_speakers`. Ids that are no UUIDs are not known."""
        wanted = [identifier for identifier in map(rows.uuid_or_none, interaction_ids) if identifier]
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return await rows.turn_speakers(self._keys, connection, tenant_id, user_id, wanted)

    async def speakers(self, tenant_id: str, user_id: str) -> Sequence[str]:
        """See `JournalReader.speakers`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                "SELECT tenant_id, user_id, speaker FROM gateway.speakers WHERE tenant_id = $1 AND user_id = $2"
                " ORDER BY speaker LIMIT $3",
                tenant_id,
                user_id,
                self._settings.speakers_max,
            )
            opened = await opened_rows(self._keys, connection, rows.SPEAKERS, found)
        return [row["speaker"] for row in opened] if opened is found else sorted({row["speaker"] for row in opened})

    async def delivery_state(self, tenant_id: str, span: SequenceSpan, tiers: Sequence[Tier]) -> DeliveryState:
        """See `JournalReader.delivery_state`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            is_pending = await connection.fetchval(
                "SELECT bool_or(given_up_time IS NULL) FROM gateway.deliveries WHERE tenant_id = $1"
                " AND sequence BETWEEN $2 AND $3 AND tier = ANY($4)",
                tenant_id,
                span.first,
                span.last,
                [int(tier) for tier in tiers],
            )
        if is_pending is None:
            return DeliveryState.DELIVERED
        return DeliveryState.PENDING if is_pending else DeliveryState.GIVEN_UP

    async def pending_count(self, tenant_id: str, *, count_max: int) -> int:
        """See `JournalReader.pending_count`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetchval(
                "SELECT count(*) FROM (SELECT FROM gateway.deliveries"
                " WHERE tenant_id = $1 AND given_up_time IS NULL LIMIT $2) AS pending",
                tenant_id,
                count_max,
            )
        return int(found)

    async def backlog(self, tenant_id: str) -> Sequence[TierBacklog]:
        """See `JournalReader.backlog`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return rows.backlog(await connection.fetch(f"{rows.BACKLOG} WHERE tenant_id = $1 GROUP BY tier", tenant_id))

    async def dead_letters(
        self, tenant_id: str, *, tier: Tier | None, limit: int, after: Cursor | None
    ) -> Page[DeadLetter]:
        """See `JournalReader.dead_letters`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            found = await connection.fetch(
                "SELECT delivery_id, tier, subject_id, user_id, attempts, last_reason, last_detail, given_up_time"
                " FROM gateway.deliveries WHERE tenant_id = $1 AND given_up_time IS NOT NULL"
                " AND delivery_id > $2 AND ($3::smallint IS NULL OR tier = $3)"
                " ORDER BY delivery_id LIMIT $4",
                tenant_id,
                int(after[0]) if after is not None else 0,
                int(tier) if tier is not None else None,
                limit + 1,
            )
        items = [DeadLetter(row[0], Tier(row[1]), str(row[2]), *tuple(row)[3:]) for row in found]
        return _page(items, limit, lambda letter: (letter.delivery_id,))


def _lock_key(command: RememberCommand) -> tuple[str, str]:
    return (command.user_id, command.conversation_id)


def _page(items: Iterable[Any], limit: int, cursor: Any) -> Page[Any]:
    found = tuple(items)
    return Page(found[:limit], cursor(found[limit - 1]) if len(found) > limit else None)
