"""`mneme export`, and the part of `mneme import` that stores an exported user."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Final

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from mneme_client import ImportedUser
from services.cli import options
from services.cli.state import CliState, state_of

_PART_BYTES: Final = 1024 * 1024
_HEADER_BYTES_MAX: Final = 64 * 1024
"""Of the first line of an exported user."""


def export(
    context: typer.Context,
    user: options.User,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; standard output if not given.", dir_okay=False)
    ] = None,
) -> None:
    """Write everything stored of a user as JSON lines, for `mneme import`.

    The file appears when it is complete.
    """
    state = state_of(context)
    state.run(_export(state, user, output))


def import_user(state: CliState, file: Path, user: str = "") -> None:
    """Stores an exported user and prints what was stored.

    Args:
        state: Of the command.
        file: One of `mneme export`.
        user: Whom the caller expects in it; empty: anybody. A file of somebody else is refused before it is sent.
    """
    with file.open("rb") as opened:
        if user and (exported := _exported_user(opened)) not in {"", user}:
            state.fail(f"{file.name} holds the user {exported}, not {user}: an exported user keeps its id")
        imported = state.run(_import_user(state, file.name, opened, file.stat().st_size))
    state.out.print(_summary(imported, file), markup=False, highlight=False)


async def _export(state: CliState, user: str, output: Path | None) -> None:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), DownloadColumn(), TimeElapsedColumn())
    with opened_whole(output) as file, Progress(*columns, console=state.err, transient=output is None) as progress:
        task = progress.add_task(f"export {user}", total=None)
        async with state.connect() as client, contextlib.aclosing(client.export_user(user)) as parts:
            async for part in parts:
                file.write(part)
                progress.advance(task, len(part))
        progress.update(task, total=progress.tasks[0].completed)
    if output is not None:
        state.err.print(f"{user} is in {output}.", markup=False, highlight=False, soft_wrap=True)


def _exported_user(opened: IO[bytes]) -> str:
    """The user named in the first line; empty where there is none, which the import then refuses."""
    try:
        header = json.loads(opened.readline(_HEADER_BYTES_MAX))
    except ValueError:
        return ""
    finally:
        opened.seek(0)
    return str(header.get("user_id", "")) if isinstance(header, dict) else ""


async def _import_user(state: CliState, name: str, opened: IO[bytes], size: int) -> ImportedUser:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=state.err) as progress:
        task = progress.add_task(name, total=size)

        def parts() -> Iterator[bytes]:
            while part := opened.read(_PART_BYTES):
                progress.advance(task, len(part))
                yield part

        async with state.connect() as client:
            return await client.import_user(parts())


@contextlib.contextmanager
def opened_whole(output: Path | None) -> Iterator[IO[bytes]]:
    """The file, for its owner alone, which takes its name when the block ends well; standard output where None."""
    if output is None:
        yield sys.stdout.buffer
        return
    unfinished = output.with_name(f".{output.name}.part")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(output)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _summary(imported: ImportedUser, file: Path) -> str:
    if imported.replayed:
        return f"{file.name} was imported before: {imported.user_id} has {imported.record_count} records of it."
    erased = f", {imported.restored_count} turns of them had been erased" if imported.restored_count else ""
    return f"{imported.record_count} records of {imported.user_id} are in memory{erased}."
