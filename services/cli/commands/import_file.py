"""`mneme import`: turns of a file, an export of a chat service, or a file of `mneme export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from services.cli.commands.portability import import_user
from services.cli.importers.load import ImportSummary, import_entries
from services.cli.importers.model import UnreadableFileError
from services.cli.importers.source import FileFormat, Source, detect, open_source
from services.cli.rendering import counted
from services.cli.state import CliState, state_of

_PROBLEMS_SHOWN = 50


def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(exists=True, readable=True, help="A file, a folder or a ZIP archive.")],
    user: Annotated[
        str,
        typer.Option(
            "--user",
            "-u",
            help="Whose memory; the file's name without its ending if not given. An exported user is restored under "
            "its own id alone.",
        ),
    ] = "",
    file_format: Annotated[
        FileFormat, typer.Option("--format", help="The layout; auto: by its content.")
    ] = FileFormat.AUTO,
    wait: Annotated[bool, typer.Option("--wait", help="Return when all turns can be found.")] = False,
) -> None:
    """Remember the turns of a file, or restore a user from a file of `mneme export`.

    Turns: JSON lines, LoCoMo, ShareGPT, and the exports of ChatGPT and Claude (file, folder or ZIP). Bad entries are
    reported by their place and the good ones kept; then the exit code is 1. Importing a file again adds only what is
    new in it. A user: everything with ids and times, or nothing.
    """
    state = state_of(context)
    try:
        chosen = detect(file) if file_format is FileFormat.AUTO else file_format
        if chosen is FileFormat.USER:
            import_user(state, file, user)
            return
        source = open_source(file, chosen)
        summary = state.run(_import(state, file, source, user or file.stem, wait=wait))
    except (UnreadableFileError, OSError) as error:
        state.fail(str(error))
    print_summary(state, summary, file, user or file.stem)
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


def print_summary(state: CliState, summary: ImportSummary, file: Path, user: str) -> None:
    """Prints the bad entries, the first ones by number, and how many turns are in whose memory."""
    for problem in summary.problems[:_PROBLEMS_SHOWN]:
        place = problem.place if problem.place.startswith(file.name) else f"{file.name}: {problem.place}"
        state.err.print(f"{place}: {problem.reason}", style="yellow", markup=False)
    if (more := len(summary.problems) - _PROBLEMS_SHOWN) > 0:
        state.err.print(f"{file.name}: and {more} more", style="yellow", markup=False)
    entries = "1 bad entry" if len(summary.problems) == 1 else f"{len(summary.problems)} bad entries"
    bad = f", {entries} left out" if summary.problems else ""
    verb = "is" if summary.turn_count == 1 else "are"
    turns = counted(summary.turn_count, "turn")
    state.out.print(f"{turns} of {file.name} {verb} in the memory of {user}{bad}.", markup=False, highlight=False)
