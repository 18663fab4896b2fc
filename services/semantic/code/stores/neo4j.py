"""The store of the code graph on Neo4j."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, LiteralString

from services.common.encryption.cipher import Cipher
from services.common.encryption.neo4j import NO_GRAPH_DATA_KEYS, GraphDataKeys, GraphSealing, opened_in_graph
from services.common.errors import Conflict, LimitExceeded, NotFound
from services.common.idempotency.neo4j import Neo4jIdempotencyRecords
from services.common.neo4j.graph import Graph, GraphTransaction, Record
from services.common.neo4j.removal import RemovalQueries, query_step, remove_in_pages
from services.common.owners import Owner, TenantId, UserId
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
from services.semantic.stores.neo4j import IDEMPOTENCY, known_moment_of, microseconds
from services.semantic.stores.neo4j_sealing import CODE_FILES

_REPOSITORY: Final[LiteralString] = (
    "(r:MnemeCodeRepository {tenant_id: $tenant_id, user_id: $user_id, repository_id: $repository_id})"
)
_FILES: Final[LiteralString] = (
    "(f:MnemeCodeFile {tenant_id: $tenant_id, user_id: $user_id, repository_id: $repository_id})"
)
_STATE: Final[LiteralString] = "f {.path, .digest, .language, .status, .line_count}"
_SUMMARY: Final[LiteralString] = f"""r {{
    .repository_id, .file_count, .line_count, .revision, create_time: {microseconds("r.create_time")},
    update_time: {microseconds("r.update_time")}
}}"""

# The node is locked until the transaction ends: writes of one repository are serialized.
LOCK: Final[LiteralString] = f"""
MERGE {_REPOSITORY}
ON CREATE SET r.epoch = $epoch, r.revision = 0, r.file_count = 0, r.line_count = 0, r.create_time = $now,
    r.update_time = $now
