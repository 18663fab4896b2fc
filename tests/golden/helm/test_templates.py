"""What the chart renders, compared with what was recorded (tests/golden/helm/record.py)."""

from __future__ import annotations

import pytest

from tests.golden.helm.record import FOLDER, RECORDED, rendered
from tests.support.helm import Chart


@pytest.mark.parametrize("name", RECORDED)
def test_spec_8_3_the_chart_renders_what_was_recorded(chart: Chart, name: str) -> None:
    assert rendered(chart, name).splitlines() == (FOLDER / f"{name}.yaml").read_text("utf-8").splitlines()
