"""Documents in PostgreSQL, in the schema of the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np

from services.common.clock import Clock
from services.common.encryption.cipher import Cipher
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.encryption.rows import Row, opened_rows
from services.common.errors import AlreadyExists, Conflict, InvalidArgument, LimitExceeded
from services.common.ids import IdSource
from services.common.owners import Owner, TenantId, UserId
from services.common.postgres.pool import translate_errors
from services.common.postgres.tenancy import tenant_transaction
from services.common.postgres.types import Connection, Pool
from services.gateway.documents.config import DocumentSettings
from services.gateway.documents.model import (
    Document,
    DocumentName,
    DocumentWrite,
    Namespace,
    Position,
    Vectors,
    WriteDocuments,
    WriteResult,
    Written,
    parsed_json,
)
from services.gateway.documents.store import Found, Listed
from services.gateway.journal.model import Caller
from services.gateway.journal.stores import rows
from services.gateway.journal.stores.request_records import claim_request, store_response

_METHOD: Final = "WriteDocuments"
_SEPARATOR: Final = "\x1f"
_AFTER_SEPARATOR: Final = "\x20"

_OF_USER: Final = "d.tenant_id = $1 AND d.user_id = $2"
_LIVES: Final = "(d.expire_time IS NULL OR d.expire_time > $3)"
_NAMED: Final = "unnest($4::text[], $5::text[]) WITH ORDINALITY AS w (namespace, key, number)"
_SAME_NAME: Final = "d.namespace = w.namespace AND d.key = w.key"
_UNDER: Final = "d.namespace >= $4 AND ($5 = '' OR d.namespace < $5)"
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('mneme.documents' || chr(31) || $1 || chr(31) || $2, 0))"
_SIZE: Final = "octet_length(d.value) + pg_column_size(d.search_texts)"
# Of what follows after too many bytes, the names alone.
_SHOWN: Final = """
    d.tenant_id, d.user_id, d.namespace, d.key, d.etag, d.create_time, d.update_time, d.ttl_seconds, d.expire_time,
    CASE WHEN d.before < $6 THEN d.value END AS value, CASE WHEN d.before < $6 THEN d.search_texts END AS search_texts
"""

_PRESENT: Final = f"""
    SELECT d.namespace, d.key, d.etag, d.create_time FROM {_NAMED}
    JOIN gateway.documents AS d ON {_OF_USER} AND {_SAME_NAME} WHERE {_LIVES}
"""  # noqa: S608 - constants, here and below
_PUT: Final = """
    INSERT INTO gateway.documents (tenant_id, user_id, namespace, key, value, search_texts, embedding, embedding_model,
                                   etag, create_time, update_time, ttl_seconds, expire_time)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    ON CONFLICT (tenant_id, user_id, namespace, key) DO UPDATE
        SET value = $5, search_texts = $6, embedding = $7, embedding_model = $8, etag = $9, create_time = $10,
            update_time = $11, ttl_seconds = $12, expire_time = $13
"""
_DELETE: Final = """
    DELETE FROM gateway.documents AS d USING unnest($3::text[], $4::text[]) AS w (namespace, key)
    WHERE d.tenant_id = $1 AND d.user_id = $2 AND d.namespace = w.namespace AND d.key = w.key
"""
_COUNT: Final = f"SELECT count(*) FROM gateway.documents AS d WHERE {_OF_USER} AND {_LIVES}"  # noqa: S608
_GET: Final = f"""
    SELECT {_SHOWN} FROM (
        SELECT d.*, w.number, sum({_SIZE}) OVER (ORDER BY w.number) - ({_SIZE}) AS before
        FROM {_NAMED} JOIN gateway.documents AS d ON {_OF_USER} AND {_SAME_NAME} WHERE {_LIVES}
    ) AS d ORDER BY d.number
"""  # noqa: S608
_LIST: Final = f"""
    SELECT {_SHOWN} FROM (
        SELECT d.*, sum({_SIZE}) OVER (ORDER BY d.namespace, d.key) - ({_SIZE}) AS before FROM (
            SELECT * FROM gateway.documents AS d WHERE {_OF_USER} AND {_LIVES} AND {_UNDER}
                AND ($7 = '' OR starts_with(d.key, $7)) AND ($8::text IS NULL OR (d.namespace, d.key) > ($8, $9))
            ORDER BY d.namespace, d.key LIMIT $10
        ) AS d
    ) AS d ORDER BY d.namespace, d.key
