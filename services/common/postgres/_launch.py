"""Start a program that ends when its parent ends, under another user where asked.

Run as `python -I -S _launch.py <parent pid> <uid> <gid> <program> <arguments ...>`; a uid of -1 keeps the
user. A process of its own instead of a `preexec_fn`, because Python code between fork and exec can deadlock
in a parent that runs threads.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Detach, drop privileges, tie the life to the parent's, and become the program."""
    parent_pid, uid, gid = (int(text) for text in arguments[:3])
    command = arguments[3:]
    # A session of its own: the terminal's Ctrl-C must reach the services first, not their database.
    os.setsid()
    if uid != -1:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After setuid, which clears it. SIGINT asks PostgreSQL for a fast shutdown.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT), 0, 0, 0)
    if os.getppid() != parent_pid:
        raise SystemExit("the parent ended before its child could start")
    os.execv(command[0], command)  # noqa: S606 - becoming the program is the purpose


if __name__ == "__main__":
    main(sys.argv[1:])
