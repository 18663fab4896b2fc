"""`mneme model`: the indexes of former embedding models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli import options
from services.cli.state import state_of

if TYPE_CHECKING:  # loaded by the command
    from services.cli.model_indexes import ModelIndex
    from services.common.hosting import HostSettings

model = typer.Typer(help="Indexes of former embedding models.", no_args_is_help=True)


@model.command("remove-former")
def remove_former(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Remove nothing; show what would be removed.")] = False,
    data_dir: options.DataDir = None,
) -> None:
    """Remove the indexes of episodes of all models but that of MNEME_EMBEDDING_MODEL_DIR (empty: the packaged one).

    Of the Qdrant server of MNEME_QDRANT_URL, else of the data folder; its services may run. Refused while
    MNEME_EMBEDDING_SECOND_MODEL_DIR is set, where there is no index of the model, and while a service has an index of
    another one open in the data folder. May be repeated. No episode is lost: the way back is a new second index.
    """
    state = state_of(context, data_dir=data_dir)
    # Imported here: it brings in the embedding model and the engines, which few commands need.
    from services.common.datadir import DataDirError
    from services.common.embedding.errors import EmbeddingError
    from services.common.errors import MnemeError
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging

    configure_logging(level="error")
    try:
        settings = HostSettings()
        if settings.embedding_second_model_dir is not None:
            state.fail("MNEME_EMBEDDING_SECOND_MODEL_DIR names a second model, whose index is in use: unset it first")
        indexes = state.run(_remove(settings, state.data_dir, check=check))
    except (DataDirError, EmbeddingError, MnemeError, OSError, ValueError) as error:
        state.fail(str(error))
    for index in indexes:
        what = "in use" if index.is_in_use else "would be removed" if check else "removed"
        state.out.print(f"{index.name}: {what}", markup=False, highlight=False, soft_wrap=True)


async def _remove(settings: HostSettings, data_dir: Path, *, check: bool) -> Sequence[ModelIndex]:
    import asyncio
    import contextlib
    import os

    from services.cli import model_indexes
    from services.common.embedding.factory import create_embedder
    from services.common.settings_file import SettingsSource
    from services.common.shared_settings import embedding_settings
    from services.episodic.app import qdrant_server
    from services.episodic.config import EpisodicSettings

    source = SettingsSource.read(settings.config, os.environ)
    embedder = await asyncio.to_thread(create_embedder, embedding_settings(source, settings, data_dir))
    async with contextlib.aclosing(embedder):
        server = qdrant_server(settings)
        if server is None:
            folder = settings.qdrant_dir or data_dir / "qdrant"
            indexes = await model_indexes.shards(folder, embedder)
            if not check:
                await model_indexes.remove_shards(folder, indexes)
            return indexes
        from services.episodic.stores.qdrant_connection import QdrantConnection, create_qdrant_client

        tuning = source.load(EpisodicSettings, "episodic").qdrant
        async with contextlib.aclosing(QdrantConnection(create_qdrant_client(server, tuning), tuning)) as connection:
            indexes = await model_indexes.collections(connection, tuning, embedder)
            if not check:
                await model_indexes.remove_collections(connection, indexes)
            return indexes
