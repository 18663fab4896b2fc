from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.stack_model import StackSettings
from services.cli.tier_settings import read_tier_settings
from services.common.hosting import HostSettings
from services.common.settings_file import SettingsError
from services.gateway.config import GatewaySettings


def stack(tmp_path: Path, text: str) -> StackSettings:
    file = tmp_path / "mneme.toml"
    file.write_text(text, "utf-8")
    gateway = GatewaySettings(deadline_seconds=3.0)
    return StackSettings(data_dir=tmp_path, host_settings=HostSettings(config=file), gateway=gateway)


def test_each_service_gets_its_table_and_all_get_what_is_shared(tmp_path: Path) -> None:
    text = "[session.defaults]\nwindow_turns = 20\n[turn]\ncontent_chars_max = 100\n[gateway.recall]\nlimit_max = 50\n"
    tiers = read_tier_settings(stack(tmp_path, text))
    assert tiers.session.defaults.window_turns == 20
    assert {
        limits.turn.content_chars_max
        for limits in (
            tiers.session.limits,
            tiers.episodic.limits,
            tiers.semantic.facts,
            tiers.agentic.limits,
            tiers.gateway.limits,
        )
    } == {100}
    assert tiers.gateway.recall.limit_max == tiers.gateway.limits.recall.limit_max == 50


def test_what_the_program_chose_stays_unless_it_is_set(tmp_path: Path) -> None:
    assert read_tier_settings(stack(tmp_path, "")).gateway.deadline_seconds == 3.0
    assert read_tier_settings(stack(tmp_path, "gateway.deadline_seconds = 4")).gateway.deadline_seconds == 4.0


def test_problems_of_all_services_are_told_at_once(tmp_path: Path) -> None:
    settings = stack(tmp_path, "[session]\nx = 1\n[agentic]\ny = 1\n[gateway.recall]\nlimit_max = 0\n")
    with pytest.raises(SettingsError) as caught:
        read_tier_settings(settings)
    assert [problem.partition(": ")[2] for problem in caught.value.problems] == [
        "session.x: unknown setting",
        "agentic.y: unknown setting",
        "gateway.recall.limit_max: should be greater than or equal to 1, not 0",
    ]
