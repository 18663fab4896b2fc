"""`mneme encryption`: the keys that content is encrypted with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from services.cli import options
from services.cli.state import state_of

encryption = typer.Typer(help="Create and rotate the keys that encrypt content.", no_args_is_help=True)

KeyFile = Annotated[
    Path,
    typer.Option("--file", envvar="MNEME_ENCRYPTION_KEY_FILE", help="The file of key-encryption keys."),
]

MaybeKeyFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        envvar="MNEME_ENCRYPTION_KEY_FILE",
        help="The file of key-encryption keys; with MNEME_ENCRYPTION_DRIVER=vault, of those from before.",
    ),
]


@encryption.command("new-key")
def new_key(context: typer.Context, file: KeyFile) -> None:
    """Add a key-encryption key to a file, which is made where needed. The last key of a file is in use.

    Services that run notice it. Give the file to all of them before the first one wraps a key with it.
    """
    state = state_of(context)
    # Imported here: it brings in cryptography, which few commands need.
    from services.common.encryption.key_file import KeyFileError, add_key

    try:
        version = add_key(file)
    except (KeyFileError, OSError) as error:
        state.fail(str(error))
    state.out.print(f"{file}: {version}", markup=False, highlight=False, soft_wrap=True)


@encryption.command("rotate")
def rotate(context: typer.Context, file: MaybeKeyFile = None, data_dir: options.DataDir = None) -> None:
    """Wrap all data keys by the key-encryption key in use: the last one of the file, or Vault's latest version.

    Content is not touched. Keys that the other driver wrapped are wrapped anew as well, where both are set.

    On the PostgreSQL of MNEME_POSTGRES_URL, whose services may run, else on that of a data folder whose services are
    stopped; and on the Neo4j of MNEME_NEO4J_URL. May be repeated. Afterwards the earlier keys of the file are no longer
    needed, except for backups.
    """
    state = state_of(context, data_dir=data_dir)
    # Imported here: it brings in the embedded engines, which few commands need.
    from services.cli.encrypting import rewrap_all
    from services.common.datadir import DataDirError
    from services.common.errors import MnemeError
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging
    from services.common.postgres.failure import EmbeddedPostgresError

    configure_logging(level="error")
    try:
        settings = HostSettings().model_copy(update={"encryption_key_file": file} if file else {})
        counts = state.run(rewrap_all(settings, state.data_dir))
    except (DataDirError, EmbeddedPostgresError, MnemeError, OSError, ValueError) as error:
        state.fail(str(error))
    for schema, count in counts.items():
        state.out.print(f"{schema}: {count} data keys wrapped anew", markup=False, highlight=False)


@encryption.command("encrypt")
def encrypt(
    context: typer.Context,
    file: MaybeKeyFile = None,
    admin_url: Annotated[
        str,
        typer.Option(
            envvar="MNEME_POSTGRES_ADMIN_URL", help="PostgreSQL as a role that row-level security does not bind."
        ),
    ] = "",
    data_dir: options.DataDir = None,
) -> None:
    """Encrypt what was stored before encryption was switched on.

    In the PostgreSQL of --admin-url, whose services may run with the same keys, else in that of a data
    folder whose services are stopped; and in the Neo4j of MNEME_NEO4J_URL. May be interrupted and repeated. Old row
    versions stay in files and backups.
    """
    state = state_of(context, data_dir=data_dir)
    # Imported here: it brings in the embedded engines, which few commands need.
    from services.cli.encrypting import encrypt_all
    from services.common.datadir import DataDirError
    from services.common.errors import MnemeError
    from services.common.hosting import HostSettings
    from services.common.logging import configure_logging
    from services.common.postgres.failure import EmbeddedPostgresError

    configure_logging(level="error")
    try:
        settings = HostSettings().model_copy(update={"encryption_key_file": file} if file else {})
        counts = state.run(encrypt_all(settings, state.data_dir, admin_url))
    except (DataDirError, EmbeddedPostgresError, MnemeError, OSError, ValueError) as error:
        state.fail(str(error))
    for table, count in counts.items():
        state.out.print(f"{table}: {count} rows encrypted", markup=False, highlight=False)