SET r.works = coalesce(r.works, 0) + 1
RETURN {_SUMMARY} AS found
"""
# Taken where content is encrypted, before any other, and where all of a user goes.
OWNER: Final = RemovalQueries.of("MnemeCodeOwner")
LOCK_CODE: Final[LiteralString] = OWNER.lock
PUT: Final[LiteralString] = """
UNWIND $rows AS row
MERGE (f:MnemeCodeFile {
    tenant_id: $tenant_id, user_id: $user_id, repository_id: $repository_id, path: row.path
})
SET f += row.state, f.revision = $revision
"""
REMOVE: Final[LiteralString] = """
UNWIND $paths AS path
MATCH (f:MnemeCodeFile {tenant_id: $tenant_id, user_id: $user_id, repository_id: $repository_id, path: path})
WITH f, f.path AS gone
DELETE f
RETURN gone
"""
COUNT: Final[LiteralString] = f"""
MATCH {_FILES}
USING INDEX f:MnemeCodeFile(tenant_id, user_id, repository_id, path)
WHERE f.path IS NOT NULL
RETURN count(f) AS files, coalesce(sum(f.line_count), 0) AS lines
"""
RAISE: Final[LiteralString] = f"""
MATCH {_REPOSITORY}
SET r.revision = $revision, r.file_count = $files, r.line_count = $lines, r.update_time = $now
"""
DELETE: Final[LiteralString] = f"""
MATCH {_REPOSITORY}
WITH r, r.repository_id AS repository_id
DELETE r
RETURN repository_id
"""
DELETE_FILES: Final[LiteralString] = f"""
MATCH {_FILES}
USING INDEX f:MnemeCodeFile(tenant_id, user_id, repository_id, path)
WHERE f.path IS NOT NULL
WITH f, f.path AS gone
DELETE f
RETURN gone
"""
# Of a user, `limit` at most: what one transaction removes is bounded.
REMOVE_REPOSITORIES: Final[LiteralString] = """
MATCH (r:MnemeCodeRepository {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX r:MnemeCodeRepository(tenant_id, user_id, repository_id)
WHERE r.repository_id IS NOT NULL
WITH r, r.repository_id AS repository_id LIMIT $limit
DELETE r
RETURN repository_id
"""
REMOVE_FILES: Final[LiteralString] = """
MATCH (f:MnemeCodeFile {tenant_id: $tenant_id, user_id: $user_id})
USING INDEX f:MnemeCodeFile(tenant_id, user_id, repository_id, path)
WHERE f.repository_id IS NOT NULL AND f.path IS NOT NULL
WITH f LIMIT $limit
DELETE f
RETURN count(*) AS removed
"""
DIGESTS: Final[LiteralString] = f"""
UNWIND $paths AS path
MATCH (f:MnemeCodeFile {{tenant_id: $tenant_id, user_id: $user_id, repository_id: $repository_id, path: path}})
RETURN {_STATE} AS found
"""
CONTENTS: Final[LiteralString] = f"""
UNWIND $paths AS path
MATCH (f:MnemeCodeFile {{tenant_id: $tenant_id, user_id: $user_id, repository_id: $repository_id, path: path}})
RETURN {_STATE} AS found, f.content AS content
"""
HEAD: Final[LiteralString] = f"""
MATCH {_REPOSITORY}
RETURN r.epoch AS epoch, r.revision AS revision, r.file_count AS file_count
"""
CHANGED: Final[LiteralString] = f"""
MATCH {_FILES}
USING INDEX f:MnemeCodeFile(tenant_id, user_id, repository_id, revision)
WHERE f.revision > $revision
RETURN {_STATE} AS found, f.content AS content
ORDER BY f.path
"""
LIST_FILES: Final[LiteralString] = f"""
MATCH {_FILES}
USING INDEX f:MnemeCodeFile(tenant_id, user_id, repository_id, path)
WHERE f.path > $after
RETURN {_STATE} AS found
ORDER BY f.path
LIMIT $limit
"""
LIST: Final[LiteralString] = f"""
MATCH (r:MnemeCodeRepository {{tenant_id: $tenant_id, user_id: $user_id}})
USING INDEX r:MnemeCodeRepository(tenant_id, user_id, repository_id)
WHERE r.repository_id > $after
RETURN {_SUMMARY} AS found
ORDER BY r.repository_id
LIMIT $limit
"""
USERS: Final[LiteralString] = """
MATCH (n:MnemeCodeRepository {tenant_id: $tenant_id})
USING INDEX n:MnemeCodeRepository(tenant_id, user_id, repository_id)
WHERE n.user_id > $after AND n.repository_id IS NOT NULL
WITH DISTINCT n.user_id AS user_id ORDER BY user_id LIMIT $limit
RETURN user_id
"""
ALL_QUERIES: Final[tuple[LiteralString, ...]] = (
    LOCK,
    *OWNER.all,
    PUT,
    REMOVE,
    COUNT,
    RAISE,
    DELETE,
    DELETE_FILES,
    REMOVE_REPOSITORIES,
    REMOVE_FILES,
    DIGESTS,
    CONTENTS,
    HEAD,
    CHANGED,
    LIST_FILES,
    LIST,
    USERS,
)
"""For the test that reads their plans."""

_FILES_MAX: Final = 1_000_000
_REMOVED_MAX: Final = 500
"""Files have contents: fewer of them than of other nodes go in one transaction."""


class Neo4jCodeStore:
    """A `CodeStore`. A file is a node with what it defines inside; the graph is built in memory from these."""

    def __init__(
        self, graph: Graph, *, keys: GraphDataKeys = NO_GRAPH_DATA_KEYS, removed_max: int = _REMOVED_MAX
    ) -> None:
        """Uses a graph whose migrations ran; its owner closes it.

        Args:
            graph: Where repositories are.
            keys: Encrypt what is read of files.
            removed_max: Files that one transaction removes at most where all of a user goes.
        """
        self._graph = graph
        self._keys = keys
        self._removed_max = removed_max

    async def digests(self, owner: Owner, repository_id: str, paths: Sequence[str]) -> Mapping[str, FileState]:
        """See `CodeStore.digests`."""
        rows = await self._graph.read(DIGESTS, {**_key(owner, repository_id), "paths": list(paths)})
        return {row["found"]["path"]: _state(row["found"]) for row in rows}

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

        async def change(transaction: GraphTransaction, sealing: GraphSealing) -> IndexOutcome:
            locked = await transaction.run(LOCK, {**key, "epoch": uuid.uuid4().int >> 76, "now": now})
            before = _repository(locked[0]["found"])
            gone = [*removed, *(one.path for one in refused)]
            dropped = await transaction.run(REMOVE, {**key, "paths": gone})
            if not files and not dropped:
                return IndexOutcome(tuple(unchanged), tuple(refused), 0, before)
            revision = before.revision + 1
            cipher = await sealing.cipher(is_new=True)
            rows = await asyncio.to_thread(lambda: [_row(repository_id, file, cipher) for file in files])
            await transaction.run(PUT, {**key, "rows": rows, "revision": revision})
            counted = (await transaction.run(COUNT, key))[0]
            if counted["files"] > files_max:
                raise LimitExceeded("repository_files_max", files_max)
            totals = {"revision": revision, "files": counted["files"], "lines": counted["lines"], "now": now}
            await transaction.run(RAISE, {**key, **totals})
            after = Repository(repository_id, counted["files"], counted["lines"], revision, before.create_time, now)
            states = [FileState(f.path, f.digest, f.language, f.status, f.line_count) for f in files]
            return IndexOutcome((*states, *unchanged), tuple(refused), len(dropped), after)

        async def work(transaction: GraphTransaction) -> IndexOutcome:
            sealing = await self._sealing(transaction, owner)
            return await once(_records(transaction, owner, sealing), lambda: change(transaction, sealing))

        return await self._graph.write(work)

    async def delete(self, owner: Owner, repository_id: str, once: DeleteOnce) -> Deletion:
        """See `CodeStore.delete`."""
        key = _key(owner, repository_id)

        async def remove(transaction: GraphTransaction, records: Neo4jIdempotencyRecords) -> Deletion:
            if not await transaction.run(DELETE, key):
                raise NotFound("repository", repository_id)
            files = await transaction.run(DELETE_FILES, key)
            await records.erase(owner.user_id, [repository_resource(repository_id)])
            return Deletion(repository_id, len(files))

        async def work(transaction: GraphTransaction) -> Deletion:
            records = _records(transaction, owner, await self._sealing(transaction, owner))
            return await once(records, lambda: remove(transaction, records))

        try:
            return await self._graph.write(work)
        except (Conflict, NotFound):
            # An equal call at the same time may have deleted it, and stored the record of the request, since that was
            # looked up.
            return await self._graph.write(work)

    async def head(self, owner: Owner, repository_id: str) -> RepositoryHead | None:
        """See `CodeStore.head`."""
        rows = await self._graph.read(HEAD, _key(owner, repository_id))
        return RepositoryHead(rows[0]["epoch"], rows[0]["revision"], rows[0]["file_count"]) if rows else None

    async def changed(self, owner: Owner, repository_id: str, *, after_revision: int) -> Sequence[PackedFile]:
        """See `CodeStore.changed`."""
        rows = await self._graph.read(CHANGED, {**_key(owner, repository_id), "revision": after_revision})
        return await self._opened(owner, repository_id, rows)

    async def contents(self, owner: Owner, repository_id: str, paths: Sequence[str]) -> Mapping[str, PackedFile]:
        """See `CodeStore.contents`."""
        rows = await self._graph.read(CONTENTS, {**_key(owner, repository_id), "paths": list(paths)})
        return {file.path: file for file in await self._opened(owner, repository_id, rows)}

    async def paths(self, owner: Owner, repository_id: str) -> Sequence[str]:
        """See `CodeStore.paths`."""
        return [one.path for one in await self.list_files(owner, repository_id, after=None, limit=_FILES_MAX)]

    async def list_files(
        self, owner: Owner, repository_id: str, *, after: str | None, limit: int
    ) -> Sequence[FileState]:
        """See `CodeStore.list_files`."""
        rows = await self._graph.read(LIST_FILES, {**_key(owner, repository_id), "after": after or "", "limit": limit})
        return [_state(row["found"]) for row in rows]

    async def list_repositories(self, owner: Owner, *, after: str | None, limit: int) -> Sequence[Repository]:
        """See `CodeStore.list_repositories`."""
        of = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}
        rows = await self._graph.read(LIST, {**of, "after": after or "", "limit": limit})
        return [_repository(row["found"]) for row in rows]

    async def users(self, tenant_id: TenantId, *, after: UserId, limit: int) -> list[UserId]:
        """One query, by an index."""
        found = await self._graph.read(USERS, {"tenant_id": tenant_id, "after": after, "limit": limit})
        return [UserId(row["user_id"]) for row in found]

    async def remove_owner(self, owner: Owner) -> int:
        """See `CodeStore.remove_owner`. Page by page; repositories first, so that none is read any more."""
        key = {"tenant_id": owner.tenant_id, "user_id": owner.user_id}

        async def remove_repositories(transaction: GraphTransaction, limit: int) -> int:
            gone = await transaction.run(REMOVE_REPOSITORIES, {**key, "limit": limit})
            resources = [repository_resource(row["repository_id"]) for row in gone]
            if resources:
                await Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY).erase(owner.user_id, resources)
            return len(resources)

        steps = (remove_repositories, query_step(REMOVE_FILES, key))
        return await remove_in_pages(self._graph, steps, key, queries=OWNER, limit=self._removed_max)

    async def _sealing(self, transaction: GraphTransaction, owner: Owner) -> GraphSealing:
        """The user's cipher, under a lock that a destruction of the key takes too, as it takes none of repositories."""
        if self._keys.is_on:
            await transaction.run(LOCK_CODE, {"tenant_id": owner.tenant_id, "user_id": owner.user_id})
        return GraphSealing(self._keys, transaction, owner)

    async def _opened(self, owner: Owner, repository_id: str, rows: Sequence[Record]) -> list[PackedFile]:
        named = [{**row["found"], "repository_id": repository_id, "content": bytes(row["content"])} for row in rows]
        files = await opened_in_graph(self._keys, self._graph.read, owner, CODE_FILES, named)
        return [_packed(file, file["content"]) for file in files]


def _records(transaction: GraphTransaction, owner: Owner, sealing: GraphSealing) -> Neo4jIdempotencyRecords:
    return Neo4jIdempotencyRecords(transaction, owner.tenant_id, IDEMPOTENCY, sealing=sealing.cipher)


def _key(owner: Owner, repository_id: str) -> dict[str, Any]:
    return {"tenant_id": owner.tenant_id, "user_id": owner.user_id, "repository_id": repository_id}


def _row(repository_id: str, file: PackedFile, cipher: Cipher) -> dict[str, Any]:
    key = {"repository_id": repository_id, "path": file.path}
    state = {
        "digest": file.digest,
        "language": file.language,
        "status": int(file.status),
        "line_count": file.line_count,
        "content": CODE_FILES.seal(cipher, {**key, "content": file.content})["content"],
    }
    return {"path": file.path, "state": state}


def _packed(found: Mapping[str, Any], content: Any) -> PackedFile:
    status = FileStatus(found["status"])
    return PackedFile(found["path"], found["digest"], found["language"], status, found["line_count"], bytes(content))


def _state(found: Mapping[str, Any]) -> FileState:
    return FileState(
        found["path"], found["digest"], found["language"], FileStatus(found["status"]), found["line_count"]
    )


def _repository(found: Mapping[str, Any]) -> Repository:
    return Repository(
        found["repository_id"],
        found["file_count"],
        found["line_count"],
        found["revision"],
        known_moment_of(found["create_time"]),
        known_moment_of(found["update_time"]),
    )
