"""The embedded PostgreSQL of another process: how its administrator reaches it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from services.common.postgres.leftovers import socket_folder_of
from services.common.postgres.server import EmbeddedPostgresSettings


def running_superuser_url(postgres_folder: Path) -> str | None:
    """URL of the superuser of the server that runs in a data folder; None where none does.

    Only who may read the folder's files can use it, as for the server's own process.

    Args:
        postgres_folder: `DataDir.postgres`.
    """
    settings = EmbeddedPostgresSettings()
    folder = socket_folder_of(postgres_folder / "cluster")
    if folder is None:
        return None
    return f"postgresql://{settings.superuser}@/{settings.database}?host={quote(str(folder), safe='/')}&port=5432"
