"""`mneme migrate`: applies migrations to the engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from services.cli.state import CliState, state_of

if TYPE_CHECKING:
    from services.cli.migrating import Step


def migrate(
    context: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; the exit code is 1 when something is outstanding.")
    ] = False,
    print_roles: Annotated[
        bool,
        typer.Option("--print-roles", help="Print what an administrator runs once in psql: roles and database."),
    ] = False,
    app_role: Annotated[str, typer.Option("--app-role", help="Role that the services connect as.")] = "mneme_app",
) -> None:
    """Bring the schemas of PostgreSQL up to date, and the indexes of Neo4j where MNEME_NEO4J_URL names one.

    PostgreSQL is the one of MNEME_POSTGRES_OWNER_URL. Any number of processes may run it at once: each migration
    is applied once.
    """
    state = state_of(context)
    steps = _run(state, check=check, print_roles=print_roles, app_role=app_role)
    if steps is None:
        return
    if not steps:
        state.out.print("everything is up to date")
        return
    _print(state, steps, "outstanding" if check else "applied")
    if check:
        raise typer.Exit(1)


def _run(state: CliState, *, check: bool, print_roles: bool, app_role: str) -> Sequence[Step] | None:
    # Imported here: it brings in the drivers of all engines, which few commands need.
    from services.cli.migrating import MigrateError, bring_up_to_date, outstanding, role_names
    from services.common.errors import MnemeError
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging
    from services.common.postgres.migrations import MigrationError
    from services.common.postgres.roles import roles_sql

    configure_logging(level="error")
    try:
        settings = HostSettings()
        if print_roles:
            sql = roles_sql(role_names(settings.postgres_owner_url, app_role))
            state.out.print(sql, markup=False, highlight=False, soft_wrap=True, end="")
            return None
        return state.run((outstanding if check else bring_up_to_date)(settings, app_role=app_role))
    except (MigrateError, MigrationError, MnemeError, OSError, ValueError) as error:
        state.fail(str(error))


def _print(state: CliState, steps: Sequence[Step], what: str) -> None:
    table = Table("engine", "schema", "version", what, box=None, pad_edge=False, header_style="bold")
    for step in steps:
        table.add_row(step.engine, step.part, f"{step.version:04d}", step.name)
    state.out.print(table)
