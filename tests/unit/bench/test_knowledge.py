"""The judgement of probes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.knowledge.cases import Probe, Seen, Shown, holds, load_cases, matches, score

_LABELLED = Path(__file__).parents[2] / "labelled"

_PROBE = Probe(
    question="Where does Ada live?",
    kind="stale",
    user="",
    as_of=datetime(2025, 1, 1, tzinfo=UTC),
    must=("lives in Ghent",),
    must_not=("^lives in Bruges",),
    unmarked=("plays chess",),
    marked_ok=False,
    facts_only=False,
)
_NEW = Shown("Ada lives in Ghent now", is_marked=False)


@pytest.mark.parametrize(
    ("shown", "is_held"),
    [
        ([_NEW], True),
        ([], False),
        ([replace(_NEW, is_marked=True)], False),
        ([_NEW, Shown("Lives in Bruges", is_marked=False)], False),
        ([_NEW, Shown("Lives in Bruges", is_marked=True)], True),
        ([_NEW, Shown("Ada plays chess", is_marked=True)], False),
    ],
)
def test_a_probe_reads_marks(shown: list[Shown], *, is_held: bool) -> None:
    assert holds(_PROBE, Seen(tuple(shown), facts=())) is is_held


def test_what_is_gone_is_not_even_shown_marked() -> None:
    gone = replace(_PROBE, kind="gone", must=(), unmarked=())
    assert not holds(gone, Seen((), facts=(), everything=("x\nlives in Bruges",)))
    assert holds(gone, Seen((), facts=(), everything=("Ada moved",)))


def test_a_probe_of_facts_looks_at_facts_alone() -> None:
    assert not holds(replace(_PROBE, facts_only=True), Seen((_NEW,), facts=()))


def test_the_score_is_the_mean_over_kinds() -> None:
    assert score([("a", True), ("a", False), ("b", True)]) == ({"a": 0.5, "b": 1.0}, 0.75)


@pytest.mark.parametrize(
    "path",
    sorted(path for folder in ("knowledge", "premises", "updates") for path in _LABELLED.glob(f"{folder}/*.jsonl")),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_probes_of_labelled_cases_speak_of_what_their_turns_say(path: Path) -> None:
    cases = load_cases(path)
    assert len({case.case_id for case in cases}) == len(cases)
    for case in cases:
        texts = [turn.text for turn in case.turns] + [(case.operation or {}).get("text", "")]
        for probe in case.probes:
            for pattern in (*probe.must, *probe.unmarked):
                assert any(matches(pattern, text) for text in texts), (case.case_id, pattern)
