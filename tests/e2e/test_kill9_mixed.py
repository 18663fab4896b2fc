"""The whole stack under kill -9 while it erases, imports and maintains."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.durability_harness import run_rounds


@pytest.mark.ci("20 kills take four minutes")
async def test_spec_6_6_and_6_10_nothing_erased_comes_back_and_the_audit_verifies_after_20_kills(
    tmp_path: Path,
) -> None:
    report = await run_rounds(rounds=20, in_flight=10, seed=11, data_dir=tmp_path / "data", calls_per_round=8)

    assert report.problems == ()
    assert report.is_clean
    assert report.kills == 20
    assert report.erased > 0
    assert report.jobs > 0
    assert report.audit_entries > report.erasures
