"""Options that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from mneme_client import Scope, ScopeLevel


def parse_time(text: str) -> datetime:
    """Reads an RFC 3339 time or a date; without a zone it is UTC.

    Raises:
        typer.BadParameter: It is neither.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter("must be a time such as 2026-05-08T13:56:00Z, or a date") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def reader_scope(project: str) -> Scope | None:
    """The scope of a reader in a project; None without one: nothing narrows what is read."""
    return Scope(ScopeLevel.PROJECT, project_id=project) if project else None


User = Annotated[str, typer.Option("--user", "-u", help="Id of the user.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="At most this many memories.")]
ConversationOption = Annotated[
    str, typer.Option("--conversation", "-c", help="The running conversation, whose last turns are included.")
]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of",
        parser=parse_time,
        metavar="TIME",
        help='The time at which memories are true, and that "yesterday" refers to.',
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ReaderProject = Annotated[str, typer.Option("--project", "-p", help="Id of a project: only memories that it sees.")]
Embedded = Annotated[
    bool,
    typer.Option("--embedded", help="Start all services in this process, on the data folder, for this one call."),
]
TraceConsole = Annotated[
    bool,
    typer.Option(
        "--trace-console",
        help="Print the spans of the call as a tree; those of the services need --embedded.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Where embedded engines keep their data.", show_default=False),
]
Host = Annotated[str, typer.Option(help="Address to serve on. Anything but loopback should have keys and TLS.")]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="Port of the gateway; 0 takes a free one.")]
HttpPort = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65_535,
        envvar="MNEME_HTTP_PORT",
        help="Port of HTTP beside gRPC; 0 serves none. Default: the gateway's port + 80.",
    ),
]
FileArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]
