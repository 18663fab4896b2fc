"""The whole stack under kill -9: what was acknowledged is there once, in every tier; nothing is there half."""

from pathlib import Path

from bench.durability_harness import run_rounds


async def test_spec_6_1_and_6_3_acknowledged_turns_survive_kill_9_exactly_once(tmp_path: Path) -> None:
    report = await run_rounds(
        rounds=3, in_flight=1_000, seed=7, data_dir=tmp_path / "data", calls_per_round=250, is_mixed=False
    )

    assert report.problems == ()
    assert report.is_clean
    assert report.kills == 3
    assert report.acknowledged > 0
    assert report.stored >= report.acknowledged
