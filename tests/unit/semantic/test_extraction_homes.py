"""What "staying" says of a home."""

from __future__ import annotations

import pytest

from tests.unit.semantic.test_extraction import triples


@pytest.mark.parametrize(
    "said",
    [
        "I'm staying at Barco, they matched the offer.",
        "I'm staying at Imec.",
        "I'm staying with Tom for a week.",
        "I'm staying with my parents.",
        "I'm staying in Rome for a week.",
        "I'm staying in Rome until Friday.",
        "I'm staying in Rome with Tom.",
        "I'm staying in Rome while my flat is painted.",
        "I'm staying in a hotel.",
        "I'm not staying in Ghent.",
        "I stay in Ghent during the week.",
    ],
)
def test_spec_3_2_a_stay_is_no_home(said: str) -> None:
    assert triples(said) == []


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("I stay in Ghent.", [("Nadia", "lives_in", "Ghent")]),
        ("We're staying in Lisbon for good.", [("Nadia", "lives_in", "Lisbon")]),
        ("I've stayed in Ghent since 2019.", [("Nadia", "lives_in", "Ghent")]),
        ("I don't stay in Ghent anymore.", [("Nadia", "not_lives_in", "Ghent")]),
        ("I stayed in Rome last summer.", [("Nadia", "visited", "Rome")]),
        ("I live with my parents.", [("Nadia", "home_is", "their parents")]),
        ("I live in Ghent with my parents.", [("Nadia", "lives_in", "Ghent")]),
        ("I live at Park House.", [("Nadia", "lives_in", "Park House")]),
    ],
)
def test_spec_3_2_who_stays_somewhere_or_lives_there_has_a_home(said: str, found: list[tuple[str, str, str]]) -> None:
    assert triples(said) == found
