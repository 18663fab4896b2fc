"""The tier's part of exports and imports of a user: notes and links without vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from uuid import UUID

from services.agentic.model import NoteStatus
from services.agentic.stores.postgres import SCHEMA
from services.agentic.stores.postgres_sealing import SEALED_TABLES
from services.agentic.versions import version_from_row, version_row
from services.common.copying.model import Kind, Owner, Record
from services.common.copying.postgres_values import vector_bytes
from services.common.embedding.vectors import Vector
from services.common.encryption.postgres import NO_DATA_KEYS, DataKeys
from services.common.portability.drivers import PostgresUserRecords
from services.common.portability.records import Shape, TierRecords, Written
from services.common.postgres.types import Connection, Pool
from services.common.tier_embedder import TierEmbedder
from services.common.turns import Attachment, searchable_text

_NOTES: Final = f"{SCHEMA}.notes"
_VECTORS: Final = f"{SCHEMA}.note_vectors"
_CAPTION_VECTORS: Final = f"{SCHEMA}.caption_vectors"
_VERSIONS: Final = f"{SCHEMA}.note_versions"
_DROP_OTHER_VECTORS: Final = """
    DELETE FROM agentic.note_vectors WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND model <> $4
"""
_DROP_OTHER_CAPTIONS: Final = """
    DELETE FROM agentic.caption_vectors WHERE tenant_id = $1 AND user_id = $2 AND note_id = ANY ($3) AND model <> $4
"""
_CAPTION: Final = 2  # among the parts of an attachment in a record


def agentic_user_records(pool: Pool, keys: DataKeys = NO_DATA_KEYS) -> PostgresUserRecords:
    """Where the records are, without a graph."""
    return PostgresUserRecords(pool, SCHEMA, _written, keys=keys, sealed=SEALED_TABLES)


def agentic_records(
    embedder: TierEmbedder, settle: Callable[[], Awaitable[None]] | None = None, *, captions_max: int
) -> TierRecords:
    """What of the tier is exported, after `settle` has written access statistics.

    Notes are embedded anew when they are imported, and the first `captions_max` captions of each.
    """

    async def restored(kind: str, records: list[Record]) -> Written:
        if kind != _NOTES:
            return {kind: records}
        captions = [
            (record, place, parts[_CAPTION]) for record in records for place, parts in _captioned(record)[:captions_max]
        ]
        texts = [*map(_embedded_text, records), *(caption for _, _, caption in captions)]
        vectors = await embedder.embed(texts)

        def computed(record: Record, vector: Vector) -> Record:
            return {
                **{name: record[name] for name in ("tenant_id", "user_id", "note_id", "scope_key")},
                "model": embedder.model_id,
                "is_active": record["status"] == NoteStatus.ACTIVE,
                "embedding": vector_bytes(vector),
            }

        of_notes, of_captions = vectors[: len(records)], vectors[len(records) :]
        return {
            kind: records,
            _VECTORS: [computed(record, vector) for record, vector in zip(records, of_notes, strict=True)],
            _CAPTION_VECTORS: [
                {**computed(record, vector), "place": place}
                for (record, place, _), vector in zip(captions, of_captions, strict=True)
            ],
        }

    return TierRecords(
        hidden=frozenset({f"{SCHEMA}.idempotency_records", f"{SCHEMA}.data_keys", _VECTORS, _CAPTION_VECTORS}),
        shapes={
            f"{SCHEMA}.processed_interactions": Shape(is_memory=False),
            f"{SCHEMA}.note_pairs": Shape(is_memory=False),
            _VERSIONS: Shape(check=_check_version),
        },
        restored=restored,
        settle=settle,
    )


def _check_version(record: Record) -> None:
    """What is stored is read by every search as of an earlier time.

    Raises:
        ValueError: No store would have it.
    """
    try:
        is_same = version_row(version_from_row(record))["said"] == record["said"]
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError("not the text of a note") from error
    said = record["said"]
    texts = [said["content"], *said["keywords"], *said["tags"], *said["metadata"].values()] if said else []
    texts += [part for parts in said["attachments"] for part in parts] if said else []
    if not is_same or not all(isinstance(text, str) for text in texts):
        raise ValueError("not the text of a note")


async def _written(connection: Connection, owner: Owner, kind: Kind, records: Sequence[Record]) -> None:
    """Takes the vectors of other models away from notes that were there before: these may say something else now."""
    if kind.name == _VECTORS:
        given = (*owner, [UUID(record["note_id"]) for record in records], records[0]["model"])
        await connection.execute(_DROP_OTHER_VECTORS, *given)
        await connection.execute(_DROP_OTHER_CAPTIONS, *given)


def _embedded_text(record: Record) -> str:
    """As `Note.embedded_text`."""
    attachments = tuple(Attachment(*parts) for parts in record["attachments"])
    return searchable_text(record["spoken"] or record["content"], attachments)


def _captioned(record: Record) -> list[tuple[int, Sequence[str]]]:
    """The attachments with a caption and their places, as `Note.captions`."""
    return [(place, parts) for place, parts in enumerate(record["attachments"]) if parts[_CAPTION].strip()]