"""  # noqa: S608
_LIST_LATEST: Final = f"""
    SELECT {_SHOWN} FROM (
        SELECT d.*, sum({_SIZE}) OVER (ORDER BY d.update_time DESC, d.namespace, d.key) - ({_SIZE}) AS before FROM (
            SELECT * FROM gateway.documents AS d WHERE {_OF_USER} AND {_LIVES} AND {_UNDER}
                AND ($7 = '' OR starts_with(d.key, $7)) AND d.update_time <= coalesce($8::timestamptz, 'infinity')
                AND ($8::timestamptz IS NULL OR d.update_time < $8 OR (d.namespace, d.key) > ($9, $10))
            ORDER BY d.update_time DESC, d.namespace, d.key LIMIT $11
        ) AS d
    ) AS d ORDER BY d.update_time DESC, d.namespace, d.key
"""  # noqa: S608
_NAMESPACES: Final = f"""
    SELECT DISTINCT d.namespace FROM gateway.documents AS d WHERE {_OF_USER} AND {_LIVES} AND {_UNDER}
    ORDER BY d.namespace
"""  # noqa: S608
_VECTORS: Final = f"""
    SELECT d.namespace, d.key, d.etag, CASE WHEN d.embedding_model = $6 THEN d.embedding END AS embedding
    FROM gateway.documents AS d WHERE {_OF_USER} AND {_LIVES} AND {_UNDER} AND d.search_texts <> '[]'
    ORDER BY d.namespace, d.key
"""  # noqa: S608
_PUT_VECTORS: Final = """
    UPDATE gateway.documents SET embedding = $6, embedding_model = $7
    WHERE tenant_id = $1 AND user_id = $2 AND namespace = $3 AND key = $4 AND etag = $5
"""
_EXTEND: Final = f"""
    UPDATE gateway.documents AS d SET expire_time = $3::timestamptz + d.ttl_seconds * interval '1 second'
    FROM {_NAMED} WHERE {_OF_USER} AND {_SAME_NAME} AND {_LIVES} AND d.ttl_seconds IS NOT NULL
