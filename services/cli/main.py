"""The command line `mneme`: its composition root, and the only reader of the environment in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mneme_client import DEFAULT_TARGET, Tls
from services.cli.commands.activity import activity
from services.cli.commands.audit import audit
from services.cli.commands.clusters import clusters
from services.cli.commands.code import code
from services.cli.commands.config import config
from services.cli.commands.conflicts import conflicts
from services.cli.commands.conversations import conversations, sessions, transcript
from services.cli.commands.copy import copy
from services.cli.commands.deliveries import backlog, dead_letters
from services.cli.commands.demo import demo
from services.cli.commands.doctor import doctor
from services.cli.commands.embedding_model import model
from services.cli.commands.encryption import encryption
from services.cli.commands.erasure import correct, erase, forget
from services.cli.commands.facts import facts
from services.cli.commands.feedback import feedback
from services.cli.commands.health import health
from services.cli.commands.import_file import import_file
from services.cli.commands.insights import ask, note_health, reflect, suggest
from services.cli.commands.keys import keys
from services.cli.commands.maintain import maintain
from services.cli.commands.mcp import mcp
from services.cli.commands.merges import merges
from services.cli.commands.migrate import migrate
from services.cli.commands.notes import notes
from services.cli.commands.portability import export
from services.cli.commands.procedures import procedures
from services.cli.commands.prompt_context import context
from services.cli.commands.purge import purge
from services.cli.commands.recall import recall
from services.cli.commands.remember import remember
from services.cli.commands.up import up
from services.cli.commands.window import window
from services.cli.state import CliState
from services.cli.version import print_version
from services.common.datadir import DataDirError, default_data_dir

app = typer.Typer(
    name="mneme",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals hold keys and what people said
    help="Long-term memory for AI agents.",
)


@app.callback()
def main(
    context: typer.Context,
    target: Annotated[str, typer.Option(envvar="MNEME_TARGET", help="Address of the gateway.")] = DEFAULT_TARGET,
    api_key: Annotated[
        str, typer.Option(envvar="MNEME_API_KEY", help="Credential.", show_default=False, show_envvar=True)
    ] = "",
    tls: Annotated[bool, typer.Option("--tls", envvar="MNEME_TLS", help="Encrypt the connection.")] = False,
    ca_file: Annotated[
        Path | None,
        typer.Option(envvar="MNEME_CA_FILE", help="Trust this authority (PEM); implies --tls.", exists=True),
    ] = None,
    timeout_seconds: Annotated[
        float, typer.Option("--timeout", min=0.01, help="Deadline of a call in seconds.")
    ] = 10.0,
    data_dir: Annotated[
        Path | None,
        typer.Option(envvar="MNEME_DATA_DIR", help="Where embedded engines keep their data.", show_default=False),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Long-term memory for AI agents."""
    if not target:
        raise typer.BadParameter(f"must be an address such as {DEFAULT_TARGET}", param_hint="--target")
    try:
        folder = data_dir or default_data_dir(os.environ)
    except DataDirError as error:
        raise typer.BadParameter(str(error), param_hint="--data-dir") from error
    context.obj = CliState(
        target=target,
        api_key=api_key or None,
        tls=Tls(root_certificates=ca_file.read_bytes() if ca_file else None) if tls or ca_file else None,
        timeout_seconds=timeout_seconds,
        data_dir=folder.expanduser().absolute(),
        serves_with_keys=bool(os.environ.get("MNEME_API_KEYS_FILE")),
    )


for _command in (
    up,
    demo,
    remember,
    recall,
    context,
    feedback,
    correct,
    forget,
    erase,
    export,
    conversations,
    transcript,
    sessions,
    facts,
    conflicts,
    merges,
    notes,
    clusters,
    ask,
    suggest,
    reflect,
    maintain,
    mcp,
    backlog,
    copy,
    migrate,
    purge,
    doctor,
    health,
):
    app.command()(_command)
app.command("note-health")(note_health)
app.command("import")(import_file)
app.command("dead-letters")(dead_letters)
app.add_typer(keys, name="keys")
app.add_typer(activity, name="activity")
app.add_typer(audit, name="audit")
app.add_typer(code, name="code")
app.add_typer(config, name="config")
app.add_typer(window, name="window")
app.add_typer(model, name="model")
app.add_typer(encryption, name="encryption")
app.add_typer(procedures, name="procedures")

if __name__ == "__main__":
    app()
