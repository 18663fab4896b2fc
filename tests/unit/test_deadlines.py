"""docs/deadlines.md has the deadlines of the settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"
_SETTING: Final = re.compile(r"`(MNEME_[A-Z0-9_]+)`")
_ROW: Final = re.compile(r"^\|.*`(MNEME_[A-Z0-9_]+)` \| [^|]+ \| `([^`]+)` \|", re.MULTILINE)


def test_spec_8_2_the_table_of_deadlines_has_the_defaults_of_the_settings() -> None:
    defaults = dict(_ROW.findall((DOCS / "configuration.md").read_text(encoding="utf-8")))
    table = [line.split("|")[1:-1] for line in (DOCS / "deadlines.md").read_text(encoding="utf-8").splitlines()]
    named = [(found[1], row[1]) for row in table if len(row) == 3 and (found := _SETTING.search(row[2]))]
    assert len(named) >= 15
    for setting, written in named:
        match = re.search(r"([\d,.]+) (s|%)", written)
        assert match is not None, written
        value = float(match[1].replace(",", "")) / (100 if match[2] == "%" else 1)
        assert value == float(defaults[setting].replace("_", "").removesuffix("s")), setting
