"""The labelled utterances of tests/data/utterances.tsv."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parent.parent / "data" / "utterances.tsv"


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn and what a reader says of it."""

    text: str
    is_gated: bool  # only greets, acknowledges or is noise
    kinds: frozenset[str]  # of r request, c correction, d decision, p personal, e emotion, n none of these


def utterances() -> list[Utterance]:
    """All of them, in the order of the file."""
    found = []
    for line in FILE.read_text("utf-8").splitlines():
        label, text = line.split("\t")
        verdict, _, kinds = label.partition(" ")
        found.append(Utterance(text, verdict == "G", frozenset(kinds)))
    return found
