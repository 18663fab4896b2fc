"""The tier's part of exports and imports of a user: facts without their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.common.copying.model import Kind, Owner, Record
from services.common.copying.postgres_values import vector_bytes
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.portability.drivers import PostgresUserRecords
from services.common.portability.records import Shape, TierRecords, Written
from services.common.postgres.types import Connection, Pool
from services.common.tier_embedder import TierEmbedder
from services.semantic.stores.postgres import SCHEMA
from services.semantic.stores.postgres_sealing import SEALED_TABLES

_FACTS: Final = f"{SCHEMA}.facts"
_SUPERSESSIONS: Final = f"{SCHEMA}.supersessions"
_HIDDEN: Final = ("idempotency_records", "data_keys", "code_repositories", "code_files")
_NEW_REVISION: Final = """
    INSERT INTO semantic.owner_revisions AS o (tenant_id, user_id, epoch, marks) VALUES ($1, $2, 1, 1)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET epoch = o.epoch + 1, marks = o.marks + 1
"""


def semantic_user_records(pool: Pool, keys: DataKeys = NO_DATA_KEYS) -> PostgresUserRecords:
    """Where the records are, without a graph."""
    return PostgresUserRecords(pool, SCHEMA, _written, keys=keys, sealed=SEALED_TABLES)


def semantic_records(embedder: TierEmbedder) -> TierRecords:
    """What of the tier is exported. Facts are embedded anew when they are imported."""

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
            _SUPERSESSIONS: Shape(added={"decided_by": 0, "decision_reason": ""}),
            f"{SCHEMA}.extracted_interactions": Shape(is_memory=False),
            f"{SCHEMA}.observed_interactions": Shape(is_memory=False),
        },
        restored=restored,
    )


def _plain(record: Record) -> Record:
    """A fact with its contradictions in an order that both engines have."""
    return {**record, "contradictions": sorted(record["contradictions"])}


async def _written(connection: Connection, owner: Owner, kind: Kind, _records: Sequence[Record]) -> None:
    """Makes caches load the user anew."""
    if kind.name in (_FACTS, _SUPERSESSIONS):
        await connection.execute(_NEW_REVISION, *owner)
