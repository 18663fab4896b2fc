"""LangGraph's store: items are documents of Mneme."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Any, TypeVar

from langgraph.store.base import BaseStore, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp, TTLConfig
from langgraph.store.base.batch import AsyncBatchedBaseStore

from mneme_client import Client, Document, MnemeClientError, SyncClient
from mneme_langgraph import plan as p

T = TypeVar("T")


class MnemeStore(BaseStore):
    """A store for synchronous code. The writes of a batch happen together or not at all, behind its reads.

    Args:
        client: Of the gateway; its owner closes it.
        user_id: Whose documents items are, or a function from a namespace to the user. Searches and lists call it with
            the beginning of namespaces, which must name the user as well.
        fields: Paths of what items are found by in searches by meaning, as in LangGraph's index; "$" is the whole
            value. Empty: only those whose `put` names fields.
        ttl: LangGraph's settings of times to live. Expired items are gone at once, whatever `sweep_interval_minutes`
            says.
        timeout_seconds: Deadline of one request that writes: a thousand items whose texts are embedded take seconds.
        dotted_filters: Whether a name with periods in a filter is a path ("address.city"), as in LangGraph's store on
            SQLite. Otherwise it is the name of one member, as in its stores on PostgreSQL and in memory.
        splits_batches: Whether a batch that does not fit into one request is sent in several, so that a failure between
            them leaves a part of it. Otherwise it is refused before anything is written.
    """

    supports_ttl = True
    __slots__ = (
        "_client",
        "_dotted_filters",
        "_fields",
        "_splits_batches",
        "_timeout_seconds",
        "_user_of",
        "ttl_config",
    )

    def __init__(
        self,
        client: SyncClient,
        user_id: str | p.UserOf,
        *,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        timeout_seconds: float = 60.0,
        dotted_filters: bool = False,
        splits_batches: bool = False,
    ) -> None:
        self._client = client
        self._user_of = _user_of(user_id)
        self._fields = fields
        self._timeout_seconds = timeout_seconds
        self._dotted_filters = dotted_filters
        self._splits_batches = splits_batches
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations; gets and searches see what was there before the puts.

        Raises:
            ValueError: The puts do not fit into one request, which is of one user and holds 1,000 of them and 4 MiB at
                most; nothing was written.
        """
        plan = p.plan_of(ops, self._user_of, self._fields)
        writes = p.requests_of_all(plan, splits=self._splits_batches)
        results: list[Result] = [None] * plan.count
        for (user_id, refresh), names in plan.gets.items():
            for names_of_one in _parts(list(names.values())):
                found = self._client.batch_get_documents(user_id, names_of_one, extend_ttl=refresh)
                _place(results, names, found)
        for index, search in plan.searches.items():
            results[index] = self._search(search)
        for index, listing in plan.lists.items():
            results[index] = self._list(listing)
        for user_id, request in writes:
            self._client.write_documents(user_id, request, timeout_seconds=self._timeout_seconds)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Returns 0: expired items are never found, and the gateway removes them by itself."""
        return 0

    def start_ttl_sweeper(self, sweep_interval_minutes: int | None = None) -> Future[None]:  # noqa: ARG002
        """Returns a future that is done, for there is nothing to sweep; see `sweep_ttl`."""
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ARG002
        """Returns True: no sweeper runs; see `sweep_ttl`."""
        return True

    def _search(self, op: SearchOp) -> list[SearchItem]:
        user_id, filters = self._user_of(op.namespace_prefix), p.filters_of(op.filter, dotted=self._dotted_filters)
        end, is_exact = op.offset + op.limit, p.is_one_page(op)
        if filters is None or op.limit <= 0:
            return []
        scored: list[tuple[Document, float | None]]
        if op.query:
            found = self._client.search_documents(
                user_id,
                op.query,
                namespace_prefix=op.namespace_prefix,
                filters=filters,
                limit=min(end, p.LIMIT_MAX),
                extend_ttl=op.refresh_ttl and is_exact,
            )
            scored = [(one.document, one.score) for one in found.documents[op.offset : end]]
        else:
            listed = self._client.list_documents(
                user_id,
                namespace_prefix=op.namespace_prefix,
                filters=filters,
                page_size=min(end, p.LIMIT_MAX),
                extend_ttl=op.refresh_ttl and is_exact,
                latest_first=True,
            )
            scored = [(document, None) for document in islice(listed, op.offset, end)]
        if op.refresh_ttl and not is_exact:
            for names in _parts([document.name for document, _ in scored if document.ttl is not None]):
                self._client.batch_get_documents(user_id, names, extend_ttl=True)
        return [p.search_item(document, score) for document, score in scored]

    def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        wanted = p.namespaces_wanted(op)
        if wanted is None:
            return []
        prefix, suffix = wanted
        listed = self._client.list_document_namespaces(
            self._user_of(prefix), prefix=prefix, suffix=suffix, max_depth=op.max_depth or 0
        )
        return list(islice(listed, op.offset, op.offset + op.limit))


class AsyncMnemeStore(AsyncBatchedBaseStore):
    """A store for asyncio: calls that are made at the same time are one batch. Made inside the event loop that uses it.

    Where one of these calls is refused, it alone fails: the others are made again, each on its own.

    Args:
        client: Of the gateway; its owner closes it.
        user_id: See `MnemeStore`.
        fields: See `MnemeStore`.
        ttl: See `MnemeStore`.
        timeout_seconds: See `MnemeStore`.
        dotted_filters: See `MnemeStore`.
        splits_batches: See `MnemeStore`. Calls of several callers that are made at the same time are sent in as many
            requests as they need in any case: each of them is one operation.
        requests_max: Requests that are on the way at once; others of this store wait.
    """

    supports_ttl = True
    __slots__ = (
        "_client",
        "_dotted_filters",
        "_fields",
        "_free",
        "_splits_batches",
        "_timeout_seconds",
        "_user_of",
        "ttl_config",
    )

    def __init__(
        self,
        client: Client,
        user_id: str | p.UserOf,
        *,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        timeout_seconds: float = 60.0,
        dotted_filters: bool = False,
        splits_batches: bool = False,
        requests_max: int = 32,
    ) -> None:
        super().__init__()
        self._splits_batches = splits_batches
        self._client = client
        self._user_of = _user_of(user_id)
        self._fields = fields
        self._timeout_seconds = timeout_seconds
        self._dotted_filters = dotted_filters
        self._free = asyncio.Semaphore(requests_max)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The same for code in another thread.

        Raises:
            InvalidStateError: It is called in the event loop, which it would block: use `abatch`.
        """
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is self._loop:
            raise asyncio.InvalidStateError("called in the event loop of the store: use its asynchronous methods")
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def aget(self, *args: Any, **kwargs: Any) -> Item | None:
        """See `BaseStore`."""
        return _raised(await super().aget(*args, **kwargs))

    async def asearch(self, *args: Any, **kwargs: Any) -> list[SearchItem]:
        """See `BaseStore`."""
        return _raised(await super().asearch(*args, **kwargs))

    async def aput(self, *args: Any, **kwargs: Any) -> None:
        """See `BaseStore`."""
        _raised(await super().aput(*args, **kwargs))  # type: ignore[func-returns-value]

    async def adelete(self, *args: Any, **kwargs: Any) -> None:
        """See `BaseStore`."""
        _raised(await super().adelete(*args, **kwargs))  # type: ignore[func-returns-value]

    async def alist_namespaces(self, *args: Any, **kwargs: Any) -> list[tuple[str, ...]]:
        """See `BaseStore`."""
        return _raised(await super().alist_namespaces(*args, **kwargs))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries out operations; gets and searches see what was there before the puts.

        Raises:
            ValueError: See `MnemeStore.batch`.
        """
        operations = list(ops)
        is_collected = asyncio.current_task() is self._task
        is_of_one = len(operations) == 1 or not is_collected
        try:
            return await self._carry_out(operations, splits=is_collected or self._splits_batches)
        except Exception as error:
            # The base class has put calls together that have nothing to do with one another.
            if is_of_one or (isinstance(error, MnemeClientError) and error.retryable):
                raise
        return await self._each_alone(operations)

    async def _each_alone(self, operations: Sequence[Op]) -> list[Any]:
        """The results of operations of several callers, reads before writes; the error of one that is refused."""
        results: list[Any] = [None] * len(operations)

        async def carry_out(index: int) -> None:
            try:
                (results[index],) = await self._carry_out([operations[index]], splits=True)
            except Exception as error:
                results[index] = error

        for are_writes in (False, True):
            chosen = [i for i, operation in enumerate(operations) if isinstance(operation, PutOp) is are_writes]
            await asyncio.gather(*map(carry_out, chosen))
        return results

    async def _carry_out(self, operations: Sequence[Op], *, splits: bool) -> list[Result]:
        plan = p.plan_of(operations, self._user_of, self._fields)
        writes = p.requests_of_all(plan, splits=splits)
        results: list[Result] = [None] * plan.count

        async def get(user_id: str, names: dict[int, Any], names_of_one: list[Any], *, refresh: bool) -> None:
            found = await self._ask(lambda: self._client.batch_get_documents(user_id, names_of_one, extend_ttl=refresh))
            _place(results, names, found)

        async def search(index: int, op: SearchOp) -> None:
            results[index] = await self._search(op)

        async def list_them(index: int, op: ListNamespacesOp) -> None:
            results[index] = await self._list(op)

        try:
            async with asyncio.TaskGroup() as group:
                for (user_id, refresh), names in plan.gets.items():
                    for names_of_one in _parts(list(names.values())):
                        group.create_task(get(user_id, names, names_of_one, refresh=refresh))
                for index, wanted in plan.searches.items():
                    group.create_task(search(index, wanted))
                for index, listing in plan.lists.items():
                    group.create_task(list_them(index, listing))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        for user_id, request in writes:
            await self._write(user_id, request)
        return results

    async def sweep_ttl(self) -> int:
        """Returns 0: expired items are never found, and the gateway removes them by itself."""
        return 0

    async def start_ttl_sweeper(self, sweep_interval_minutes: int | None = None) -> asyncio.Task[None]:  # noqa: ARG002
        """Returns a task that is done at once, for there is nothing to sweep; see `sweep_ttl`."""
        return asyncio.create_task(asyncio.sleep(0))

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ARG002
        """Returns True: no sweeper runs; see `sweep_ttl`."""
        return True

    async def _ask(self, request: Callable[[], Awaitable[T]]) -> T:
        async with self._free:
            return await request()

    async def _write(self, user_id: str, writes: list[Any]) -> None:
        timeout = self._timeout_seconds
        await self._ask(lambda: self._client.write_documents(user_id, writes, timeout_seconds=timeout))

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        user_id, filters = self._user_of(op.namespace_prefix), p.filters_of(op.filter, dotted=self._dotted_filters)
        end, is_exact = op.offset + op.limit, p.is_one_page(op)
        if filters is None or op.limit <= 0:
            return []
        scored: list[tuple[Document, float | None]]
        if query := op.query:
            found = await self._ask(
                lambda: self._client.search_documents(
                    user_id,
                    query,
                    namespace_prefix=op.namespace_prefix,
                    filters=filters,
                    limit=min(end, p.LIMIT_MAX),
                    extend_ttl=op.refresh_ttl and is_exact,
                )
            )
            scored = [(one.document, one.score) for one in found.documents[op.offset : end]]
        else:
            listed = self._client.list_documents(
                user_id,
                namespace_prefix=op.namespace_prefix,
                filters=filters,
                page_size=min(end, p.LIMIT_MAX),
                extend_ttl=op.refresh_ttl and is_exact,
                latest_first=True,
            )
            scored = [(document, None) for document in await self._ask(lambda: _slice(listed, op.offset, end))]
        if op.refresh_ttl and not is_exact:
            for names in _parts([document.name for document, _ in scored if document.ttl is not None]):
                await self._extend(user_id, names)
        return [p.search_item(document, score) for document, score in scored]

    async def _extend(self, user_id: str, names: list[Any]) -> None:
        await self._ask(lambda: self._client.batch_get_documents(user_id, names, extend_ttl=True))

    async def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        wanted = p.namespaces_wanted(op)
        if wanted is None:
            return []
        prefix, suffix = wanted
        listed = self._client.list_document_namespaces(
            self._user_of(prefix), prefix=prefix, suffix=suffix, max_depth=op.max_depth or 0
        )
        return await self._ask(lambda: _slice(listed, op.offset, op.offset + op.limit))


def _raised(result: T) -> T:
    """A result; raised where it is an error."""
    if isinstance(result, Exception):
        raise result
    return result


def _user_of(user_id: str | p.UserOf) -> p.UserOf:
    return user_id if callable(user_id) else lambda _namespace: user_id


def _parts(names: list[Any]) -> list[list[Any]]:
    distinct = list(dict.fromkeys(names))
    return [distinct[start : start + p.WRITES_MAX] for start in range(0, len(distinct), p.WRITES_MAX)]


def _place(results: list[Result], names: dict[int, Any], found: Iterable[Any]) -> None:
    """Puts documents into the places of the gets that asked for them."""
    by_name = {document.name: document for document in found}
    for index, name in names.items():
        if name in by_name:
            results[index] = p.item(by_name[name])


async def _slice(items: AsyncIterable[T], start: int, end: int) -> list[T]:
    found: list[T] = []
    if end <= start:
        return found
    index = 0
    async for one in items:
        if index >= start:
            found.append(one)
        index += 1
        if index == end:
            break
    return found
