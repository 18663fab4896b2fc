"""Use cases of the code graph."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from weakref import WeakValueDictionary

from services.common.cache import OwnerCache
from services.common.clock import Clock
from services.common.errors import NotFound
from services.common.idempotency.model import Idempotency, IdempotencyKey
from services.common.owners import Owner, TenantId, UserId
from services.common.tokens import token_counter
from services.semantic.code.config import CodeSettings
from services.semantic.code.excerpts import FoundFile, excerpts_of, lines_of_place
from services.semantic.code.exclusion import content_refusal, path_refusal
from services.semantic.code.model import (
    Deletion,
    Excerpt,
    FileState,
    IndexOutcome,
    Refusal,
    Repository,
    repository_resource,
)
from services.semantic.code.outline import Outline, outline_of
from services.semantic.code.packing import text_of
from services.semantic.code.parsers import CodeParsers
from services.semantic.code.question import question_of
from services.semantic.code.repository import RepositoryIndex
from services.semantic.code.store import CodeStore

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file as it came."""

    path: str
    content: bytes


class OwnerRepositories:
    """The repositories of one user that are in memory."""

    def __init__(self) -> None:
        """None yet."""
        self.indexes: dict[str, RepositoryIndex] = {}

    @property
    def size_bytes(self) -> int:
        """Memory that they take, about."""
        return sum(index.size_bytes for index in self.indexes.values())


