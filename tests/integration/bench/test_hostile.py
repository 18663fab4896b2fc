"""Half a minute of hostile callers beside a normal client."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bench.hostile.__main__ import main


@pytest.mark.proof("make bench-hostile")
async def test_issue_17_hostile_callers_fail_no_call_of_a_normal_client_and_leave_nothing_behind(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out.json"
    arguments = ["--out", str(out), "--seconds", "30", "--warm-up-seconds", "5"]
    await asyncio.to_thread(main, arguments)  # its code says how fast the calls were, which the machine decides too
    report = json.loads(out.read_text())
    assert report["left"] == []
    assert report["phases"]["attacked"]["failed"] == 0
    assert report["phases"]["attacked"]["calls"]["count"] > 20  # a slow machine makes 50 of them
