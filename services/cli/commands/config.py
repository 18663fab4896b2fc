"""`mneme config`: the settings of the services, from file and environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.listing import Listing
from services.cli.rendering import plain
from services.cli.state import state_of

if TYPE_CHECKING:
    from services.common.hosting import HostSettings
    from services.common.settings_file import SettingsSource

config = typer.Typer(help="Check and show the configuration.", no_args_is_help=True)

_URL_PASSWORD = re.compile(r"(://[^:/@\s]*):\S*@|(password=)[^&\s]*")


@config.command("check")
def check(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to check, TOML.", show_default=False)],
) -> None:
    """Validate a settings file; the exit code is 1 if it has problems. Environment variables are ignored."""
    # Imported here, as below: it brings in the settings of all services, which few commands need.
    from services.cli.settings_catalogue import load_all
    from services.common.settings_file import SettingsError, SettingsSource

    state = state_of(context)
    try:
        source = SettingsSource.read(file, {})
        load_all(source)
    except SettingsError as error:
        state.fail(str(error))
    state.out.print(f"{file}: {len(source)} values, all of them usable", markup=False, highlight=False, soft_wrap=True)


@config.command("show")
def show(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", help="Show defaults, too.")] = False,
) -> None:
    """Print settings that differ from the defaults, and their source: the file of MNEME_CONFIG or a variable."""
    from services.common.hosting import HostSettings
    from services.common.settings_file import SettingsSource

    state = state_of(context)
    try:
        host = HostSettings()
        source = SettingsSource.read(host.config, os.environ)
        rows = [*_host_rows(host), *_rows(source)]
    except ValueError as error:  # of either kind of settings; both name what is wrong
        state.fail(str(error))
    shown = [row for row in rows if everything or row[2]]
    if not shown:
        state.out.print("nothing differs from the defaults; --all shows them")
        return
    table = Listing("setting", texts=["value", "from"])
    for name, value, origin in shown:
        table.add_row(plain(name), plain(value), plain(origin or "default"))
    state.out.print(table)


def _host_rows(host: HostSettings) -> Iterator[tuple[str, str, str]]:
    for name in type(host).model_fields:
        value = getattr(host, name)
        hidden = _URL_PASSWORD.sub(_mask, "" if value is None else str(value))
        variable = f"MNEME_{name.upper()}"
        yield variable, hidden, variable if name in host.model_fields_set else ""


def _mask(match: re.Match[str]) -> str:
    return f"{match[1]}:***@" if match[1] is not None else f"{match[2]}***"


def _rows(source: SettingsSource) -> Iterator[tuple[str, str, str]]:
    from services.cli.settings_catalogue import CATALOGUE, load_all
    from services.common.settings_file import written

    loaded: dict[str, Any] = load_all(source)
    for section in CATALOGUE:
        for setting in section.all_settings(loaded[section.name]):
            # A variable's name, or the file without the path in it, which is in the first column.
            places = (given.place for given in source.given(setting.path))
            origins = dict.fromkeys(place.rpartition(": ")[0] or place for place in places)
            yield setting.path, written(setting.value), ", ".join(origins)
