"""Erasures in PostgreSQL, beside the journal."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from services.common.clock import Clock
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import opened_rows
from services.common.errors import Conflict, NotFound
from services.common.ids import IdSource
from services.common.maintenance.purges import note_erased
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.erasure.model import (
    EarlierCorrection,
    EarlierErasure,
    EraseCommand,
    Erasure,
    Item,
    ItemKind,
    Planned,
    Progress,
    Step,
    Target,
    TargetKind,
    advanced,
)
from services.gateway.erasure.stores.auditing import audit_erasure
from services.gateway.erasure.stores.postgres_turns import TURNS, PostgresLoggedTurns, planned_row
from services.gateway.grants.model import MemoryKind
from services.gateway.journal.model import ARCHIVE_SUFFIX, Caller, Feedback, Removed
from services.gateway.journal.stores import postgres_removal, rows
from services.gateway.journal.stores.request_records import claim_request, earlier_response, store_response

_COLUMNS: Final = (
    "tenant_id, erasure_id, user_id, kind, target, step, position, receipt, attempts, create_time, complete_time"
)
_INSERT: Final = f"""
    INSERT INTO gateway.erasures (tenant_id, erasure_id, user_id, kind, target, next_attempt_time, create_time)
    VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING {_COLUMNS}
"""  # noqa: S608 - constants, here and below
_GET: Final = f"SELECT {_COLUMNS} FROM gateway.erasures WHERE tenant_id = $1 AND erasure_id = $2"  # noqa: S608
_LIST: Final = f"""
    SELECT {_COLUMNS} FROM gateway.erasures
    WHERE tenant_id = $1 AND ($2::text IS NULL OR user_id = $2) AND ($3::uuid IS NULL OR erasure_id < $3)
    ORDER BY erasure_id DESC LIMIT $4
"""  # noqa: S608
_CLAIM: Final = f"""
    SELECT {_COLUMNS} FROM gateway.erasures WHERE complete_time IS NULL AND next_attempt_time <= $1
    ORDER BY next_attempt_time LIMIT 1 FOR UPDATE SKIP LOCKED
"""  # noqa: S608
_ADD_ITEMS: Final = """
    INSERT INTO gateway.erasure_items (tenant_id, erasure_id, kind, user_id, item_id)
    SELECT $1, $2, * FROM unnest($3::smallint[], $4::text[], $5::text[]) ON CONFLICT DO NOTHING
"""
_TURNS_OF: Final = {
    # With what was removed from its context window.
    TargetKind.CONVERSATION: (
        f"{TURNS} AND i.user_id = $2 AND i.conversation_id IN ($3::text, $3 || '{ARCHIVE_SUFFIX}')"
    ),
    TargetKind.SCOPE: f"{TURNS} AND i.user_id = $2 AND i.scope_key = ANY($3::text[])",
    TargetKind.MEMORIES: f"{TURNS} AND i.user_id = $2 AND i.interaction_id = ANY($3::uuid[])",
    TargetKind.USER: f"{TURNS} AND i.user_id = $2 AND $3::text IS NULL",
    TargetKind.TENANT: f"{TURNS} AND $2::text IS NOT NULL AND $3::text IS NULL",
}
# What a tier may get although the log is empty: named to the tiers, so that none of it is read for the first time.
_ON_THEIR_WAY: Final = """
    SELECT DISTINCT user_id, subject_id FROM gateway.deliveries
    WHERE tenant_id = $1 AND kind = 1 AND ($2 = '' OR user_id = $2)
"""
_QUERY_SCOPES: Final = """
    SELECT DISTINCT scope_key FROM gateway.recalls WHERE tenant_id = $1 AND user_id = $2 AND query <> ''
"""
_FORGET_QUERIES: Final = """
    UPDATE gateway.recalls SET query = '' WHERE tenant_id = $1 AND user_id = $2 AND query <> '' AND scope_key = ANY($3)
"""
_SCOPES: Final = "SELECT DISTINCT scope_key FROM gateway.interactions WHERE tenant_id = $1 AND user_id = $2"
_ITEMS: Final = """
    SELECT kind, user_id, item_id FROM gateway.erasure_items
    WHERE tenant_id = $1 AND erasure_id = $2 AND kind = ANY($3::smallint[]) AND (user_id, item_id) > ($4, $5)
    ORDER BY user_id, item_id LIMIT $6
"""
_EMPTY_CONVERSATION: Final = f"{postgres_removal.DELETE_CONVERSATION} AND interaction_count <= 0"
_SAVE: Final = f"""
    UPDATE gateway.erasures SET step = $3, position = $4, receipt = $5, attempts = 0, next_attempt_time = $6,
        complete_time = $7, target = CASE WHEN $7::timestamptz IS NULL THEN target ELSE '{{}}' END
    WHERE tenant_id = $1 AND erasure_id = $2 RETURNING {_COLUMNS}