class CodeService:
    """Indexes repositories and answers questions about them. Arguments have been checked for form by the edge."""

    def __init__(
        self,
        store: CodeStore,
        parsers: CodeParsers,
        *,
        clock: Clock,
        cache: OwnerCache,
        settings: CodeSettings,
        retention_seconds: float,
    ) -> None:
        """All collaborators are owned by the caller; requests are recognised again for `retention_seconds`."""
        self._store = store
        self._parsers = parsers
        self._clock = clock
        self._cache = cache.kind("code")
        self._settings = settings
        self._indexing = Idempotency(IndexOutcome, retention_seconds=retention_seconds)
        self._deletions = Idempotency(Deletion, retention_seconds=retention_seconds)
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._loading: dict[asyncio.Task[RepositoryIndex], tuple[str, str]] = {}

    async def aclose(self) -> None:
        """Stops loading repositories."""
        for task in self._loading:
            task.cancel()
        await asyncio.gather(*self._loading, return_exceptions=True)

    async def index(
        self,
        owner: Owner,
        key: IdempotencyKey,
        repository_id: str,
        files: Sequence[UploadedFile],
        removed: Sequence[str],
    ) -> IndexOutcome:
        """Adds and replaces files, and removes others.

        Raises:
            LimitExceeded: The repository would have too many files.
            InvalidArgument: The request id was used for something else.
        """
        refused: list[Refusal] = []
        taken: list[UploadedFile] = []
        for file in files:
            bytes_max = self._settings.limits.file_bytes_max
            reason = path_refusal(file.path) or content_refusal(file.content, bytes_max=bytes_max)
            if reason:
                refused.append(Refusal(file.path, reason))
            else:
                taken.append(file)
        stored = await self._store.digests(owner, repository_id, [file.path for file in taken])
        unchanged: list[FileState] = []
        changed: list[tuple[str, bytes]] = []
        for file in taken:
            state = stored.get(file.path)
            if state is not None and state.digest == hashlib.sha256(file.content).hexdigest():
                unchanged.append(state)
            else:
                changed.append((file.path, file.content))
        packed = await self._parsers.parse(changed)
        now = self._clock.now()
        outcome = await self._store.write(
            owner,
            repository_id,
            files=packed,
            unchanged=unchanged,
            refused=refused,
            removed=removed,
            files_max=self._settings.limits.repository_files_max,
            now=now,
            once=lambda records, work: self._indexing.run(
                records,
                key,
                work,
                now=now,
                user_id=owner.user_id,
                resource_id=lambda _: repository_resource(repository_id),
            ),
        )
        if (owner.key, repository_id) not in self._loading.values():
            self._load(owner, repository_id)  # the next query finds it in memory
        return outcome

    async def delete(self, owner: Owner, key: IdempotencyKey, repository_id: str) -> Deletion:
        """Deletes a repository.

        Raises:
            NotFound: There is none.
            InvalidArgument: The request id was used for something else.
        """
        now = self._clock.now()
        deletion = await self._store.delete(
            owner,
            repository_id,
            lambda records, work: self._deletions.run(
                records,
                key,
                work,
                now=now,
                user_id=owner.user_id,
                resource_id=lambda _: f"deletion of repository {repository_id}",
            ),
        )
        self._forget(owner, repository_id)
        return deletion

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have repositories; see `CodeStore.users`."""
        return await self._store.users(tenant_id, after=after, limit=limit)

    async def remove_owner(self, owner: Owner) -> int:
        """Deletes all repositories of a user; how many there were."""
        count = await self._store.remove_owner(owner)
        self._cache.forget((owner.tenant_id, owner.user_id))
        return count

    async def list_repositories(
        self, owner: Owner, *, after: str | None, page_size: int
    ) -> tuple[Sequence[Repository], str | None]:
        """Repositories by id, and after which id the next page begins."""
        found = await self._store.list_repositories(owner, after=after, limit=page_size + 1)
        more = len(found) > page_size
        return found[:page_size], found[page_size - 1].repository_id if more else None

    async def list_files(
        self, owner: Owner, repository_id: str, *, after: str | None, page_size: int
    ) -> tuple[Sequence[FileState], str | None]:
        """Files by path, and after which path the next page begins.

        Raises:
            NotFound: There is no such repository.
        """
        if await self._store.head(owner, repository_id) is None:
            raise NotFound("repository", repository_id)
        found = await self._store.list_files(owner, repository_id, after=after, limit=page_size + 1)
        more = len(found) > page_size
        return found[:page_size], found[page_size - 1].path if more else None

    async def ask(self, owner: Owner, repository_id: str, question: Callable[[RepositoryIndex], T]) -> T:
        """What a function finds in the newest state of a repository. It runs on a thread, one at a time.

        Raises:
            NotFound: There is no such repository, or what the function says is not there.
        """
        # A caller that gives up does not stop the loading, which would begin anew with the next one.
        index = await asyncio.shield(self._load(owner, repository_id))
        async with self._lock(owner, repository_id):
            return await asyncio.to_thread(index.locked, question)

    def _load(self, owner: Owner, repository_id: str) -> asyncio.Task[RepositoryIndex]:
        """Brings a repository in memory up to date, in a task of its own."""
        task = asyncio.ensure_future(self._newest(owner, repository_id))
        self._loading[task] = (owner.key, repository_id)
        task.add_done_callback(self._loaded)
        return task

    def _loaded(self, task: asyncio.Task[RepositoryIndex]) -> None:
        del self._loading[task]
        if not task.cancelled():
            task.exception()  # read here, since asyncio logs a failure that nobody reads; callers that wait get it too

    def _lock(self, owner: Owner, repository_id: str) -> asyncio.Lock:
        """What changes and questions of a repository wait for."""
        return self._locks.setdefault((owner.key, repository_id), asyncio.Lock())

    async def excerpts(
        self, owner: Owner, repository_id: str, files: Sequence[FoundFile], *, lines_max: int, lines_min: int
    ) -> list[list[Excerpt]]:
        """Lines of files that were found, in order; none of a file without its text, or that changed meanwhile.

        How many each file has: see `lines_of_place`.
        """
        stored = await self._store.contents(owner, repository_id, [file.path for file in files])

        def cut() -> list[list[Excerpt]]:
            found = []
            for place, file in enumerate(files):
                packed = stored.get(file.path)
                text = text_of(packed) if packed is not None and packed.digest == file.digest else None
                most = lines_of_place(place, lines_max=lines_max, lines_min=lines_min)
                found.append(excerpts_of(text, file.symbols, file.part, lines_max=most) if text else [])
            return found

        return await asyncio.to_thread(cut)

    async def outline(self, owner: Owner, repository_id: str, *, token_budget: int, query: str) -> Outline:
        """The most important definitions as text.

        Raises:
            NotFound: There is no such repository.
        """
        counter = token_counter()
        question = question_of(query) if query else None

        def build(index: RepositoryIndex) -> Outline:
            ranked = index.ranked_paths(question)
            return outline_of(index, ranked, token_budget=token_budget, count_tokens=counter.count_tokens)

        return await self.ask(owner, repository_id, build)

    async def _newest(self, owner: Owner, repository_id: str) -> RepositoryIndex:
        async with self._lock(owner, repository_id):
            return await self._brought_up_to_date(owner, repository_id)

    async def _brought_up_to_date(self, owner: Owner, repository_id: str) -> RepositoryIndex:
        head = await self._store.head(owner, repository_id)
        if head is None:
            self._forget(owner, repository_id)
            raise NotFound("repository", repository_id)
        name = (owner.tenant_id, owner.user_id)
        entry: OwnerRepositories = self._cache.get(name) or OwnerRepositories()
        index = entry.indexes.get(repository_id)
        if index is None or index.epoch != head.epoch:
            index = RepositoryIndex(self._settings.ranking, epoch=head.epoch)
        if index.revision < head.revision:
            # A reader of a state that is being replaced must not see half of it: it is under the repository's lock.
            changed = await self._store.changed(owner, repository_id, after_revision=index.revision)
            await asyncio.to_thread(index.locked, lambda held: held.put_all(changed))
            if len(index.graph) != head.file_count:
                paths = await self._store.paths(owner, repository_id)
                await asyncio.to_thread(index.locked, lambda held: held.keep_only(paths))
            index.revision = head.revision
            entry.indexes[repository_id] = index
            self._cache.put(name, entry)
        return index

    def _forget(self, owner: Owner, repository_id: str) -> None:
        name = (owner.tenant_id, owner.user_id)
        entry = self._cache.peek(name)
        if entry is not None and entry.indexes.pop(repository_id, None) is not None:
            self._cache.put(name, entry)
