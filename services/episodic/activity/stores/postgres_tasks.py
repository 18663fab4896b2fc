"""Tasks and patterns of the activity log on PostgreSQL."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.owners import Owner
from services.common.postgres.tenancy import fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Pool
from services.episodic.activity.model import Pattern, PatternKind, Task, TaskStatus
from services.episodic.activity.store import ComparedTask, Position, Vector
from services.episodic.activity.stores import postgres_rows as rows
from services.episodic.activity.stores import postgres_sql as sql
from services.episodic.activity.stores.postgres_sealing import PATTERNS, TASKS

_STORED: Final = np.dtype("<f2")
"""Half precision: the third decimal of a similarity is not needed."""


class PostgresTaskStore:
    """The part of an `ActivityStore` that reads tasks and patterns."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

    async def list_tasks(
        self,
        owner: Owner,
        *,
        scope_keys: Sequence[str],
        statuses: Sequence[TaskStatus],
        conversation_id: str,
        after: Position | None,
        limit: int,
    ) -> Sequence[Task]:
        """See `ActivityStore.list_tasks`."""
        found = await fetch_as_tenant(
            self._pool,
            sql.LIST_TASKS,
            owner.tenant_id,
            owner.user_id,
            list(scope_keys),
            after.time if after else None,
            after.identity if after else None,
            limit,
            conversation_id,
            _numbers(statuses),
        )
        return [rows.task(row) for row in await opened_of(self._keys, self._pool, owner, TASKS, found)]

    async def get_task(self, owner: Owner, task_id: str, *, scope_keys: Sequence[str]) -> Task | None:
        """See `ActivityStore.get_task`."""
        arguments = (owner.tenant_id, owner.user_id, list(scope_keys), task_id)
        stored = await fetch_as_tenant(self._pool, sql.GET_TASK, *arguments)
        found = await opened_of(self._keys, self._pool, owner, TASKS, stored)
        return rows.task(found[0]) if found else None

    async def with_uses(
        self, owner: Owner, tasks: Sequence[Task], *, scope_keys: Sequence[str], items_max: int
    ) -> Sequence[Task]:
        """See `ActivityStore.with_uses`."""
        if not tasks:
            return []
        ids = [task.task_id for task in tasks]
        arguments = (owner.tenant_id, owner.user_id, list(scope_keys), ids, items_max)
        files: dict[str, list[tuple[str, int]]] = defaultdict(list)
        tools: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for uses, statement in ((files, sql.FILES_TOUCHED), (tools, sql.TOOLS_USED)):
            for row in await fetch_as_tenant(self._pool, statement, *arguments):
                uses[row["task_id"]].append((row["name"], row["count"]))
        return [
            replace(
                task,
                files_touched=tuple(path for path, _ in files[task.task_id]),
                tools_used=tuple(tools[task.task_id]),
            )
            for task in tasks
        ]

    async def compared_tasks(
        self, owner: Owner, *, scope_keys: Sequence[str], statuses: Sequence[TaskStatus], model: str, limit: int
    ) -> Sequence[ComparedTask]:
        """See `ActivityStore.compared_tasks`."""
        arguments = (owner.tenant_id, owner.user_id, list(scope_keys), _numbers(statuses), model, limit)
        found = await fetch_as_tenant(self._pool, sql.COMPARED_TASKS, *arguments)
        return [
            ComparedTask(
                rows.task(row),
                None if row["embedding"] is None else np.frombuffer(row["embedding"], _STORED).astype(np.float32),
            )
            for row in await opened_of(self._keys, self._pool, owner, TASKS, found)
        ]

    async def put_vectors(self, owner: Owner, vectors: Sequence[tuple[Task, Vector]], *, model: str) -> None:
        """See `ActivityStore.put_vectors`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            cipher = await OwnerSealing(self._keys, connection, owner).cipher(is_new=True)
            await connection.execute(
                sql.PUT_VECTORS,
                owner.tenant_id,
                owner.user_id,
                [task.task_id for task, _ in vectors],
                [task.start_time for task, _ in vectors],
                rows.descriptions([task for task, _ in vectors], cipher),
                [vector.astype(_STORED).tobytes() for _, vector in vectors],
                model,
            )

    async def list_patterns(
        self,
        owner: Owner,
        *,
        scope_keys: Sequence[str],
        kind: PatternKind | None,
        path: str,
        confidence_min: float,
        after: tuple[float, str] | None,
        limit: int,
    ) -> Sequence[Pattern]:
        """See `ActivityStore.list_patterns`."""
        found = await fetch_as_tenant(
            self._pool,
            sql.LIST_PATTERNS,
            owner.tenant_id,
            owner.user_id,
            list(scope_keys),
            *(after or (None, None)),
            limit,
            None if kind is None else int(kind),
            path,
            confidence_min,
        )
        return [rows.pattern(row) for row in await opened_of(self._keys, self._pool, owner, PATTERNS, found)]


def _numbers(statuses: Sequence[TaskStatus]) -> list[int] | None:
    return [int(status) for status in statuses] or None