"""  # noqa: S608
_POSTPONE: Final = """
    UPDATE gateway.erasures SET attempts = attempts + 1, next_attempt_time = $3 WHERE tenant_id = $1 AND erasure_id = $2
"""
_TURN: Final = f"""
    SELECT {rows.INTERACTION_COLUMNS} FROM gateway.interactions AS i WHERE i.tenant_id = $1 AND i.interaction_id = $2
"""  # noqa: S608
_SEPARATOR: Final = "\x1f"


class PostgresErasures(PostgresLoggedTurns):
    """Implements `ErasureStore`, `EarlierCorrections` and `LoggedTurns`."""

    def __init__(
        self, pool: Pool, *, clock: Clock, ids: IdSource, audited_max: int, keys: DataKeys = NO_DATA_KEYS
    ) -> None:
        """Uses the journal's pool, schema and data keys; an audit entry names `audited_max` memories."""
        super().__init__(pool, keys=keys)
        self._clock = clock
        self._ids = ids
        self._audited_max = audited_max

    async def begin(self, caller: Caller, command: EraseCommand) -> tuple[Erasure, bool]:
        """See `ErasureStore.begin`."""
        now, target = self._clock.now(), command.target
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            identifier = UUID(self._ids.new_id())
            # Of no user, so that the erasure of a user leaves the record and who asked for it.
            earlier = await claim_request(
                connection,
                caller,
                command.method,
                request_id=command.request_id,
                user_id="",
                digest=command.digest,
                now=now,
                target={"erasure": str(identifier), "kind": target.kind.name.lower()},
            )
            if earlier is not None:
                found = (await _earlier(connection, caller.tenant_id, earlier)).erasure
                if found is None:
                    raise Conflict("an equal call at the same time found nothing to erase; repeat it")
                return found, True
            row = await connection.fetchrow(
                _INSERT, caller.tenant_id, identifier, target.user_id, int(target.kind), target.to_json(), now
            )
            erasure = _from_row(row)
            items = [Item(ItemKind(kind), target.user_id, memory_id) for kind, memory_id in target.memories]
            await _add_items(connection, erasure, items)
            await audit_erasure(connection, caller, command, erasure, named_max=self._audited_max)
            await store_response(
                connection, caller, command.method, command.request_id, {"erasure": erasure.erasure_id}
            )
        return erasure, False

    async def earlier(self, caller: Caller, command: EraseCommand) -> EarlierErasure | None:
        """See `ErasureStore.earlier`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            found = await earlier_response(
                connection, caller, command.method, request_id=command.request_id, digest=command.digest
            )
            return None if found is None else await _earlier(connection, caller.tenant_id, found)

    async def settle_nothing(self, caller: Caller, command: EraseCommand) -> EarlierErasure:
        """See `ErasureStore.settle_nothing`."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            found = await claim_request(
                connection,
                caller,
                command.method,
                request_id=command.request_id,
                user_id="",
                digest=command.digest,
                now=self._clock.now(),
                target={"kind": command.target.kind.name.lower(), "memories": 0},
            )
            if found is not None:
                return await _earlier(connection, caller.tenant_id, found)
            await store_response(connection, caller, command.method, command.request_id, {"erasure": None})
        return EarlierErasure(None)

    async def earlier_correction(self, caller: Caller, request_id: str, digest: bytes) -> EarlierCorrection | None:
        """See `EarlierCorrections.earlier_correction`. What is right was written as Remember writes."""
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            response = await earlier_response(connection, caller, "Remember", request_id=request_id, digest=digest)
            if response is None:
                return None
            appended = replace(rows.appended(response), replayed=True)
            found = await connection.fetch(_TURN, caller.tenant_id, UUID(appended.interaction_ids[0]))
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return EarlierCorrection(appended, rows.interaction(opened[0]).turn.metadata if opened else None)

    async def get(self, tenant_id: str, erasure_id: str) -> Erasure:
        """See `ErasureStore.get`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return await _get(connection, tenant_id, erasure_id)

    async def list_erasures(
        self, tenant_id: str, user_id: str | None, *, before: str | None, limit: int
    ) -> Sequence[Erasure]:
        """See `ErasureStore.list_erasures`. Ids grow with time."""
        position = None if before is None else UUID(before)
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [_from_row(row) for row in await connection.fetch(_LIST, tenant_id, user_id, position, limit)]

    @contextlib.asynccontextmanager
    async def claim(self) -> AsyncIterator[PostgresErasureClaim | None]:
        """See `ErasureStore.claim`: a row lock of one transaction, so that a dead process lets go at once."""
        with translate_errors():
            async with self._pool.acquire(timeout=5.0) as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                row = await connection.fetchrow(_CLAIM, self._clock.now())
                yield (
                    PostgresErasureClaim(connection, _from_row(row), self._clock, self._keys)
                    if row is not None
                    else None
                )

    async def preview(self, tenant_id: str, target: Target, *, limit: int) -> tuple[int, Sequence[Planned]]:
        """See `ErasureStore.preview`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            statement, arguments = await _turns(connection, tenant_id, target)
            count = await connection.fetchval(f"SELECT count(*) FROM ({statement}) AS t", *arguments)  # noqa: S608
            found = await connection.fetch(
                f"{statement} ORDER BY i.said_time, i.interaction_id LIMIT $4", *arguments, limit
            )
            opened = await opened_rows(self._keys, connection, rows.INTERACTIONS, found)
        return int(count), [planned_row(row) for row in opened]


