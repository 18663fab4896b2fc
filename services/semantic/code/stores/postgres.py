"""The store of the code graph on PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.sealing import OwnerSealing, opened_of
from services.common.errors import LimitExceeded, NotFound
from services.common.idempotency.postgres import PostgresIdempotencyRecords
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.tenancy import as_tenant, fetch_as_tenant, tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.common.postgres.users import users_statement
from services.semantic.code.model import (
    Deletion,
    FileState,
    FileStatus,
    IndexOutcome,
    PackedFile,
    Refusal,
    Repository,
    RepositoryHead,
    repository_resource,
)
from services.semantic.code.store import DeleteOnce, IndexOnce
from services.semantic.stores.postgres import SCHEMA
from services.semantic.stores.postgres_sealing import CODE_FILES

_USERS: Final = users_statement("semantic.code_repositories")
_REPOSITORY: Final = "tenant_id = $1 AND user_id = $2 AND repository_id = $3"

# The row is locked until the transaction ends: writes of one repository are serialized.
_LOCK: Final = """
INSERT INTO semantic.code_repositories AS r (tenant_id, user_id, repository_id, revision, file_count, line_count,
    create_time, update_time)
VALUES ($1, $2, $3, 0, 0, 0, $4, $4)
ON CONFLICT (tenant_id, user_id, repository_id) DO UPDATE SET revision = r.revision
RETURNING revision, file_count, line_count, create_time, update_time
"""
_LOCK_EXISTING: Final = f"SELECT 1 FROM semantic.code_repositories WHERE {_REPOSITORY} FOR UPDATE"  # noqa: S608
_PUT: Final = """
INSERT INTO semantic.code_files (tenant_id, user_id, repository_id, path, digest, language, status, line_count, content,
    revision)
SELECT $1, $2, $3, f.path, f.digest, f.language, f.status, f.line_count, f.content, $10
FROM unnest($4::text[], $5::text[], $6::text[], $7::smallint[], $8::integer[], $9::bytea[])
    AS f (path, digest, language, status, line_count, content)
ON CONFLICT (tenant_id, user_id, repository_id, path) DO UPDATE
SET digest = excluded.digest, language = excluded.language, status = excluded.status, line_count = excluded.line_count,
    content = excluded.content, revision = excluded.revision
