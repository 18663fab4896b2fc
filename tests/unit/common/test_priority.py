"""Tests of threads that yield to others."""

import os
import sys
import threading

import pytest

from services.common import priority
from services.common.priority import lower_priority

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")


def _lowered(niceness: int) -> tuple[int, int]:
    """Policy and niceness of a new thread that was lowered."""
    found: list[tuple[int, int]] = []

    def lower() -> None:
        lower_priority(niceness)
        thread = threading.get_native_id()
        found.append((os.sched_getscheduler(thread), os.getpriority(os.PRIO_PROCESS, thread)))

    thread = threading.Thread(target=lower)
    thread.start()
    thread.join()
    return found[0]


def test_a_lowered_thread_is_a_batch_job_of_lower_priority_and_the_others_stay_as_they_are() -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert _lowered(3) == (os.SCHED_BATCH, min(19, own + 3))
    assert os.sched_getscheduler(0) == os.SCHED_OTHER
    assert os.getpriority(os.PRIO_PROCESS, 0) == own


def test_nothing_changes_without_niceness() -> None:
    assert _lowered(0) == (os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, 0))


def test_a_machine_whose_number_of_the_call_is_unknown_gets_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(priority, "_SCHED_SETATTR", {})
    assert _lowered(3)[0] == os.SCHED_BATCH


def test_a_sandbox_that_forbids_it_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", forbidden)
    assert _lowered(3) == (os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, 0))
