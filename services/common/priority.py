"""Threads whose work may wait while somebody waits for an answer."""

import contextlib
import os
import sys
import threading


def lower_priority(niceness: int) -> None:
    """Lets the calling thread, and threads that it starts, yield to others. Only Linux has a priority for each thread.

    It cannot be undone without privileges: for threads that do nothing else.

    Args:
        niceness: By how much more than now, 0 to 19, as in nice(1). At 4 it gets some four tenths of what a thread that
            does not yield gets of a busy processor.
    """
    if sys.platform == "linux" and niceness:
        with contextlib.suppress(OSError):  # a sandbox may forbid it: slower answers beside imports, and no more
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + niceness))
