"""`mneme import`: a file of turns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from services.cli import options
from services.cli.importers.load import ImportSummary, import_entries
from services.cli.importers.model import UnreadableFileError
from services.cli.importers.source import FileFormat, Source, open_source
from services.cli.state import CliState, state_of

_PROBLEMS_SHOWN = 50


def import_file(
    context: typer.Context,
    file: options.FileArgument,
    user: Annotated[
        str,
        typer.Option("--user", "-u", help="Whose memory; the file's name without its ending if not given."),
    ] = "",
    file_format: Annotated[
        FileFormat, typer.Option("--format", help="auto: .json is LoCoMo's layout, all else JSON lines.")
    ] = FileFormat.AUTO,
    wait: Annotated[bool, typer.Option("--wait", help="Return when everything can be found.")] = False,
) -> None:
    """Remember the turns of a file: JSON lines, or the layout of LoCoMo.

    Bad entries are reported by number and the good ones kept; then the exit code is 1. Importing a file
    again adds only what is new in it.
    """
    state = state_of(context)
    try:
        source = open_source(file, file_format)
        summary = state.run(_import(state, file, source, user or file.stem, wait=wait))
    except (UnreadableFileError, OSError) as error:
        state.fail(str(error))
    print_summary(state, summary, file)
    if summary.problems:
        raise typer.Exit(1)


async def _import(state: CliState, file: Path, source: Source, user: str, *, wait: bool) -> ImportSummary:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=state.err) as progress:
        task = progress.add_task(file.name, total=max(source.total, 1))
        async with state.connect() as client:
            summary = await import_entries(
                client,
                source.entries,
                user_id=user,
                on_progress=lambda consumed: progress.update(task, completed=consumed),
            )
            progress.update(task, completed=max(source.total, 1))
            if wait:
                progress.update(task, description="waiting until it can be found")
                await client.wait_until_visible(user, *summary.consistency_tokens, timeout_seconds=600)
    return summary


def print_summary(state: CliState, summary: ImportSummary, file: Path) -> None:
    """Prints the bad entries, the first ones by number, and how many turns are in memory."""
    for problem in summary.problems[:_PROBLEMS_SHOWN]:
        state.err.print(f"{file.name}: {problem.place}: {problem.reason}", style="yellow", markup=False)
    if (more := len(summary.problems) - _PROBLEMS_SHOWN) > 0:
        state.err.print(f"{file.name}: and {more} more", style="yellow", markup=False)
    bad = f", {len(summary.problems)} bad entries left out" if summary.problems else ""
    state.out.print(f"{summary.turn_count} turns of {file.name} are in memory{bad}.", markup=False, highlight=False)