"""  # noqa: S608
_REMOVE_EXPIRED: Final = """
    DELETE FROM gateway.documents AS d USING (
        SELECT tenant_id, user_id, namespace, key FROM gateway.documents WHERE expire_time <= $1
        ORDER BY expire_time LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS old
    WHERE d.tenant_id = old.tenant_id AND d.user_id = old.user_id AND d.namespace = old.namespace AND d.key = old.key
"""


class PostgresDocuments:
    """Implements the `DocumentStore` port; see there for what each method guarantees."""

    def __init__(
        self, pool: Pool, *, clock: Clock, ids: IdSource, settings: DocumentSettings, keys: DataKeys = NO_DATA_KEYS
    ) -> None:
        """Uses the journal's pool, schema and data keys."""
        self._pool = pool
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._keys = keys

    async def write(self, caller: Caller, command: WriteDocuments, vectors: Sequence[Vectors], model: str) -> Written:
        """See `DocumentStore.write`."""
        now = self._clock.now()
        owner = Owner(TenantId(caller.tenant_id), UserId(command.user_id))
        async with tenant_transaction(self._pool, caller.tenant_id) as connection:
            cipher = (await self._keys.for_writing(connection, owner.tenant_id, [owner.user_id])).of(*_key(owner))
            earlier = await claim_request(
                connection,
                caller,
                _METHOD,
                request_id=command.request_id,
                user_id=command.user_id,
                digest=command.digest,
                now=now,
            )
            if earlier is not None:
                return Written(tuple(map(_result_of, earlier["results"])), replayed=True)
            await connection.execute(_LOCK, *_key(owner))
            present = await self._present(connection, owner, command.writes, now)
            results = [self._result(write, present.get(write.name), now) for write in command.writes]
            await self._store(connection, cipher, owner, command.writes, results, vectors, model)
            if any(result.etag is not None and not result.existed for result in results):
                limit = self._settings.documents_per_user_max
                if await connection.fetchval(_COUNT, *_key(owner), now) > limit:
                    raise LimitExceeded("documents_per_user_max", limit)
            response = {"results": [_result_json(result) for result in results]}
            await store_response(connection, caller, _METHOD, command.request_id, response)
        return Written(tuple(results), replayed=False)

    async def get(self, owner: Owner, names: Sequence[DocumentName]) -> Found:
        """See `DocumentStore.get`."""
        bytes_max = self._settings.page_bytes_max
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows_found = await connection.fetch(_GET, *_key(owner), self._clock.now(), *_columns(names), bytes_max)
            documents, cut = await self._documents(connection, rows_found)
        return Found(documents, [_name_of(row) for row in cut])

    async def list_documents(
        self,
        owner: Owner,
        prefix: Namespace,
        *,
        key_prefix: str,
        after: Position | None,
        limit: int,
        latest_first: bool = False,
    ) -> Listed:
        """See `DocumentStore.list_documents`."""
        position = (None, None) if after is None else (_encoded(after.name.namespace), after.name.key)
        if latest_first:
            query, position = _LIST_LATEST, (None if after is None else after.update_time, *position)
        else:
            query = _LIST
        arguments = (*_range(prefix), self._settings.page_bytes_max, key_prefix, *position, limit)
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            rows_found = await connection.fetch(query, *_key(owner), self._clock.now(), *arguments)
            documents, cut = await self._documents(connection, rows_found)
        return Listed(documents, is_last=not cut and len(rows_found) < limit)

    async def list_namespaces(self, owner: Owner, prefix: Namespace) -> Sequence[Namespace]:
        """See `DocumentStore.list_namespaces`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(_NAMESPACES, *_key(owner), self._clock.now(), *_range(prefix))
        return [_decoded(row["namespace"]) for row in found]

    async def list_vectors(self, owner: Owner, prefix: Namespace, *, model: str) -> Sequence[Vectors]:
        """See `DocumentStore.list_vectors`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            found = await connection.fetch(_VECTORS, *_key(owner), self._clock.now(), *_range(prefix), model)
        return [Vectors(_name_of(row), row["etag"], _vectors_of(row["embedding"])) for row in found]

    async def put_vectors(self, owner: Owner, vectors: Sequence[Vectors], *, model: str) -> None:
        """See `DocumentStore.put_vectors`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(_LOCK, *_key(owner))
            await connection.executemany(
                _PUT_VECTORS,
                [
                    (*_key(owner), _encoded(one.name.namespace), one.name.key, one.etag, _bytes_of(one), model)
                    for one in vectors
                ],
            )

    async def extend(self, owner: Owner, names: Sequence[DocumentName]) -> None:
        """See `DocumentStore.extend`."""
        async with tenant_transaction(self._pool, owner.tenant_id) as connection:
            await connection.execute(_LOCK, *_key(owner))
            await connection.execute(_EXTEND, *_key(owner), self._clock.now(), *_columns(names))

    async def remove_expired(self, *, limit: int) -> int:
        """See `DocumentStore.remove_expired`. Two gateways remove different ones."""
        with translate_errors():
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT set_config('mneme.worker', 'on', true)")
                return rows.affected(await connection.execute(_REMOVE_EXPIRED, self._clock.now(), limit))

    async def _present(
        self, connection: Connection, owner: Owner, writes: Sequence[DocumentWrite], now: datetime
    ) -> Mapping[DocumentName, Row]:
        names = [write.name for write in writes]
        found = await connection.fetch(_PRESENT, *_key(owner), now, *_columns(names))
        return {_name_of(row): row for row in found}

    def _result(self, write: DocumentWrite, present: Row | None, now: datetime) -> WriteResult:
        """What a write makes of a document.

        Raises:
            AlreadyExists, Conflict: Its condition does not hold.
        """
        if write.must_be_new and present is not None:
            raise AlreadyExists("document", write.name.key)
        if write.etag and (present is None or present["etag"] != write.etag):
            raise Conflict("a document was changed since it was read: read it again")
        existed = present is not None
        if write.value is None:
            return WriteResult(existed)
        created = now if present is None else present["create_time"]
        return WriteResult(existed, self._ids.new_id(), created, now)

    async def _store(
        self,
        connection: Connection,
        cipher: Cipher,
        owner: Owner,
        writes: Sequence[DocumentWrite],
        results: Sequence[WriteResult],
        vectors: Sequence[Vectors],
        model: str,
    ) -> None:
        gone = [write.name for write in writes if write.value is None]
        if gone:
            await connection.execute(_DELETE, *_key(owner), *_columns(gone))
        embedded = {one.name: _bytes_of(one) for one in vectors}
        put = [
            _row(cipher, owner, write, result, embedded.get(write.name), model)
            for write, result in zip(writes, results, strict=True)
            if write.value is not None
        ]
        if put:
            await connection.executemany(_PUT, put)

    async def _documents(self, connection: Connection, found: Sequence[Row]) -> tuple[list[Document], list[Row]]:
        """The documents of rows that hold their values, and the other rows."""
        shown = [row for row in found if row["value"] is not None]
        opened = await opened_rows(self._keys, connection, rows.DOCUMENTS, shown)
        return [_document_of(row) for row in opened], [row for row in found if row["value"] is None]


def imported_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """A row of an export as it is stored again, without vectors.

    Raises:
        InvalidArgument: Its namespace, value or search texts cannot be those of a document.
    """
    namespace, texts = record["namespace"], record["search_texts"]
    is_good = isinstance(namespace, str) and _encoded(_decoded(namespace)) == namespace != ""
    is_good = is_good and isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    try:
        parsed_json(record["value"])
    except (ValueError, TypeError):
        is_good = False
    if not is_good:
        raise InvalidArgument("a record does not match the schema: it is not a document")
    return {**record, "embedding": None, "embedding_model": None}


def _row(
    cipher: Cipher, owner: Owner, write: DocumentWrite, result: WriteResult, embedding: bytes | None, model: str
) -> tuple[object, ...]:
    name = {"namespace": _encoded(write.name.namespace), "key": write.name.key}
    sealed = rows.DOCUMENTS.seal(cipher, {**name, "value": write.value, "search_texts": list(write.search_texts)})
    ttl, now = write.ttl_seconds, result.update_time
    return (
        *_key(owner),
        *name.values(),
        sealed["value"],
        sealed["search_texts"],
        embedding,
        None if embedding is None else model,
        result.etag,
        result.create_time,
        now,
        ttl,
        None if ttl is None or now is None else now + timedelta(seconds=ttl),
    )


def _document_of(row: Row) -> Document:
    return Document(
        name=_name_of(row),
        value=row["value"],
        search_texts=tuple(row["search_texts"]),
        etag=row["etag"],
        create_time=row["create_time"],
        update_time=row["update_time"],
        ttl_seconds=row["ttl_seconds"],
        expire_time=row["expire_time"],
    )


def _result_json(result: WriteResult) -> list[Any]:
    times = [None if time is None else time.isoformat() for time in (result.create_time, result.update_time)]
    return [result.existed, result.etag, *times]


def _result_of(stored: Sequence[Any]) -> WriteResult:
    existed, etag, *times = stored
    return WriteResult(existed, etag, *(None if time is None else datetime.fromisoformat(time) for time in times))


def _key(owner: Owner) -> tuple[str, str]:
    return owner.tenant_id, owner.user_id


def _name_of(row: Row) -> DocumentName:
    return DocumentName(_decoded(row["namespace"]), row["key"])


def _columns(names: Sequence[DocumentName]) -> tuple[list[str], list[str]]:
    return [_encoded(name.namespace) for name in names], [name.key for name in names]


def _encoded(namespace: Namespace) -> str:
    return "".join(f"{label}{_SEPARATOR}" for label in namespace)


def _decoded(stored: str) -> Namespace:
    return tuple(stored.split(_SEPARATOR)[:-1])


def _range(prefix: Namespace) -> tuple[str, str]:
    """The first namespace with a prefix, and the first behind all of them; empty where there is none."""
    first = _encoded(prefix)
    return first, f"{first[:-1]}{_AFTER_SEPARATOR}" if first else ""


def _bytes_of(vectors: Vectors) -> bytes | None:
    return None if vectors.vectors is None else vectors.vectors.astype("<f4").tobytes()


def _vectors_of(stored: bytes | None) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    return None if stored is None else np.frombuffer(stored, dtype="<f4").astype(np.float32, copy=False)
