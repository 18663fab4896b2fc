"""Learned rewriting of questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.errors import StoreUnavailable
from services.common.settings_file import SettingsError
from services.gateway.recall.model import AppliedPattern
from services.gateway.recall.stages.rewriting import (
    PatternRewriter,
    RewritePattern,
    Rewriting,
    RewritingSettings,
    Rewritten,
    SameQuestion,
    open_rewriter,
)

ML = RewritePattern(pattern="ML", replacement="machine learning", weight=0.9)
CAR = RewritePattern(pattern="my car", expansion="(the Fiesta)", weight=0.7)


async def rewritten(question: str, *patterns: RewritePattern, names: Sequence[str] = ()) -> str:
    return (await PatternRewriter(patterns or (ML, CAR)).rewrite(question, names)).text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("ML papers?", "machine learning papers?"),
        ("Which ML papers and ML talks?", "Which machine learning papers and machine learning talks?"),
        ("50 ml of milk", "50 ml of milk"),  # a pattern with capitals is found as it is written
        ("XML and HTML", "XML and HTML"),  # whole words
        ("Where is My  Car?", "Where is My  Car (the Fiesta)?"),
        ("nothing to do", "nothing to do"),
        ("", ""),
    ],
)
async def test_spec_5_1_patterns_are_applied_to_whole_words(question: str, expected: str) -> None:
    assert await rewritten(question) == expected


async def test_spec_5_10_a_rewriting_says_which_patterns_were_applied_and_where() -> None:
    found = await PatternRewriter((ML, CAR)).rewrite("Is my car ML?", ())
    assert found.applied == (
        AppliedPattern("my car", "my car (the Fiesta)", 0.7),
        AppliedPattern("ML", "machine learning", 0.9),
    )
    assert found.text == "Is my car (the Fiesta) machine learning?"


async def test_spec_5_1_names_of_speakers_are_left_alone() -> None:
    assert await rewritten("What did ML say about ML?", names=("ML",)) == "What did ML say about ML?"
    assert await rewritten("What did Al ML say about ML?", names=("Al ML", " ")) == (
        "What did Al ML say about machine learning?"
    )


async def test_spec_5_1_of_overlapping_patterns_the_heavier_counts_and_results_are_not_rewritten_again() -> None:
    patterns = (
        RewritePattern(pattern="new york", replacement="Big Apple", weight=0.8),
        RewritePattern(pattern="york", replacement="Jorvik", weight=0.7),
        RewritePattern(pattern="apple", replacement="fruit", weight=0.9),
    )
    assert await rewritten("new york and york", *patterns) == "Big Apple and Jorvik"


async def test_spec_5_1_patterns_of_little_weight_are_not_applied() -> None:
    light = RewritePattern(pattern="ML", replacement="millilitres", weight=0.5)
    assert await rewritten("ML papers", light) == "ML papers"
    settings = RewritingSettings(weight_min=0.4)
    assert await PatternRewriter([light], settings).rewrite("ML papers", ()) == Rewritten(
        "millilitres papers", (AppliedPattern("ML", "millilitres", 0.5),)
    )


@given(question=st.text(max_size=200), word=st.text(min_size=1, max_size=8).filter(lambda text: text.strip() != ""))
async def test_any_text_can_be_rewritten(question: str, word: str) -> None:
    pattern = RewritePattern(pattern=word, replacement="x\\1y")
    found = await rewritten(question, pattern)
    assert found == question or "x\\1y" in found


class _Rewriter:
    """Answers as told."""

    def __init__(self, answer: str | Exception | None) -> None:
        self._answer = answer

    async def rewrite(self, question: str, names: Sequence[str]) -> Rewritten:
        del question, names
        if isinstance(self._answer, Exception):
            raise self._answer
        if self._answer is not None:
            return Rewritten(self._answer)
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


async def test_spec_5_1_what_a_rewriter_says_is_asked() -> None:
    assert await Rewriting(_Rewriter("better"))("question", (), seconds_left=5.0) == Rewritten("better")
    assert await Rewriting()(" question ", (), seconds_left=5.0) == Rewritten(" question ")


@pytest.mark.parametrize(
    "answer", [None, StoreUnavailable("model"), "", " \n", "x" * 8_193], ids=["late", "away", "empty", "blank", "long"]
)
async def test_spec_5_1_a_rewriter_that_fails_changes_nothing(answer: str | Exception | None) -> None:
    settings = RewritingSettings(time_share=0.1)
    assert await Rewriting(_Rewriter(answer), settings)("question", (), seconds_left=0.1) == Rewritten("question")


async def test_spec_5_1_patterns_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "patterns.toml"
    file.write_text('[[patterns]]\npattern = "ML"\nreplacement = "machine learning"\nweight = 0.8\n', encoding="utf-8")
    rewriter = open_rewriter(RewritingSettings(patterns_file=str(file)))
    found = await rewriter.rewrite("ML?", ())
    assert found == Rewritten("machine learning?", (AppliedPattern("ML", "machine learning", 0.8),))
    assert isinstance(open_rewriter(RewritingSettings()), SameQuestion)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[[patterns]\n", "patterns.toml: "),
        ('[[patterns]]\npattern = "a"\n', "either a replacement or an expansion"),
        ('[[patterns]]\npattern = "a"\nreplacement = "b"\nexpansion = "c"\n', "either a replacement or an expansion"),
        ('[[patterns]]\npattern = "a"\nreplacement = "b"\nweight = 2\n', "weight"),
        ('[[patterns]]\npattern = "  "\nreplacement = "b"\n', "patterns.0.pattern"),
        ('[[other]]\npattern = "a"\n', "other"),
        ('[[patterns]]\npattern = "a"\nreplacement = "b"\n' * 2, "2 patterns"),
    ],
)
def test_a_faulty_file_is_refused_at_the_start(tmp_path: Path, content: str, problem: str) -> None:
    file = tmp_path / "patterns.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError, match=problem):
        open_rewriter(RewritingSettings(patterns_file=str(file), patterns_max=1))
    with pytest.raises(SettingsError):
        open_rewriter(RewritingSettings(patterns_file=str(tmp_path / "absent.toml")))
