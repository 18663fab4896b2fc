"""A thread that owns a child process for as long as the child lives."""

import concurrent.futures
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.common.postgres.system_user import SystemUser

_LAUNCHER: Final = Path(__file__).with_name("_launch.py")


class Keeper:
    """Starts a program that is bound to this process, and reports its end.

    Linux counts the *thread* that forked as the parent whose death ends the child, so the program must not be
    started from a pool thread, which ends with its pool. This thread does nothing but start it and wait.
    """

    def __init__(self, command: Sequence[str], *, user: SystemUser, output: Path) -> None:
        """Start the program; return when it is being launched.

        Args:
            command: Absolute path of the program and its arguments.
            user: The user that runs it.
            output: File that its output is appended to.

        Raises:
            OSError: The launcher cannot be started.
        """
        self.exit_status: concurrent.futures.Future[int] = concurrent.futures.Future()
        # A running future cannot be cancelled by one of its several waiters.
        self.exit_status.set_running_or_notify_cancel()
        self._started: concurrent.futures.Future[int] = concurrent.futures.Future()
        ids = [str(os.getpid()), str(user.uid), str(user.gid)]
        launched = [sys.executable, "-I", "-S", str(_LAUNCHER), *ids, *command]
        threading.Thread(target=self._keep, args=(launched, output), name="child-keeper", daemon=True).start()
        self.pid: Final[int] = self._started.result()
        """Process id of the program; the launcher becomes the program and its id stays."""

    @property
    def is_alive(self) -> bool:
        """True until the program has ended."""
        return not self.exit_status.done()

    def _keep(self, command: list[str], output: Path) -> None:
        try:
            with output.open("ab") as log:
                process = subprocess.Popen(  # noqa: S603 - our own programs, no shell
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/"
                )
        except OSError as error:
            self._started.set_exception(error)
            self.exit_status.set_result(-1)
            return
        self._started.set_result(process.pid)
        self.exit_status.set_result(process.wait())
