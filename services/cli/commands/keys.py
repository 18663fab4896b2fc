"""`mneme keys`: API keys in the file that the gateway reads."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from services.cli.rendering import plain, when
from services.cli.state import CliState, state_of
from services.common.auth import (
    ApiKeyFileError,
    ApiKeyRecord,
    Role,
    create_api_key,
    list_api_keys,
    revoke_api_key,
)
from services.common.clock import SystemClock

keys = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)

KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        envvar="MNEME_API_KEYS_FILE",
        help="The key file; api-keys.json in the data folder if not given.",
    ),
]


class RoleName(StrEnum):
    """What a key may do."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"


@keys.command("create")
def create(
    context: typer.Context,
    tenant: Annotated[str, typer.Option(help="The tenant whose memories the key opens.")],
    name: Annotated[str, typer.Option(help="Id of the principal that uses it.")],
    role: Annotated[RoleName, typer.Option(help="What it may do.")] = RoleName.WRITER,
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Expires after this many days.")] = None,
    file: KeyFile = None,
) -> None:
    """Create a key. It is printed to stdout once and stored nowhere."""
    state, now = state_of(context), SystemClock().now()
    try:
        text, record = create_api_key(
            _path(state, file),
            tenant_id=tenant,
            principal_id=name,
            role=Role[role.name],
            now=now,
            expires=now + timedelta(days=days) if days else None,
        )
    except (ApiKeyFileError, ValueError, OSError) as error:
        state.fail(str(error))
    state.err.print(f"Key {record.key_id} for tenant {tenant}, role {role.value}:", markup=False, highlight=False)
    state.out.print(text, markup=False, highlight=False, soft_wrap=True)


@keys.command("list")
def list_keys(context: typer.Context, file: KeyFile = None) -> None:
    """List all keys, without their secrets."""
    state, now = state_of(context), SystemClock().now()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("key", "tenant", "name", "role", "made", "expires", "state"):
        table.add_column(heading)
    path = _path(state, file)
    try:
        found = list_api_keys(path)
    except ApiKeyFileError as error:
        state.fail(str(error))
    for key in found:
        table.add_row(
            key.key_id,
            key.tenant_id,
            plain(key.principal_id),
            key.role.name.lower(),
            when(key.created),
            when(key.expires),
            _condition(key, now),
        )
    state.out.print(table if table.row_count else plain(f"No keys in {path}."), soft_wrap=not table.row_count)


@keys.command("revoke")
def revoke(
    context: typer.Context,
    key_id: Annotated[str, typer.Argument(help="The key's id, as `keys list` shows it.")],
    file: KeyFile = None,
) -> None:
    """Revoke a key. Running gateways notice by themselves."""
    state = state_of(context)
    try:
        known = revoke_api_key(_path(state, file), key_id)
    except (ApiKeyFileError, OSError) as error:
        state.fail(str(error))
    if not known:
        state.fail(f"there is no key {key_id}")
    state.out.print(f"Revoked {key_id}.", markup=False, highlight=False)


def _path(state: CliState, file: Path | None) -> Path:
    return file or state.data_dir / "api-keys.json"


def _condition(key: ApiKeyRecord, now: datetime) -> str:
    if key.revoked:
        return "revoked"
    return "expired" if key.expires is not None and key.expires <= now else "valid"
