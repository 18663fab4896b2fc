"""Records what the chart renders: `python -m tests.golden.helm.record`, after `make helm-check` installed Helm."""

from __future__ import annotations

import base64
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

from tests.support.helm import Chart
from tests.support.programs import tools_folder

FOLDER: Final = Path(__file__).resolve().parent
RECORDED: Final = ("production", "trial")


def rendered(chart: Chart, name: str) -> str:
    """The manifests of a value set, without what is drawn at random and without labels that every object has."""
    text = chart.text(name)
    text = re.sub(r"^( +)app\.kubernetes\.io/(?:version|managed-by|part-of): .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^ +helm\.sh/chart: .*\n", "", text, flags=re.MULTILINE)
    # Alerts and dashboards are files of the chart as they are; test_manifests.py compares them.
    text = re.sub(r"^(  [\w.-]+\.json: \|)\n(?:    .*\n)+", r"\1 (dashboard)\n", text, flags=re.MULTILINE)
    text = re.sub(r"^  groups:\n(?:  .*\n|\n)+", "  groups: (alerts)\n", text, flags=re.MULTILINE)
    return re.sub(r"^(  [\w.-]+: )([A-Za-z0-9+/]{20,}={0,2})$", _kind_of_secret, text, flags=re.MULTILINE)


def _kind_of_secret(match: re.Match[str]) -> str:
    plain = base64.b64decode(match[2]).decode()
    plain = re.sub(r"[0-9a-f]{64}", "(digest)", plain)
    return match[1] + re.sub(r"[A-Za-z0-9]{48}", "(random)", plain).strip()


if __name__ == "__main__":
    found = shutil.which("helm", path=f"{tools_folder() / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        sys.exit("helm is not on this machine; `make helm-check` installs it")
    for value_set in RECORDED:
        (FOLDER / f"{value_set}.yaml").write_text(rendered(Chart(found), value_set), "utf-8")
