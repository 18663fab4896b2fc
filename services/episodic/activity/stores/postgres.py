"""The store of the activity log on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row, SealedTable
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import Owner, TenantId
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.episodic.activity.erased import not_erased, removal_id, removal_ids_of
from services.episodic.activity.model import (
    ContextSnapshot,
    Edit,
    FileHistory,
    FileInteraction,
    FileOperation,
    Learning,
    OperationCount,
    Record,
    Stored,
    TaskState,
    ToolExecution,
    ToolStatistics,
    advanced,
)
from services.episodic.activity.store import Position, RecordFilter, RecordOnce, Removal
from services.episodic.activity.stores import postgres_rows as rows
from services.episodic.activity.stores import postgres_sql as sql
from services.episodic.activity.stores.postgres_sealing import FILES, LEARNINGS, SNAPSHOTS, TASKS, TOOLS
from services.episodic.activity.stores.postgres_tasks import PostgresTaskStore

SCHEMA: Final = "episodic"
_DECRYPTED_AT_ONCE: Final = 1_000
"""Records that a search decrypts and compares before it looks whether it has enough."""


class _Table(NamedTuple):
    content: type
    insert: str
    columns: Callable[[Sequence[str], Any, Cipher], list[list[Any]]]


_TABLES: Final = (
    _Table(ToolExecution, sql.INSERT_TOOLS, rows.tool_columns),
    _Table(FileInteraction, sql.INSERT_FILES, rows.file_columns),
    _Table(ContextSnapshot, sql.INSERT_SNAPSHOTS, rows.snapshot_columns),
    _Table(Learning, sql.INSERT_LEARNINGS, rows.learning_columns),
)


class PostgresActivityStore(PostgresTaskStore):
    """An `ActivityStore`, on a pool of `create_pool` of a role bound by row-level security; its owner closes it."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """The database has the migrations of the tier; what records say is encrypted with `keys`."""
        super().__init__(pool, keys=keys)

    async def write(self, owner: Owner, records: Sequence[Record], once: RecordOnce | None = None) -> Stored:
        """See `ActivityStore.write`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            sealing = OwnerSealing(self._keys, connection, owner)
            await sealing.cipher(is_new=True)  # before other locks
            await connection.execute(sql.PLAN_ANEW)
            await connection.execute(sql.LOCK_OWNER, owner.tenant_id, owner.user_id)

            async def work() -> Stored:
                return await _write(connection, owner, records, sealing)

            if once is None:
                return await work()
            return await once(PostgresIdempotencyRecords(connection, owner.tenant_id, schema=SCHEMA), work)

    async def list_files(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """See `ActivityStore.list_files`."""
        found = await fetch_as_tenant(
            self._pool,
            sql.LIST_FILES_OF_PATH if query.path else sql.LIST_FILES,
            *_page(owner, query, after, limit),
            query.task_id,
            query.path,
            query.path_prefix,
            None if query.operation is None else int(query.operation),
        )
        return [rows.file_record(row) for row in await self._opened(owner, FILES, found)]

    async def list_tools(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """See `ActivityStore.list_tools`."""
        arguments = (*_page(owner, query, after, limit), query.task_id, query.tool_name, query.success)
        found = await fetch_as_tenant(self._pool, sql.LIST_TOOLS, *arguments)
        return [rows.tool_record(row) for row in await self._opened(owner, TOOLS, found)]

    async def list_snapshots(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """See `ActivityStore.list_snapshots`."""
        arguments = (*_page(owner, query, after, limit), query.task_id)
        found = await fetch_as_tenant(self._pool, sql.LIST_SNAPSHOTS, *arguments)
        return [rows.snapshot_record(row) for row in await self._opened(owner, SNAPSHOTS, found)]

    async def list_learnings(
        self, owner: Owner, query: RecordFilter, *, after: Position | None, limit: int
    ) -> Sequence[Record]:
        """See `ActivityStore.list_learnings`."""
        kind = None if query.learning_kind is None else int(query.learning_kind)
        arguments = (*_page(owner, query, after, limit), kind, query.path, query.confidence_min)
        found = await fetch_as_tenant(self._pool, sql.LIST_LEARNINGS, *arguments)
        return [rows.learning_record(row) for row in await self._opened(owner, LEARNINGS, found)]

    async def file_history(
        self, owner: Owner, path: str, *, scope_keys: Sequence[str], tasks_max: int, recent_max: int
    ) -> FileHistory:
        """See `ActivityStore.file_history`."""
        name = (owner.tenant_id, owner.user_id, list(scope_keys), path)
        operations = await fetch_as_tenant(self._pool, sql.OPERATIONS_OF_FILE, *name)
        if not operations:
            return FileHistory()
        tasks = await fetch_as_tenant(self._pool, sql.TASKS_OF_FILE, *name, tasks_max)
        query = RecordFilter(scope_keys=scope_keys, path=path)
        recent = await self.list_files(owner, query, after=None, limit=recent_max)
        return FileHistory(
            tuple(
                OperationCount(FileOperation(row["operation"]), row["count"], row["last_time"]) for row in operations
            ),
            min(row["first_time"] for row in operations),
            tuple(row["task_id"] for row in tasks),
            tuple(recent),
        )

    async def version(self, owner: Owner) -> str:
        """See `ActivityStore.version`."""
        found = await fetch_as_tenant(self._pool, sql.VERSION, owner.tenant_id, owner.user_id)
        return str(found[0]["version"]) if found else ""

    async def edits(
        self, owner: Owner, *, scope_keys: Sequence[str], since: datetime, path: str, limit: int
    ) -> Sequence[Edit]:
        """See `ActivityStore.edits`."""
        arguments: tuple[Any, ...] = (owner.tenant_id, owner.user_id, list(scope_keys), since, limit)
        if path:
            found = await fetch_as_tenant(self._pool, sql.EDITS_WITH_FILE, *arguments, path)
        else:
            found = await fetch_as_tenant(self._pool, sql.EDITS, *arguments)
        return [Edit(row["task_id"], row["path"], row["time"]) for row in found]

    async def search(
        self, owner: Owner, patterns: Sequence[str], *, scope_keys: Sequence[str], searched_max: int, limit: int
    ) -> Sequence[Record]:
        """See `ActivityStore.search`. What is encrypted is compared here, the newest records first."""
        if self._keys.is_on:
            return await self._search_opened(owner, patterns, RecordFilter(scope_keys=scope_keys), searched_max, limit)
        like = ["%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%" for text in patterns]
        arguments = (owner.tenant_id, owner.user_id, list(scope_keys), like, searched_max, limit)
        files = await fetch_as_tenant(self._pool, sql.SEARCH_FILES, *arguments)
        tools = await fetch_as_tenant(self._pool, sql.SEARCH_TOOLS, *arguments)
        return await self._newest(owner, files, tools, limit)

    async def _search_opened(
        self, owner: Owner, patterns: Sequence[str], query: RecordFilter, searched_max: int, limit: int
    ) -> Sequence[Record]:
        wanted = [pattern.lower() for pattern in patterns]
        found: list[Record] = []
        for list_page in (self.list_files, self.list_tools):
            of_kind: list[Record] = []
            after: Position | None = None
            left = searched_max
            while left > 0 and len(of_kind) < limit:
                size = min(left, _DECRYPTED_AT_ONCE)
                page = await list_page(owner, query, after=after, limit=size)
                of_kind += [one for one in page if _says_any(one, wanted)]
                if len(page) < size:
                    break
                after, left = Position(page[-1].time, page[-1].record_id), left - size
            found += of_kind[:limit]
        return _newest(found, limit)

    async def of_tasks(
        self, owner: Owner, task_ids: Sequence[str], *, scope_keys: Sequence[str], limit: int
    ) -> Sequence[Record]:
        """See `ActivityStore.of_tasks`."""
        arguments = (owner.tenant_id, owner.user_id, list(scope_keys), list(task_ids), limit)
        files = await fetch_as_tenant(self._pool, sql.FILES_OF_TASKS, *arguments)
        tools = await fetch_as_tenant(self._pool, sql.TOOLS_OF_TASKS, *arguments)
        return await self._newest(owner, files, tools, limit)

    async def tool_statistics(
        self, owner: Owner, *, scope_keys: Sequence[str], since: datetime, after: str | None, limit: int
    ) -> Sequence[ToolStatistics]:
        """See `ActivityStore.tool_statistics`."""
        arguments = (owner.tenant_id, owner.user_id, list(scope_keys), since, after, limit)
        return [
            ToolStatistics(
                tool_name=row["tool_name"],
                execution_count=row["execution_count"],
                success_count=row["success_count"],
                mean_microseconds=row["mean"],
                median_microseconds=row["median"],
                p95_microseconds=row["p95"],
                last_time=row["last_time"],
            )
            for row in await fetch_as_tenant(self._pool, sql.STATISTICS, *arguments)
        ]

    async def remove(self, owner: Owner, removal: Removal, *, now: datetime) -> int:
        """See `ActivityStore.remove`."""
        keys = None if removal.scope is None else list(removal.scope_keys)
        name = (owner.tenant_id, owner.user_id)
        count, until = 0, now
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(sql.LOCK_OWNER_TO_ERASE, *name)
            for statement in sql.DELETE:
                [gone] = await connection.fetch(statement, *name, removal.conversation_id, keys)
                count += gone["count"]
                until = max(until, gone["last_time"] or until)
            await connection.execute(sql.PUT_ERASURE, owner.tenant_id, removal_id(owner, removal), until)
            if count or removal.is_everything:
                await connection.execute(sql.REMOVE_PATTERNS, *name, None)
            if removal.is_everything:
                await connection.execute(sql.DELETE_OWNER, *name)
        return count

    async def remove_tenant(self, tenant_id: TenantId) -> int:
        """See `ActivityStore.remove_tenant`."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            await connection.execute(sql.DELETE_OWNERS, tenant_id)  # what is being learned ends before it
            count = sum([_count(await connection.execute(statement, tenant_id)) for statement in sql.DELETE_TENANT])
            for statement in sql.DELETE_TENANT_REST:
                await connection.execute(statement, tenant_id)
        return count

    async def scope_keys(self, owner: Owner) -> Sequence[str]:
        """See `ActivityStore.scope_keys`."""
        return [row[0] for row in await fetch_as_tenant(self._pool, sql.SCOPE_KEYS, owner.tenant_id, owner.user_id)]

    async def _newest(self, owner: Owner, files: Sequence[Row], tools: Sequence[Row], limit: int) -> list[Record]:
        opened_files = await self._opened(owner, FILES, files)
        opened_tools = await self._opened(owner, TOOLS, tools)
        return _newest([*map(rows.file_record, opened_files), *map(rows.tool_record, opened_tools)], limit)

    async def _opened(self, owner: Owner, table: SealedTable, found: Sequence[Row]) -> Sequence[Row]:
        return await opened_of(self._keys, self._pool, owner, table, found)


async def _write(connection: Connection, owner: Owner, sent: Sequence[Record], sealing: OwnerSealing) -> Stored:
    cipher = await sealing.cipher(is_new=True)
    removals = removal_ids_of(owner, sent)
    asked = list({one for of in removals.values() for one in of})
    erased = await connection.fetch(sql.ERASURES, owner.tenant_id, asked)
    records = not_erased(sent, removals, {row["erased_id"]: row["erase_time"] for row in erased})
    stored = 0
    for table in _TABLES:
        # Of equal ids the first: a conflict within one statement is found by time alone.
        found = {record.record_id: record for record in reversed(records) if isinstance(record.content, table.content)}
        if found:
            chosen = [*found.values()][::-1]
            contents = [record.content for record in chosen]
            ids = [record.record_id for record in chosen]
            arguments = (*rows.columns(chosen), *table.columns(ids, contents, cipher))
            stored += len(await connection.fetch(table.insert, owner.tenant_id, owner.user_id, *arguments))
    states: dict[str, list[tuple[int, Record]]] = {}
    for place, record in enumerate(records):
        if isinstance(record.content, TaskState):
            states.setdefault(record.task_id, []).append((place, record))
    if states:
        found_tasks = await connection.fetch(sql.TASKS_BY_ID, owner.tenant_id, owner.user_id, list(states))
        present = {row["task_id"]: rows.task(row) for row in await sealing.opened(TASKS, found_tasks)}
        results = [advanced(present.get(task_id), of_task) for task_id, of_task in states.items()]
        changed = [result.task for result in results if result.is_changed]
        if changed:
            await connection.execute(sql.PUT_TASKS, owner.tenant_id, owner.user_id, *rows.task_columns(changed, cipher))
        stored += sum(map(len, states.values())) - sum(result.known_count for result in results)
    return Stored(stored, len(sent) - stored)


def _page(owner: Owner, query: RecordFilter, after: Position | None, limit: int) -> tuple[Any, ...]:
    return (
        owner.tenant_id,
        owner.user_id,
        list(query.scope_keys),
        after.time if after else None,
        after.identity if after else None,
        limit,
        query.conversation_id,
    )


def _says_any(record: Record, wanted: Sequence[str]) -> bool:
    """Whether a searched field holds one of these texts, in lower case."""
    content = record.content
    if isinstance(content, FileInteraction):
        fields: tuple[str, ...] = (content.path, content.previous_path, content.reason, content.changes_summary)
    elif isinstance(content, ToolExecution):
        fields = (content.tool_name, content.parameters, content.error_message)
    else:
        return False
    return any(text in field.lower() for field in fields for text in wanted)


def _newest(records: list[Record], limit: int) -> list[Record]:
    return sorted(records, key=lambda record: (record.time, record.record_id), reverse=True)[:limit]


def _count(status: str) -> int:
    """Rows of a DELETE, by what the server returns of it."""
    return int(status.rpartition(" ")[2])
