"""Threads and processes whose work may wait while somebody waits for an answer.

A lower priority alone gives them less of a busy processor, but a thread that wakes up still waits some milliseconds
until their time slice is over, several times for one answer. So they ask the scheduler for long slices, too: since
Linux 6.12, a thread with a shorter one, which all have by default, takes the processor from them at once. Their
share of it remains what their priority says, so that they go on where processors are scarce.
"""

import contextlib
import ctypes
import os
import struct
import sys
import threading
from typing import Final

_SLICE_SECONDS: Final = 0.1
"""The longest that Linux grants."""
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}
"""The number of this system call, which neither Python nor older C libraries have a function for."""
_ATTRIBUTES: Final = struct.Struct("=IIQiIQQQ")
"""`struct sched_attr` of sched_setattr(2): size, policy, flags, nice, priority, runtime, deadline, period."""


def lower_priority(niceness: int) -> None:
    """Lets the calling thread, and what it starts, yield to others. Only Linux has a priority for each thread.

    It cannot be undone without privileges: for threads that do nothing else.

    Args:
        niceness: By how much more than now, 0 to 19, as in nice(1). At 4 it gets some four tenths of what a thread that
            does not yield gets of a busy processor. 0 changes nothing.
    """
    if sys.platform == "linux" and niceness:
        with contextlib.suppress(OSError):  # a sandbox may forbid it: slower answers beside imports, and no more
            thread = threading.get_native_id()
            nice = min(19, os.getpriority(os.PRIO_PROCESS, thread) + niceness)
            os.setpriority(os.PRIO_PROCESS, thread, nice)
            _ask_for_long_slices(thread, nice)


def _ask_for_long_slices(thread: int, nice: int) -> None:
    """Asks for long slices, and makes the thread a batch job: it never takes the processor from a running thread."""
    number = _SCHED_SETATTR.get(os.uname().machine)
    if number is None:
        os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))
        return
    slice_ns = int(_SLICE_SECONDS * 1e9)
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_BATCH, 0, nice, 0, slice_ns, 0, 0)
    if ctypes.CDLL(None, use_errno=True).syscall(number, thread, attributes, 0):
        raise OSError(ctypes.get_errno(), "sched_setattr")
