"""The operating system's user that runs the embedded PostgreSQL, which refuses to run as root."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

import structlog

from services.common.postgres.failure import EmbeddedPostgresError

_log = structlog.get_logger(__name__)

_PREFERRED_NAMES = ("postgres", "nobody")


@dataclass(frozen=True)
class SystemUser:
    """Ids to run a server under."""

    uid: int
    """User id, or -1 to keep the current user."""
    gid: int
    """Group id, or -1 to keep the current group."""


CURRENT_USER = SystemUser(uid=-1, gid=-1)
"""Run as the user of this process."""


def server_user(folder: Path) -> SystemUser:
    """Choose the user for a server whose files are in `folder`.

    Anyone but root keeps their own. Root hands over to the owner of an existing folder, so that a cluster
    stays usable when users come and go on the machine, else to `postgres` or `nobody`.

    Raises:
        EmbeddedPostgresError: Neither exists.
    """
    if os.geteuid() != 0:
        return CURRENT_USER
    owner = folder.stat()
    if owner.st_uid != 0:
        return SystemUser(uid=owner.st_uid, gid=owner.st_gid)
    for name in _PREFERRED_NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return SystemUser(uid=entry.pw_uid, gid=entry.pw_gid)
    raise EmbeddedPostgresError(
        f"when started as root, PostgreSQL needs one of the users {', '.join(_PREFERRED_NAMES)}"
    )


def give_folder(folder: Path, user: SystemUser) -> None:
    """Create a private folder (0700) that belongs to `user`."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if user.uid != -1:
        os.chown(folder, user.uid, user.gid)


def allow_passage(path: Path, user: SystemUser) -> None:
    """Let `user` pass through the parent folders of `path`.

    Only needed after a change of user. Passing (x) is granted, listing (r) is not: names inside stay hidden,
    and each file keeps its own mode. Folders changed are logged, since some may not be Mneme's own.
    """
    if user.uid == -1:
        return
    for parent in path.resolve().parents:
        mode = stat.S_IMODE(parent.stat().st_mode)
        if not mode & stat.S_IXOTH:
            _log.warning("folder_made_passable", folder=str(parent), mode_before=oct(mode))
            parent.chmod(mode | stat.S_IXOTH)
