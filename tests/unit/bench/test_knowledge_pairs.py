"""Pairs of old and new statements in a report."""

from __future__ import annotations

import json
from pathlib import Path

from bench.common import write_json
from bench.knowledge.pairs import PairResult, load_pairs


def test_a_report_with_pairs_is_written(tmp_path: Path) -> None:
    line = {"conversation": "c", "question": "q", "category": "knowledge_update", "old": ["D1:1"], "new": ["D2:1"]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(line), "utf-8")
    [pair] = load_pairs(tmp_path)
    result = PairResult(pair=pair, new_first=True, old_not_plain=True, both_found=True, flagged=False)
    write_json(tmp_path / "report.json", {"pair_results": [result]})
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["pair_results"][0]["pair"]["old"] == ["D1:1"]
