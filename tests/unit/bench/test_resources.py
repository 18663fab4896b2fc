"""What a stack takes and does."""

from __future__ import annotations

import time
from pathlib import Path

from bench.resources import work_done


def test_work_grows_with_what_this_process_computes(tmp_path: Path) -> None:
    before = work_done(tmp_path)
    started = time.process_time()
    while time.process_time() - started < 0.05:
        pass
    after = work_done(tmp_path)

    assert after.processor_seconds - before.processor_seconds >= 0.025  # the system counts in hundredths
    assert after.read_bytes >= before.read_bytes
