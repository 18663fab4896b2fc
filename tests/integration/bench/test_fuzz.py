"""Some thousand made-up requests to every RPC."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bench.fuzz.__main__ import main


@pytest.mark.ci("a stack of its own, and half a minute of calls")
async def test_issue_21_made_up_requests_meet_no_fault_and_no_other_tenant(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    await asyncio.to_thread(main, ["--out", str(out), "--calls", "4000", "--seed", "21"])
    report = json.loads(out.read_text())
    assert report["findings"] == []
    assert report["changed"] == []
    assert report["methods"] > 200
    assert report["codes"]["OK"] > 400
