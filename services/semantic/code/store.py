"""The port of the code graph's stores. `tests/contract/code_store.py` is the suite that every driver passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from services.common.idempotency.model import IdempotencyRecords
from services.common.owners import Owner, TenantId, UserId
from services.semantic.code.model import (
    Deletion,
    FileState,
    IndexOutcome,
    PackedFile,
    Refusal,
    Repository,
    RepositoryHead,
)

IndexOnce: TypeAlias = Callable[[IdempotencyRecords, Callable[[], Awaitable[IndexOutcome]]], Awaitable[IndexOutcome]]
DeleteOnce: TypeAlias = Callable[[IdempotencyRecords, Callable[[], Awaitable[Deletion]]], Awaitable[Deletion]]


class CodeStore(Protocol):
    """Repositories of users with their files. No operation sees those of another owner."""

    async def digests(self, owner: Owner, repository_id: str, paths: Sequence[str]) -> Mapping[str, FileState]:
        """The state of stored files among `paths`."""
        ...

    async def write(
        self,
        owner: Owner,
        repository_id: str,
        *,
        files: Sequence[PackedFile],
        unchanged: Sequence[FileState],
        refused: Sequence[Refusal],
        removed: Sequence[str],
        files_max: int,
        now: datetime,
        once: IndexOnce,
    ) -> IndexOutcome:
        """Add or replace files and remove others, in one step with the idempotency record.

        Must serialize writes of one repository, and raise its revision where something changes.

        Args:
            owner: Whose.
            repository_id: Created where it is not there.
            files: New states, each path once.
            unchanged: Files that are stored as they are; named in the outcome.
            refused: Files that are not indexed; their earlier states must be removed.
            removed: Paths to remove; unknown ones are ignored.
            files_max: Files that the repository may have.
            now: When.
            once: Runs the work once for a request id.

        Raises:
            LimitExceeded: The repository would have more files; nothing is changed then.
        """
        ...

    async def delete(self, owner: Owner, repository_id: str, once: DeleteOnce) -> Deletion:
        """Delete a repository, and erase responses about it.

        Raises:
            NotFound: There is none.
        """
        ...

    async def head(self, owner: Owner, repository_id: str) -> RepositoryHead | None:
        """The revision of a repository; None where there is none. Must be cheap: every query begins with it."""
        ...

    async def changed(self, owner: Owner, repository_id: str, *, after_revision: int) -> Sequence[PackedFile]:
        """Files whose state is newer than a revision, with their contents, by path."""
        ...

    async def contents(self, owner: Owner, repository_id: str, paths: Sequence[str]) -> Mapping[str, PackedFile]:
        """Stored files among `paths` with their contents."""
        ...

    async def paths(self, owner: Owner, repository_id: str) -> Sequence[str]:
        """Paths of all files."""
        ...

    async def list_files(
        self, owner: Owner, repository_id: str, *, after: str | None, limit: int
    ) -> Sequence[FileState]:
        """Files by path, from the one after `after`."""
        ...

    async def list_repositories(self, owner: Owner, *, after: str | None, limit: int) -> Sequence[Repository]:
        """Repositories by id, from the one after `after`."""
        ...

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """Users of a tenant that have repositories, after one, in the order of their ids."""
        ...

    async def remove_owner(self, owner: Owner) -> int:
        """Delete all repositories of a user, and erase responses about them; how many there were."""
        ...
