"""`mneme copy`: all data of one installation to another."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Final, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from services.cli.state import CliState, state_of
from services.common.copying.model import BATCH_RECORDS

if TYPE_CHECKING:  # reading the program takes a third of a second less without it
    from services.common.copying.runner import Comparison

_PLACE: Final = "A data folder, or a file of MNEME_ variables that name the engines."
_SESSIONS: Final = """\
Sessions are not copied: they last for an hour and are rebuilt from the journal when they are next read.
Secrets and API keys are not copied: page tokens and consistency tokens stay valid if the service secret is the same."""


def copy(
    context: typer.Context,
    source: Annotated[str, typer.Option("--from", metavar="PLACE", help=f"{_PLACE} Its data are not changed.")],
    target: Annotated[
        str, typer.Option("--to", metavar="PLACE", help=f"{_PLACE} It is empty, or holds a part of this copy.")
    ],
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, max=10_000, help="Records in one page; memory holds two pages.")
    ] = BATCH_RECORDS,
    verify_only: Annotated[bool, typer.Option("--verify-only", help="Compare both sides and write nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Continue even if services are connected to the engines.")
    ] = False,
) -> None:
    """Copy all data of one installation to another, and compare both. Stop the services on both sides first.

    An interrupted copy is resumed when it is started again. The exit code is 1 when both sides differ.
    """
    state = state_of(context)
    comparisons, seconds = _run(state, source, target, batch_size=batch_size, verify_only=verify_only, force=force)
    _print(state.out, comparisons)
    if not all(comparison.is_equal for comparison in comparisons):
        state.fail("Both sides differ.", "Was the source or the target written to meanwhile? Copy to a new place.")
    records = sum(comparison.source.count for comparison in comparisons)
    done = "compared" if verify_only else "copied and compared"
    state.out.print(f"{records} records {done} in {seconds:.1f} s: both sides are equal.", highlight=False)
    if not verify_only:
        state.out.print(_SESSIONS, style="dim", highlight=False, soft_wrap=True)


def _run(
    state: CliState, source: str, target: str, *, batch_size: int, verify_only: bool, force: bool
) -> tuple[list[Comparison], float]:
    # Imported here: it brings in every engine, which no other command needs.
    import asyncpg
    from neo4j.exceptions import Neo4jError

    from services.cli.copying.places import read_place
    from services.cli.copying.run import CopyOptions, run_copy
    from services.common.copying.model import CopyError
    from services.common.datadir import DataDirError
    from services.common.errors import MnemeError
    from services.common.logging import configure_logging
    from services.common.neo4j.migrations import MigrationError as GraphMigrationError
    from services.common.postgres.failure import EmbeddedPostgresError
    from services.common.postgres.migrations import MigrationError

    configure_logging(level="error")
    options = CopyOptions(verify_only=verify_only, force=force, batch_records=batch_size)
    begun = time.monotonic()
    try:
        given, taken = read_place(source, is_target=False), read_place(target, is_target=not verify_only)
        with Bar(state.err) as bar:
            return state.run(run_copy(given, taken, options, bar)), time.monotonic() - begun
    except MnemeError as error:
        state.fail(f"{error}", "Start the copy again to resume it.")
    except (asyncpg.PostgresError, Neo4jError) as error:
        # Without their text: it may quote what people said.
        code = error.code if isinstance(error, Neo4jError) else error.sqlstate
        state.fail(f"An engine refuses what it is given: {type(error).__name__} {code}")
    except (
        CopyError,
        DataDirError,
        EmbeddedPostgresError,
        GraphMigrationError,
        MigrationError,
        OSError,
        ValueError,
    ) as error:
        state.fail(str(error))


class Bar:
    """A `Watcher` that shows a line for each kind."""

    def __init__(self, console: Console) -> None:
        """Show it on a console; nothing where that is no terminal."""
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        """Begin to show it."""
        self._progress.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leave it as it is."""
        self._progress.stop()

    def begun(self, step: str, kind: str, *, done: int, total: int) -> None:
        """See `Watcher.begun`."""
        if total:
            self._task = self._progress.add_task(f"{step} {kind}", completed=done, total=total)

    def advanced(self, records: int) -> None:
        """See `Watcher.advanced`."""
        if self._task is not None:
            self._progress.update(self._task, advance=records)


def _print(console: Console, comparisons: list[Comparison]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kind", overflow="fold")
    for heading in ("source", "target"):
        table.add_column(heading, justify="right")
    for heading in ("checksum", ""):
        table.add_column(heading)
    for comparison in comparisons:
        source, target = comparison.source, comparison.target
        checksum = source.short if source.digest == target.digest else f"{source.short} / {target.short}"
        verdict = "[green]equal[/]" if comparison.is_equal else "[red]differs[/]"
        table.add_row(comparison.kind, str(source.count), str(target.count), checksum, verdict)
    console.print(table)
