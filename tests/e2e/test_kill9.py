"""The whole stack under kill -9: what was acknowledged is there once, in every tier; nothing is there half."""

from pathlib import Path

import pytest

from bench.durability_harness import run_rounds


@pytest.mark.parametrize(
    ("kills", "writers", "calls"),
    [(1, 20, 40), pytest.param(3, 1_000, 250, marks=pytest.mark.proof("make bench-durability"))],
)
async def test_spec_6_1_and_6_3_acknowledged_turns_survive_kill_9_exactly_once(
    tmp_path: Path, kills: int, writers: int, calls: int
) -> None:
    report = await run_rounds(
        rounds=kills, in_flight=writers, seed=7, data_dir=tmp_path / "data", calls_per_round=calls, is_mixed=False
    )

    assert report.problems == ()
    assert report.is_clean
    assert report.kills == kills
    assert report.acknowledged > 0
    assert report.stored >= report.acknowledged