"""
_REMOVE: Final = f"DELETE FROM semantic.code_files WHERE {_REPOSITORY} AND path = ANY($4) RETURNING path"  # noqa: S608
_COUNT: Final = f"""
SELECT count(*) AS files, coalesce(sum(line_count), 0) AS lines FROM semantic.code_files WHERE {_REPOSITORY}
"""  # noqa: S608 - a constant
_RAISE: Final = f"""
UPDATE semantic.code_repositories SET revision = $4, file_count = $5, line_count = $6, update_time = $7
WHERE {_REPOSITORY}
"""  # noqa: S608 - a constant
_DELETE_FILES: Final = f"DELETE FROM semantic.code_files WHERE {_REPOSITORY} RETURNING 1"  # noqa: S608
_DELETE: Final = f"DELETE FROM semantic.code_repositories WHERE {_REPOSITORY} RETURNING repository_id"  # noqa: S608
_DELETE_ALL_FILES: Final = "DELETE FROM semantic.code_files WHERE tenant_id = $1 AND user_id = $2"
_DELETE_ALL: Final = """
DELETE FROM semantic.code_repositories WHERE tenant_id = $1 AND user_id = $2 RETURNING repository_id
"""
_STATE: Final = "path, digest, language, status, line_count"
_DIGESTS: Final = as_tenant(f"SELECT {_STATE} FROM semantic.code_files WHERE {_REPOSITORY} AND path = ANY($4)")  # noqa: S608
_HEAD: Final = as_tenant(
    f"SELECT epoch, revision, file_count FROM semantic.code_repositories WHERE {_REPOSITORY}"  # noqa: S608
)
_CHANGED: Final = as_tenant(f"""
SELECT repository_id, {_STATE}, content FROM semantic.code_files WHERE {_REPOSITORY} AND revision > $4 ORDER BY path
""")  # noqa: S608 - a constant
_CONTENTS: Final = as_tenant(
    f"SELECT repository_id, {_STATE}, content FROM semantic.code_files WHERE {_REPOSITORY} AND path = ANY($4)"  # noqa: S608
)
_PATHS: Final = as_tenant(f"SELECT path FROM semantic.code_files WHERE {_REPOSITORY}")  # noqa: S608
_LIST_FILES: Final = as_tenant(f"""
SELECT {_STATE} FROM semantic.code_files WHERE {_REPOSITORY} AND ($4::text IS NULL OR path > $4) ORDER BY path LIMIT $5
""")  # noqa: S608 - a constant
_LIST: Final = as_tenant("""
SELECT repository_id, file_count, line_count, revision, create_time, update_time FROM semantic.code_repositories
WHERE tenant_id = $1 AND user_id = $2 AND ($3::text IS NULL OR repository_id > $3) ORDER BY repository_id LIMIT $4
""")


class PostgresCodeStore:
    """A `CodeStore`. A file is a row; the graph is built in memory from these."""

    def __init__(self, pool: Pool, *, keys: DataKeys = NO_DATA_KEYS) -> None:
        """Uses a pool of `create_pool`, of a role bound by row-level security; its owner closes it."""
        self._pool = pool
        self._keys = keys

    async def digests(self, owner: Owner, repository_id: str, paths: Sequence[str]) -> Mapping[str, FileState]:
        """See `CodeStore.digests`."""
        rows = await fetch_as_tenant(self._pool, _DIGESTS, *_key(owner, repository_id), list(paths))
        return {row["path"]: _state(row) for row in rows}

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
        """See `CodeStore.write`."""
        key = _key(owner, repository_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            sealing = OwnerSealing(self._keys, connection, owner)
            cipher = await sealing.cipher(is_new=True)  # before the lock of the repository, as an erasure does

            async def work() -> IndexOutcome:
                locked = await connection.fetchrow(_LOCK, *key, now)
                assert locked is not None
                gone = [*removed, *(one.path for one in refused)]
                dropped = await connection.fetch(_REMOVE, *key, gone) if gone else []
                if not files and not dropped:
                    repository = _repository({**locked, "repository_id": repository_id})
                    return IndexOutcome(tuple(unchanged), tuple(refused), 0, repository)
                revision = locked["revision"] + 1
                await connection.execute(_PUT, *key, *_columns(repository_id, files, cipher), revision)
                counted = await connection.fetchrow(_COUNT, *key)
                assert counted is not None
                if counted["files"] > files_max:
                    raise LimitExceeded("repository_files_max", files_max)
                await connection.execute(_RAISE, *key, revision, counted["files"], counted["lines"], now)
                repository = Repository(
                    repository_id, counted["files"], int(counted["lines"]), revision, locked["create_time"], now
                )
                states = [FileState(f.path, f.digest, f.language, f.status, f.line_count) for f in files]
                return IndexOutcome((*states, *unchanged), tuple(refused), len(dropped), repository)

            return await once(_records(connection, owner, sealing), work)

    async def delete(self, owner: Owner, repository_id: str, once: DeleteOnce) -> Deletion:
        """See `CodeStore.delete`."""
        key = _key(owner, repository_id)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            sealing = OwnerSealing(self._keys, connection, owner)
            await sealing.cipher(is_new=True)  # before other locks
            # Before the record of the request is looked up: of two equal calls at once, the second finds it.
            await connection.execute(_LOCK_EXISTING, *key)
            records = _records(connection, owner, sealing)

            async def work() -> Deletion:
                if await connection.fetchrow(_DELETE, *key) is None:
                    raise NotFound("repository", repository_id)
                files = await connection.fetch(_DELETE_FILES, *key)
                await records.erase(owner.user_id, [repository_resource(repository_id)])
                return Deletion(repository_id, len(files))

            return await once(records, work)

    async def head(self, owner: Owner, repository_id: str) -> RepositoryHead | None:
        """See `CodeStore.head`."""
        rows = await fetch_as_tenant(self._pool, _HEAD, *_key(owner, repository_id))
        return RepositoryHead(rows[0]["epoch"], rows[0]["revision"], rows[0]["file_count"]) if rows else None

    async def changed(self, owner: Owner, repository_id: str, *, after_revision: int) -> Sequence[PackedFile]:
        """See `CodeStore.changed`."""
        rows = await fetch_as_tenant(self._pool, _CHANGED, *_key(owner, repository_id), after_revision)
        return [_packed(row) for row in await opened_of(self._keys, self._pool, owner, CODE_FILES, rows)]

    async def contents(self, owner: Owner, repository_id: str, paths: Sequence[str]) -> Mapping[str, PackedFile]:
        """See `CodeStore.contents`."""
        rows = await fetch_as_tenant(self._pool, _CONTENTS, *_key(owner, repository_id), list(paths))
        opened = await opened_of(self._keys, self._pool, owner, CODE_FILES, rows)
        return {row["path"]: _packed(row) for row in opened}

    async def paths(self, owner: Owner, repository_id: str) -> Sequence[str]:
        """See `CodeStore.paths`."""
        rows = await fetch_as_tenant(self._pool, _PATHS, *_key(owner, repository_id))
        return [row["path"] for row in rows]

    async def list_files(
        self, owner: Owner, repository_id: str, *, after: str | None, limit: int
    ) -> Sequence[FileState]:
        """See `CodeStore.list_files`."""
        rows = await fetch_as_tenant(self._pool, _LIST_FILES, *_key(owner, repository_id), after, limit)
        return [_state(row) for row in rows]

    async def list_repositories(self, owner: Owner, *, after: str | None, limit: int) -> Sequence[Repository]:
        """See `CodeStore.list_repositories`."""
        rows = await fetch_as_tenant(self._pool, _LIST, owner.tenant_id, owner.user_id, after, limit)
        return [_repository(row) for row in rows]

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One statement, by the key of the table."""
        async with tenant_transaction(self._pool, tenant_id) as connection:
            return [UserId(row[0]) for row in await connection.fetch(_USERS, tenant_id, after, limit)]

    async def remove_owner(self, owner: Owner) -> int:
        """See `CodeStore.remove_owner`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            gone = await connection.fetch(_DELETE_ALL, owner.tenant_id, owner.user_id)
            await connection.execute(_DELETE_ALL_FILES, owner.tenant_id, owner.user_id)
            if gone:
                named = [repository_resource(row["repository_id"]) for row in gone]
                await _records(connection, owner, OwnerSealing(self._keys, connection, owner)).erase(
                    owner.user_id, named
                )
        return len(gone)


def _records(connection: Connection, owner: Owner, sealing: OwnerSealing) -> PostgresIdempotencyRecords:
    return PostgresIdempotencyRecords(connection, owner.tenant_id, schema=SCHEMA, sealing=sealing.cipher)


def _key(owner: Owner, repository_id: str) -> tuple[str, str, str]:
    return owner.tenant_id, owner.user_id, repository_id


def _columns(repository_id: str, files: Sequence[PackedFile], cipher: Cipher) -> tuple[list[Any], ...]:
    contents = [
        CODE_FILES.seal(cipher, {"repository_id": repository_id, "path": file.path, "content": file.content})["content"]
        for file in files
    ]
    return (
        [file.path for file in files],
        [file.digest for file in files],
        [file.language for file in files],
        [int(file.status) for file in files],
        [file.line_count for file in files],
        contents,
    )


def _state(row: Any) -> FileState:
    return FileState(row["path"], row["digest"], row["language"], FileStatus(row["status"]), row["line_count"])


def _packed(row: Any) -> PackedFile:
    status = FileStatus(row["status"])
    return PackedFile(row["path"], row["digest"], row["language"], status, row["line_count"], row["content"])


def _repository(row: Any) -> Repository:
    return Repository(
        row["repository_id"],
        row["file_count"],
        row["line_count"],
        row["revision"],
        row["create_time"],
        row["update_time"],
    )
