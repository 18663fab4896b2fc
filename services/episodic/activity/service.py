"""Use cases of the activity log."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from services.common.clock import Clock
from services.common.errors import NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.owners import Owner, TenantId
from services.common.scope import Scope
from services.common.tier_embedder import TierEmbedder
from services.episodic.activity.config import ActivitySettings
from services.episodic.activity.model import (
    EditedTogether,
    FileHistory,
    FileInteraction,
    Hit,
    Match,
    Pattern,
    Record,
    SimilarTask,
    Stored,
    Task,
    TaskStatus,
    ToolExecution,
    ToolStatistics,
)
from services.episodic.activity.store import ActivityStore, ComparedTask, Position, Removal, Vector
from services.episodic.activity.together import edited_together
from services.episodic.activity.words import words_of

_NO_VECTOR: Final = -1.0
_PAIRS_CACHED: Final = timedelta(minutes=1)
_CACHED_LISTS_MAX: Final = 8
_CACHED_PAIRS_MAX: Final = 20_000


class ActivityService:
    """The logs of all users. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: ActivityStore,
        embedder: TierEmbedder,
        *,
        clock: Clock,
        settings: ActivitySettings,
        retention_seconds: float,
    ) -> None:
        """All collaborators are owned by the caller; requests are recognised again for `retention_seconds`."""
        self.store = store
        self._embedder = embedder
        self._clock = clock
        self._settings = settings
        self._writes = Idempotency(Stored, retention_seconds=retention_seconds)
        self._pairs: dict[tuple[object, ...], tuple[datetime, list[EditedTogether]]] = {}

    async def record(self, owner: Owner, key: IdempotencyKey | None, records: Sequence[Record]) -> Stored:
        """Stores records, all or none; without a key their ids alone make a repeat harmless.

        Raises:
            InvalidArgument: A task's first state has no description, or the request id was used for something else.
        """
        if key is None:
            return await self.store.write(owner, records)
        once = functools.partial(
            self._writes.run, now=self._clock.now(), user_id=owner.user_id, resource_id=lambda _: "activity"
        )
        return await self.store.write(owner, records, lambda known, work: once(known, key, work))

    async def file_history(self, owner: Owner, path: str, scope_keys: Sequence[str]) -> FileHistory:
        """Whether a file was seen before."""
        queries = self._settings.queries
        return await self.store.file_history(
            owner, path, scope_keys=scope_keys, tasks_max=queries.history_tasks, recent_max=queries.history_recent
        )

    async def edited_together(
        self,
        owner: Owner,
        scope_keys: Sequence[str],
        *,
        path: str,
        count_min: int | None,
        within_seconds: float | None,
        since: datetime | None,
    ) -> list[EditedTogether]:
        """Pairs of files that are edited together, the most frequent first; with a path, it comes first in each.

        The last results are cached until the log changes, at most for a minute: pages of one list are computed once.
        """
        version = await self.store.version(owner)
        asked = (owner.key, tuple(scope_keys), path, count_min, within_seconds, since, version)
        now = self._clock.now()
        cached = self._pairs.get(asked)
        if cached is not None and now - cached[0] < _PAIRS_CACHED:
            return cached[1]
        found = await self._edited_together(
            owner, scope_keys, path=path, count_min=count_min, within_seconds=within_seconds, since=since
        )
        if version and len(found) <= _CACHED_PAIRS_MAX:
            self._pairs[asked] = (now, found)
            while len(self._pairs) > _CACHED_LISTS_MAX:
                del self._pairs[next(iter(self._pairs))]
        return found

    async def _edited_together(
        self,
        owner: Owner,
        scope_keys: Sequence[str],
        *,
        path: str,
        count_min: int | None,
        within_seconds: float | None,
        since: datetime | None,
    ) -> list[EditedTogether]:
        queries = self._settings.queries
        edits = await self.store.edits(
            owner,
            scope_keys=scope_keys,
            since=since or self._days_ago(queries.edited_since_days),
            path=path,
            limit=queries.edits_max,
        )
        # Many edits take a moment: other requests are served meanwhile.
        pairs = await asyncio.to_thread(
            edited_together,
            edits,
            within_seconds=within_seconds or queries.edited_within_seconds,
            count_min=count_min or queries.edited_count_min,
            burst_files_max=queries.burst_files_max,
            path=path,
        )
        if not path:
            return pairs
        return [
            EditedTogether(
                path,
                pair.other_path if pair.path == path else pair.path,
                pair.count,
                pair.task_count,
                pair.last_time,
            )
            for pair in pairs
        ]

    async def owner_patterns(self, owner: Owner) -> Sequence[Pattern]:
        """The most confident patterns of a user in all scopes."""
        return await self.store.list_patterns(
            owner,
            scope_keys=await self.store.scope_keys(owner),
            kind=None,
            path="",
            confidence_min=0.0,
            after=None,
            limit=self._settings.patterns.listed_max,
        )

    async def search(self, owner: Owner, query: str, scope_keys: Sequence[str], *, limit: int) -> list[Hit]:
        """What was last done with something: records that fit at least half as well as the best, newest first."""
        queries = self._settings.queries
        wanted = words_of(query)
        found = await self.store.search(
            owner,
            sorted({query.strip(), *wanted}),
            scope_keys=scope_keys,
            searched_max=queries.searched_max,
            limit=queries.found_max,
        )
        hits = {_identity(record): _by_words(record, query.strip(), wanted) for record in found}
        tasks = await self.similar_tasks(owner, query, scope_keys, limit=queries.similar_tasks_searched)
        similarities = {one.task.task_id: min(one.similarity, 1.0) for one in tasks}
        of_tasks = await self.store.of_tasks(owner, list(similarities), scope_keys=scope_keys, limit=queries.found_max)
        for record in of_tasks:
            hit = Hit(record, Match.TASK, similarities[record.task_id])
            known = hits.get(_identity(record))
            if known is None or known.score < hit.score:
                hits[_identity(record)] = hit
        best = max((hit.score for hit in hits.values()), default=0.0)
        shown = [hit for hit in hits.values() if hit.score > 0.0 and hit.score >= queries.score_share_min * best]
        shown.sort(key=lambda hit: (hit.record.time, hit.record.record_id), reverse=True)
        return shown[:limit]

    async def tool_statistics(
        self, owner: Owner, scope_keys: Sequence[str], *, since: datetime | None, after: str | None, limit: int
    ) -> Sequence[ToolStatistics]:
        """Success and duration by tool, by name."""
        start = since or self._days_ago(self._settings.queries.statistics_since_days)
        return await self.store.tool_statistics(owner, scope_keys=scope_keys, since=start, after=after, limit=limit)

    async def get_task(self, owner: Owner, task_id: str, scope_keys: Sequence[str]) -> Task:
        """A task with its files and tools.

        Raises:
            NotFound: There is none that the reader sees.
        """
        task = await self.store.get_task(owner, task_id, scope_keys=scope_keys)
        if task is None:
            raise NotFound("task", task_id)
        return (await self._with_uses(owner, [task], scope_keys))[0]

    async def list_tasks(
        self,
        owner: Owner,
        scope_keys: Sequence[str],
        *,
        statuses: Sequence[TaskStatus],
        conversation_id: str,
        after: Position | None,
        limit: int,
    ) -> Sequence[Task]:
        """Tasks with their files and tools, those that began last first."""
        tasks = await self.store.list_tasks(
            owner, scope_keys=scope_keys, statuses=statuses, conversation_id=conversation_id, after=after, limit=limit
        )
        return await self._with_uses(owner, tasks, scope_keys)

    async def similar_tasks(
        self,
        owner: Owner,
        query: str,
        scope_keys: Sequence[str],
        *,
        limit: int,
        statuses: Sequence[TaskStatus] = (),
        except_task_id: str = "",
    ) -> list[SimilarTask]:
        """Tasks whose descriptions are similar in meaning to a text, the most similar first."""
        queries = self._settings.queries
        compared = await self.store.compared_tasks(
            owner,
            scope_keys=scope_keys,
            statuses=statuses,
            model=self._embedder.model_id,
            limit=queries.compared_tasks_max,
        )
        compared = [one for one in compared if one.task.task_id != except_task_id]
        if not compared or not limit:
            return []
        wanted = await self._embedder.embed_query(query)
        vectors = await self._vectors(owner, compared)
        scored = [
            (float(wanted @ vector) if vector is not None else _NO_VECTOR, one.task)
            for one, vector in zip(compared, vectors, strict=True)
        ]
        scored = [pair for pair in scored if pair[0] >= queries.similarity_min]
        scored.sort(key=lambda pair: (-pair[0], pair[1].task_id))
        best = scored[:limit]
        tasks = await self._with_uses(owner, [task for _, task in best], scope_keys)
        return [SimilarTask(task, similarity) for task, (similarity, _) in zip(tasks, best, strict=True)]

    async def remove(self, owner: Owner, removal: Removal) -> int:
        """Removes records; how many."""
        return await self.store.remove(owner, removal, now=self._clock.now())

    async def remove_scope(self, owner: Owner, scope: Scope, *, with_nested: bool) -> int:
        """Removes the records of a scope, and of those below it; how many."""
        keys = [
            key
            for key in await self.store.scope_keys(owner)
            if (found := Scope.from_key(key)) == scope or (with_nested and found.sees(scope))
        ]
        return await self.remove(owner, Removal(scope=scope, with_nested=with_nested, scope_keys=keys))

    async def remove_tenant(self, tenant_id: TenantId) -> int:
        """Removes everything of a tenant; how many records."""
        return await self.store.remove_tenant(tenant_id)

    async def _vectors(self, owner: Owner, compared: Sequence[ComparedTask]) -> list[Vector | None]:
        """Vectors of tasks. Some of those without one are embedded, and stored for the next search."""
        vectors = [one.vector for one in compared]
        missing = [place for place, vector in enumerate(vectors) if vector is None]
        missing = missing[: self._settings.queries.embedded_max]
        if missing:
            made = await self._embedder.embed([compared[place].task.description for place in missing])
            for place, vector in zip(missing, made, strict=True):
                vectors[place] = np.asarray(vector, np.float32)
            pairs = [(compared[place].task, vector) for place, vector in zip(missing, made, strict=True)]
            await self.store.put_vectors(owner, pairs, model=self._embedder.model_id)
        return vectors

    async def _with_uses(self, owner: Owner, tasks: Sequence[Task], scope_keys: Sequence[str]) -> Sequence[Task]:
        items_max = self._settings.queries.task_items_max
        return await self.store.with_uses(owner, tasks, scope_keys=scope_keys, items_max=items_max)

    def _days_ago(self, days: int) -> datetime:
        return self._clock.now() - timedelta(days=days)


def _identity(record: Record) -> tuple[type, str]:
    return type(record.content), record.record_id


def _by_words(record: Record, query: str, wanted: frozenset[str]) -> Hit:
    """How well a record fits by its path and texts: a path that holds the whole query fits best."""
    content, paths, texts = record.content, "", ""
    if isinstance(content, FileInteraction):
        paths = f"{content.path} {content.previous_path}"
        texts = f"{content.reason} {content.changes_summary}"
    elif isinstance(content, ToolExecution):
        texts = f"{content.tool_name} {content.parameters} {content.error_message}"
    if paths and query.casefold() in paths.casefold():
        return Hit(record, Match.PATH, 1.0)
    if not wanted:
        return Hit(record, Match.WORDS, 1.0)
    of_path = wanted & words_of(paths)
    share = len(of_path | (wanted & words_of(texts))) / len(wanted)
    return Hit(record, Match.PATH if of_path else Match.WORDS, share)