class PostgresErasureClaim:
    """Implements `ErasureClaim` inside the claiming transaction."""

    def __init__(self, connection: Connection, erasure: Erasure, clock: Clock, keys: DataKeys) -> None:
        """Belongs to the connection's open transaction."""
        self._keys = keys
        self._connection = connection
        self._erasure = erasure
        self._clock = clock

    @property
    def erasure(self) -> Erasure:
        """See `ErasureClaim.erasure`."""
        return self._erasure

    @property
    def _key(self) -> tuple[str, UUID]:
        return self._erasure.tenant_id, UUID(self._erasure.erasure_id)

    async def collect(self) -> None:
        """See `ErasureClaim.collect`."""
        tenant_id, target = self._erasure.tenant_id, self._erasure.target
        if target.kind in (TargetKind.USER, TargetKind.TENANT):
            users = [target.user_id] if target.user_id else await postgres_removal.users_of(self._connection, tenant_id)
            waiting = await self._connection.fetch(_ON_THEIR_WAY, tenant_id, target.user_id)
            items = [Item(ItemKind.EPISODE, row["user_id"], str(row["subject_id"])) for row in waiting]
            items += [Item(ItemKind.USER, user_id, "") for user_id in users]
        else:
            if target.kind is TargetKind.MEMORIES:
                target = await self._named(target)
            statement, arguments = await _turns(self._connection, tenant_id, target)
            turns = await self._connection.fetch(statement, *arguments)
            items = [Item(ItemKind.EPISODE, row["user_id"], str(row["interaction_id"])) for row in turns]
            conversations = {row["conversation_id"] for row in turns} | {target.conversation_id} - {""}
            items += [Item(ItemKind.CONVERSATION, target.user_id, conversation) for conversation in conversations]
        await self.add_items(items)

    async def _named(self, target: Target) -> Target:
        """The target with its turns, which are items already."""
        found, _ = await self.items(ItemKind.EPISODE, after="", limit=10_000)
        memories = tuple((MemoryKind.EPISODE, item.item_id) for item in found)
        return Target(target.kind, target.user_id, memories=memories)

    async def add_items(self, items: Sequence[Item]) -> None:
        """See `ErasureClaim.add_items`."""
        await _add_items(self._connection, self._erasure, items)

    async def items(self, *kinds: ItemKind, after: str, limit: int) -> tuple[Sequence[Item], str]:
        """See `ErasureClaim.items`."""
        user_id, _, item_id = after.rpartition(_SEPARATOR)
        found = await self._connection.fetch(_ITEMS, *self._key, [int(kind) for kind in kinds], user_id, item_id, limit)
        items = [Item(ItemKind(row["kind"]), row["user_id"], row["item_id"]) for row in found]
        of_one = [item for item in items if item.user_id == items[0].user_id]
        return of_one, f"{of_one[-1].user_id}{_SEPARATOR}{of_one[-1].item_id}" if of_one else after

    async def remove_interactions(self, user_id: str, interaction_ids: Sequence[str]) -> Removed:
        """See `ErasureClaim.remove_interactions`."""
        return await postgres_removal.remove_interactions(
            self._connection, self._erasure.tenant_id, user_id, interaction_ids, now=self._clock.now()
        )

    async def forget_recalls(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """See `ErasureClaim.forget_recalls`."""
        tenant_id = self._erasure.tenant_id
        judged = await postgres_removal.forget_recalls(self._connection, tenant_id, user_id, memory_ids)
        await self.add_items([Item(ItemKind.RECALL, user_id, recall_id) for recall_id in judged])

    async def judgements(self, user_id: str, recall_ids: Sequence[str]) -> Sequence[Feedback]:
        """See `ErasureClaim.judgements`."""
        return await postgres_removal.judgements(self._connection, self._erasure.tenant_id, user_id, recall_ids)

    async def remove_user(self, user_id: str, *, limit: int) -> tuple[Removed, bool]:
        """See `ErasureClaim.remove_user`."""
        tenant_id, now = self._erasure.tenant_id, self._clock.now()
        turns = await self._connection.fetch(
            "SELECT interaction_id FROM gateway.interactions WHERE tenant_id = $1 AND user_id = $2 LIMIT $3",
            tenant_id,
            user_id,
            limit,
        )
        if len(turns) == limit:
            return await self.remove_interactions(user_id, [str(row[0]) for row in turns]), False
        removed = await postgres_removal.remove_user(self._connection, tenant_id, user_id, now=now, keys=self._keys)
        return removed, True

    async def remove_conversation_record(self, user_id: str, conversation_id: str) -> None:
        """See `ErasureClaim.remove_conversation_record`."""
        await self._connection.execute(_EMPTY_CONVERSATION, self._erasure.tenant_id, user_id, conversation_id)

    async def forget_queries(self, target: Target) -> int:
        """See `ErasureClaim.forget_queries`."""
        key = (self._erasure.tenant_id, target.user_id)
        found = [row["scope_key"] for row in await self._connection.fetch(_QUERY_SCOPES, *key)]
        covered = [scope_key for scope_key in found if target.covers(scope_key)]
        if not covered:
            return 0
        return int((await self._connection.execute(_FORGET_QUERIES, *key, covered)).rpartition(" ")[2])

    async def save(self, progress: Progress) -> Erasure:
        """See `ErasureClaim.save`."""
        step, position, receipt = advanced(self._erasure, progress)
        now = self._clock.now()
        is_done = step is Step.DONE
        row = await self._connection.fetchrow(
            _SAVE, *self._key, int(step), position, receipt, now, now if is_done else None
        )
        if is_done:
            if count := sum(sum(counts.values()) for counts in receipt.values()):
                await note_erased(self._connection, count)
            if self._erasure.target.kind is TargetKind.USER:
                # Again: what was read while the user was being erased was recorded behind its response.
                await self._connection.execute(
                    postgres_removal.BLIND, self._erasure.tenant_id, self._erasure.target.user_id
                )
            await self._connection.execute(
                "DELETE FROM gateway.erasure_items WHERE tenant_id = $1 AND erasure_id = $2", *self._key
            )
        self._erasure = _from_row(row)
        return self._erasure

    async def postpone(self, until: datetime) -> None:
        """See `ErasureClaim.postpone`."""
        await self._connection.execute(_POSTPONE, *self._key, until)


async def _get(connection: Connection, tenant_id: str, erasure_id: str) -> Erasure:
    row = await connection.fetchrow(_GET, tenant_id, UUID(erasure_id))
    if row is None:
        raise NotFound("erasure", erasure_id)
    return _from_row(row)


async def _earlier(connection: Connection, tenant_id: str, response: Mapping[str, Any]) -> EarlierErasure:
    erasure_id = response["erasure"]
    return EarlierErasure(None if erasure_id is None else await _get(connection, tenant_id, erasure_id))


async def _add_items(connection: Connection, erasure: Erasure, items: Sequence[Item]) -> None:
    if items:
        await connection.execute(
            _ADD_ITEMS,
            erasure.tenant_id,
            UUID(erasure.erasure_id),
            [int(item.kind) for item in items],
            [item.user_id for item in items],
            [item.item_id for item in items],
        )


async def _turns(connection: Connection, tenant_id: str, target: Target) -> tuple[str, list[Any]]:
    """The statement for a target's turns, and its first three arguments."""
    chosen: object = None
    if target.kind is TargetKind.CONVERSATION:
        chosen = target.conversation_id
    elif target.kind is TargetKind.SCOPE:
        keys = [row["scope_key"] for row in await connection.fetch(_SCOPES, tenant_id, target.user_id)]
        chosen = [key for key in keys if target.covers(key)]
    elif target.kind is TargetKind.MEMORIES:
        chosen = [UUID(memory_id) for kind, memory_id in target.memories if kind is MemoryKind.EPISODE]
    return _TURNS_OF[target.kind], [tenant_id, target.user_id, chosen]


def _from_row(row: Any) -> Erasure:
    return Erasure(
        tenant_id=row["tenant_id"],
        erasure_id=str(row["erasure_id"]),
        target=Target.from_json(row["kind"], row["user_id"], row["target"]),
        create_time=row["create_time"],
        step=Step(row["step"]),
        position=row["position"],
        receipt=row["receipt"],
        attempts=row["attempts"],
        complete_time=row["complete_time"],
    )
