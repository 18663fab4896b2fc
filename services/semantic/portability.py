"""The tier's part of exports and imports of a user: facts without their vectors, and code as it was parsed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from services.common.copying.model import Kind, Owner, Record
from services.common.copying.postgres_values import vector_bytes
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.portability.drivers import PostgresUserRecords
from services.common.portability.records import Shape, TierRecords, Written
from services.common.postgres.types import Connection, Pool
from services.common.tier_embedder import TierEmbedder
from services.semantic.code.commands import check_stored
from services.semantic.code.config import CodeLimits
from services.semantic.code.model import FileStatus, PackedFile
from services.semantic.code.packing import check_packed, without_text
from services.semantic.stores.postgres import SCHEMA
from services.semantic.stores.postgres_sealing import SEALED_TABLES

_FACTS: Final = f"{SCHEMA}.facts"
_SUPERSESSIONS: Final = f"{SCHEMA}.supersessions"
_PROCEDURES: Final = f"{SCHEMA}.procedures"
_CODE_REPOSITORIES: Final = f"{SCHEMA}.code_repositories"
_CODE_FILES: Final = f"{SCHEMA}.code_files"
_CODE_FILES_AT_ONCE: Final = 8
_CODE_BYTES_MAX: Final = 5 * 1024 * 1024
"""A file whose content is larger is exported without its text: as a line of the file it would be too long."""
_HIDDEN: Final = ("idempotency_records", "data_keys")
_NEW_REVISION: Final = """
    INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, marks, marks_base) VALUES ($1, $2, 1, 1, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET epoch = o.epoch + 1, marks = o.marks + 1, marks_base = o.marks + 1
"""
_PROCEDURES_CHANGED: Final = """
    INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, procedures) VALUES ($1, $2, 0, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET procedures = o.procedures + 1
"""


def semantic_user_records(pool: Pool, keys: DataKeys = NO_DATA_KEYS) -> PostgresUserRecords:
    """Where the records are, without a graph."""
    return PostgresUserRecords(pool, SCHEMA, _written, keys=keys, sealed=SEALED_TABLES)


def semantic_records(embedder: TierEmbedder, code_limits: CodeLimits) -> TierRecords:
    """What of the tier is exported. Facts are embedded anew when they are imported.

    Imported code is within `code_limits`, but for the number of files: what a user had is not refused.
    """

    async def restored(kind: str, records: list[Record]) -> Written:
        if kind != _FACTS:
            return {kind: records}
        vectors = await embedder.embed([record["text"] for record in records])
        computed = [
            {**record, "embedding": vector_bytes(vector), "embedding_model": embedder.model_id}
            for record, vector in zip(records, vectors, strict=True)
        ]
        return {kind: computed}

    return TierRecords(
        hidden=frozenset(f"{SCHEMA}.{table}" for table in _HIDDEN),
        shapes={
            _FACTS: Shape(frozenset({"embedding", "embedding_model"}), outward=_plain),
            f"{SCHEMA}.fact_statements": Shape(added={"sentences": [], "shares_sentence": False}),
            _SUPERSESSIONS: Shape(added={"decided_by": 0, "decision_reason": "", "is_called_wrong": False}),
            _CODE_FILES: Shape(
                outward=_portable_code_file,
                records_at_once=_CODE_FILES_AT_ONCE,
                check=partial(_check_code_file, limits=code_limits),
            ),
            _CODE_REPOSITORIES: Shape(check=lambda record: check_stored(record["repository_id"], None, code_limits)),
            f"{SCHEMA}.extracted_interactions": Shape(is_memory=False),
            f"{SCHEMA}.observed_interactions": Shape(is_memory=False),
        },
        restored=restored,
    )


def _plain(record: Record) -> Record:
    """A fact with its contradictions in an order that both engines have."""
    return {**record, "contradictions": sorted(record["contradictions"])}


def _portable_code_file(record: Record) -> Record:
    content = record["content"]
    return {**record, "content": without_text(content)} if len(content) > _CODE_BYTES_MAX else record


def _check_code_file(record: Record, limits: CodeLimits) -> None:
    """What is stored is unpacked by every later question about the repository."""
    check_stored(record["repository_id"], record["path"], limits)
    packed = PackedFile(
        record["path"],
        record["digest"],
        record["language"],
        FileStatus(record["status"]),
        record["line_count"],
        record["content"],
    )
    check_packed(packed, text_bytes_max=limits.file_bytes_max)


async def _written(connection: Connection, owner: Owner, kind: Kind, _records: Sequence[Record]) -> None:
    """Makes caches load the user anew."""
    if kind.name in (_FACTS, _SUPERSESSIONS):
        await connection.execute(_NEW_REVISION, *owner)
    elif kind.name == _PROCEDURES:
        await connection.execute(_PROCEDURES_CHANGED, *owner)
