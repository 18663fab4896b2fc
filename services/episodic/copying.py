"""The tier's part of a copy from one installation to another."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Final

from services.common.copying.mapped import Form, MappedRecords
from services.common.copying.model import CopyError, Record, RecordStore
from services.common.copying.postgres import PostgresRecords
from services.common.postgres.types import Connection
from services.episodic.stores.points_copy import EmbeddingModel, PointEngine, PointRecords
from services.episodic.stores.postgres import SCHEMA

_EPISODES: Final = f"{SCHEMA}.episodes"
_INDEXES: Final = "SELECT DISTINCT indexed_model FROM episodic.episodes WHERE indexed_model IS NOT NULL ORDER BY 1"


async def embedding_models(connection: Connection, engine: PointEngine) -> list[EmbeddingModel]:
    """Models whose vectors are copied: those of the indexes that episodes say they are in and that are there.

    Episodes of an index that is gone are copied without vectors; the service indexes them again.

    Raises:
        CopyError: There is no schema.
        MnemeError: The engine cannot be used.
    """
    if not await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", _EPISODES):
        raise CopyError(f"there is no table {_EPISODES}: run the migrations")
    dimensions = await engine.known()
    found: list[EmbeddingModel] = []
    for row in await connection.fetch(_INDEXES):
        fingerprint, _, generation = row["indexed_model"].rpartition("@")
        if fingerprint and generation in dimensions:
            found.append(EmbeddingModel(fingerprint, dimensions[generation]))
    return found


@contextlib.asynccontextmanager
async def open_episodic_records(
    connection: Connection, engine: PointEngine, models: Sequence[EmbeddingModel], *, create: bool
) -> AsyncIterator[Sequence[RecordStore]]:
    """What the tier holds: points first, so that an index never lacks what a row says it has.

    Args:
        connection: One that row-level security does not bind.
        engine: Where the points are.
        models: Those of the source, on both sides.
        create: Make indexes that are missing.

    Raises:
        CopyError: Something is missing that is not made.
        MnemeError: The engine cannot be used.
    """
    async with contextlib.AsyncExitStack() as stack:
        points: list[PointRecords] = []
        for model in models:
            points.append(await engine.open(model, create=create))
            stack.push_async_callback(points[-1].aclose)
        names = {opened.index_name: model.fingerprint for opened, model in zip(points, models, strict=True)}
        rows = await PostgresRecords.open(connection, schema=SCHEMA)
        yield [*points, MappedRecords(rows, {_EPISODES: _form(names)})]


def _form(fingerprints: Mapping[str, str]) -> Form:
    """Rows name the very index they are in. In a copy they name its model, and then the index of the other side."""
    names = {fingerprint: name for name, fingerprint in fingerprints.items()}

    def renamed(record: Record, known: Mapping[str, str]) -> Record:
        model = record["indexed_model"]
        return {**record, "indexed_model": known.get(model, model)}

    return Form(lambda record: renamed(record, fingerprints), lambda record: renamed(record, names))
