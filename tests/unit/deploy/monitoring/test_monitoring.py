"""Alerts fire when they should, the runbook knows each of them, and every panel's query can be read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.support.helm import ROOT
from tests.support.monitoring import DASHBOARDS, RULES, alerts, grouping_of, panels, series_of
from tests.support.programs import find_program

TESTS = Path(__file__).with_name("rules_test.yaml")


@pytest.fixture(scope="module")
def promtool(request: pytest.FixtureRequest) -> str:
    return find_program("promtool", request.config)


def test_spec_8_3_the_rules_are_valid(promtool: str) -> None:
    checked = subprocess.run(
        [promtool, "check", "rules", "--lint-fatal", str(RULES)], check=False, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_spec_8_3_alerts_fire_when_they_should_and_only_then(promtool: str, tmp_path: Path) -> None:
    for file in (RULES, TESTS):
        shutil.copy(file, tmp_path)
    tested = subprocess.run(
        [promtool, "test", "rules", str(tmp_path / TESTS.name)], check=False, capture_output=True, text=True
    )
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_alert_is_tested_both_ways() -> None:
    cases = [case for test in yaml.safe_load(TESTS.read_text("utf-8"))["tests"] for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == alerts().keys()
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == alerts().keys()


def test_the_runbook_has_a_section_for_each_alert() -> None:
    text = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    sections = dict(re.findall(r"^## (Mneme\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(alerts()), "in the order of the rules"
    for name, section in sections.items():
        assert "**Means.**" in section, name
        assert "**Do.**" in section, name


def test_spec_8_3_every_panel_has_a_query_that_can_be_read(promtool: str, tmp_path: Path) -> None:
    found = list(panels())
    assert len(DASHBOARDS) == 2
    assert len(found) >= 30
    rules = [{"record": f"panel:{index}:query", "expr": query} for index, (_, query) in enumerate(found)]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")
    checked = subprocess.run([promtool, "check", "rules", str(file)], check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_series_and_labels_are_found_in_queries() -> None:
    query = 'sum by (namespace, tier) (rate(mneme_x_total{state!="a",namespace=~".*"}[5m])) / max by (job) (mneme_y)'
    assert series_of(query) == {"mneme_x_total": {"state"}, "mneme_y": set()}
    assert grouping_of(query) == {"tier"}
