"""`mneme purge`: physical removal of what was erased."""

from __future__ import annotations

from typing import Annotated

import typer

from services.cli import options
from services.cli.state import state_of


def purge(
    context: typer.Context,
    admin_url: Annotated[
        str,
        typer.Option(envvar="MNEME_POSTGRES_ADMIN_URL", help="A PostgreSQL server instead, as a superuser."),
    ] = "",
    data_dir: options.DataDir = None,
) -> None:
    """Rewrite the files of the engines, so that no byte of what was erased is left in them.

    For a data folder whose services are stopped; takes time and free space in proportion to it. May be repeated. With
    --admin-url the database of that server is rewritten in the place of the folder's, which need not exist then. For
    Redis, Neo4j and Qdrant servers see docs/erasure.md.
    """
    state = state_of(context, data_dir=data_dir)
    # Imported here: it brings in the embedded engines, which few commands need.
    from services.cli.purging import purge_data_dir, purge_server
    from services.common.datadir import DataDir, DataDirError
    from services.common.errors import MnemeError
    from services.common.logging import configure_logging
    from services.common.postgres.failure import EmbeddedPostgresError

    configure_logging(level="error")
    has_folder = DataDir.is_one(state.data_dir)
    if not has_folder and not admin_url:
        state.fail(f"{state.data_dir} is no data folder of Mneme")
    try:
        purged = state.run(purge_data_dir(state.data_dir, admin_url) if has_folder else purge_server(admin_url))
    except (DataDirError, EmbeddedPostgresError, MnemeError, OSError) as error:
        state.fail(str(error))
    state.out.print(
        f"rewritten: the database, {purged.shards} vector indexes; removed: {purged.damaged} damaged indexes",
        markup=False,
        highlight=False,
    )
