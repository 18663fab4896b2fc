"""`mneme audit`: the audit log, its checkpoints, and their verification without any service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mneme_client import AuditCheckpoint
from services.cli.commands.portability import opened_whole
from services.cli.state import CliState, state_of
from services.common.audit.checkpoint import Checkpoint, CheckpointError, read_checkpoint
from services.common.audit.verification import AuditEntry, verify_log

_KEY_BYTES = 32

audit = typer.Typer(name="audit", no_args_is_help=True, help="Who did what to which memory, and who read it.")

Output = Annotated[Path, typer.Argument(dir_okay=False, help="The file to write.")]


@audit.command("export")
def export(
    context: typer.Context,
    output: Output,
    from_index: Annotated[
        int, typer.Option("--from", min=0, help="The first entry; `verify` needs all, from 0 on.")
    ] = 0,
) -> None:
    """Write the log as JSON lines, for `mneme audit verify`. The file appears when it is complete."""
    state = state_of(context)
    count = state.run(_export(state, from_index, output))
    state.out.print(f"{count} entries in {output}", markup=False, highlight=False)


@audit.command("checkpoint")
def checkpoint(context: typer.Context, output: Output) -> None:
    """Write the signed size and root of the log. Store it where the database's administrators cannot change it."""
    state = state_of(context)
    found = state.run(_checkpoint(state, output))
    state.out.print(f"checkpoint of {found.size} entries in {output}", markup=False, highlight=False)


@audit.command("verify")
def verify(
    context: typer.Context,
    log: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="File written by `mneme audit export`.")],
    checkpoints: Annotated[
        list[Path], typer.Option("--checkpoint", "-c", exists=True, dir_okay=False, help="A stored checkpoint.")
    ],
    public_key: Annotated[
        str, typer.Option("--key", help="The public key in hexadecimal; that of the checkpoint files if not given.")
    ] = "",
) -> None:
    """Check a log against checkpoints, offline.

    The exit code is 1 when an entry was altered, dropped, added or moved.
    """
    state = state_of(context)
    try:
        read = [_read_checkpoint(path, public_key) for path in checkpoints]
        verdict = verify_log(_entries(log), read)
    except (ValueError, OSError) as error:
        state.fail(f"cannot be verified: {error}")
    for problem in verdict.problems:
        state.err.print(problem, style="red", markup=False, highlight=False)
    if verdict.problems:
        raise typer.Exit(1)
    largest = max(checkpoint.size for checkpoint in read)
    state.out.print(f"The first {largest} of {verdict.entries} entries are those of the checkpoints.", highlight=False)
    if verdict.blinded:
        blinded = f"{verdict.blinded} of them say nothing any more"
        state.out.print(f"{blinded}: they are blinded, as the erasure of a user leaves the user's.", highlight=False)


async def _export(state: CliState, from_index: int, output: Path) -> int:
    count = 0
    with opened_whole(output) as file:
        async with state.connect() as client:
            async for entry in client.list_audit_entries(from_index=from_index):
                fields = {
                    "index": entry.index,
                    "commitment": entry.commitment.hex(),
                    "salt": entry.salt.hex(),
                    "body": entry.body,
                }
                file.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
                count += 1
    return count


async def _checkpoint(state: CliState, output: Path) -> AuditCheckpoint:
    with opened_whole(output) as file:
        async with state.connect() as client:
            found = await client.get_audit_checkpoint()
        document = {"checkpoint": found.note, "public_key": found.public_key.hex()}
        file.write(json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n")
    return found


def _read_checkpoint(path: Path, public_key: str) -> Checkpoint:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        note, own_key = str(document["checkpoint"]), str(document["public_key"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a file written by `mneme audit checkpoint`") from error
    try:
        key = bytes.fromhex(public_key or own_key)
        if len(key) != _KEY_BYTES:
            raise ValueError("another length")
    except ValueError as error:
        raise ValueError(f"the public key is not {_KEY_BYTES} bytes in hexadecimal") from error
    try:
        return read_checkpoint(note, key)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error


def _entries(log: Path) -> Iterator[AuditEntry]:
    with log.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                fields = json.loads(line)
                salt, body = bytes.fromhex(fields["salt"]), str(fields["body"])
                entry = AuditEntry(
                    int(fields["index"]), bytes.fromhex(fields["commitment"]), salt or None, body or None
                )
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{log}, line {number}, is not an entry written by `mneme audit export`") from error
            yield entry
