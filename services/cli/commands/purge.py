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
    hold_seconds: Annotated[
        float, typer.Option(min=0.1, help="While services run: how long calls may wait for one table.")
    ] = 20.0,
    index_seconds: Annotated[
        float, typer.Option(min=0.0, help="While services run: how long to wait for the vector indexes.")
    ] = 600.0,
) -> None:
    """Rewrite the files of the engines, so that no byte of what was erased is left in them.

    Takes time and free space in proportion to them, and may be repeated. The services may run: each table is locked in
    turn, the smallest first, and one that would take longer than --hold-seconds is left and named; the episodic service
    rewrites its vector indexes. With --admin-url the database of that server is rewritten in the place of the data
    folder's, which need not exist then. For Redis, Neo4j and Qdrant servers see docs/erasure.md.
    """
    state = state_of(context, data_dir=data_dir)
    # Imported here: it brings in the embedded engines, which few commands need.
    from services.cli.purging import purge_installation
    from services.common.datadir import DataDir, DataDirError
    from services.common.errors import MnemeError
    from services.common.logging import configure_logging
    from services.common.postgres.failure import EmbeddedPostgresError
    from services.common.postgres.purging_online import OnlinePurgeSettings

    configure_logging(level="error")
    has_folder = DataDir.is_one(state.data_dir)
    if not has_folder and not admin_url:
        state.fail(f"{state.data_dir} is no data folder of Mneme")
    settings = OnlinePurgeSettings(hold_seconds=hold_seconds)
    folder = state.data_dir if has_folder else None
    try:
        purged = state.run(purge_installation(folder, admin_url, settings, index_seconds=index_seconds))
    except (DataDirError, EmbeddedPostgresError, MnemeError, OSError) as error:
        state.fail(str(error))
    state.out.print(purged.summary(), markup=False, highlight=False)
    if purged.is_index_pending:
        state.fail("the episodic service has not rewritten its vector indexes by now; it does so when it runs")
