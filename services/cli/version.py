"""Which version of Mneme this is: that of the installed distribution."""

from __future__ import annotations

from importlib import metadata
from typing import Final

import typer

DISTRIBUTION: Final = "mneme-services"


def distribution_version() -> str:
    """The version of the installed distribution, such as "0.1.0".

    Raises:
        PackageNotFoundError: It is not installed: the code runs from a folder that `make setup` has not seen.
    """
    return metadata.version(DISTRIBUTION)


def print_version(wanted: bool) -> None:
    """Prints the version and ends the command, where it is wanted."""
    if not wanted:
        return
    try:
        typer.echo(f"mneme {distribution_version()}")
    except metadata.PackageNotFoundError:
        typer.echo(f"{DISTRIBUTION} is not installed; `make setup` installs it", err=True)
        raise typer.Exit(1) from None
    raise typer.Exit
