"""Learned rewriting of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.scope import GLOBAL_SCOPE, Scope, ScopeLevel
from services.common.settings_file import SettingsError
from services.gateway.recall.choices import Profile, ScoringChoice
from services.gateway.recall.model import AppliedPattern, AppliedProfile, RecallQuery
from services.gateway.recall.patterns import NO_PATTERNS, Pattern, PatternKind, Patterns
from services.gateway.recall.stages.procedures import with_patterns
from services.gateway.recall.stages.rewriting import Rewriting, RewritingSettings, Rewritten, open_patterns

ML = Pattern("ML", "machine learning", 0.9)
CAR = Pattern("my car", "(the Fiesta)", 0.7, expands=True)
PROJECT = Scope(ScopeLevel.PROJECT, "p1")
QUERY = RecallQuery("ada", "ML papers", 10, datetime(2026, 3, 1, tzinfo=UTC))


def found(question: str, *patterns: Pattern, names: Sequence[str] = (), scope: Scope = GLOBAL_SCOPE) -> Rewritten:
    return Rewriting()(question, names, Patterns.of(patterns or (ML, CAR)), scope)


def rewritten(question: str, *patterns: Pattern, names: Sequence[str] = ()) -> str:
    return found(question, *patterns, names=names).text


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
def test_spec_5_1_patterns_are_applied_to_whole_words(question: str, expected: str) -> None:
    assert rewritten(question) == expected


def test_spec_5_10_a_rewriting_says_which_patterns_were_applied_and_where() -> None:
    result = found("Is my car ML?")
    assert result.applied == (
        AppliedPattern("my car", "my car (the Fiesta)", 0.7),
        AppliedPattern("ML", "machine learning", 0.9),
    )
    assert result.text == "Is my car (the Fiesta) machine learning?"


def test_spec_5_1_names_of_speakers_are_left_alone() -> None:
    assert rewritten("What did ML say about ML?", names=("ML",)) == "What did ML say about ML?"
    assert rewritten("What did Al ML say about ML?", names=("Al ML", " ")) == (
        "What did Al ML say about machine learning?"
    )


def test_spec_5_1_of_overlapping_patterns_the_heavier_counts_and_results_are_not_rewritten_again() -> None:
    patterns = (
        Pattern("new york", "Big Apple", 0.8),
        Pattern("york", "Jorvik", 0.7),
        Pattern("apple", "fruit", 0.9),
    )
    assert rewritten("new york and york", *patterns) == "Big Apple and Jorvik"


def test_spec_3_9_a_users_own_pattern_comes_before_one_of_the_deployment() -> None:
    stage = Rewriting(Patterns.of([Pattern("ML", "millilitres", 1.0), Pattern("QA", "quality assurance", 1.0)]))
    result = stage("ML and QA", (), Patterns.of([ML]), GLOBAL_SCOPE)
    assert result.text == "machine learning and quality assurance"


def test_spec_5_3_a_pattern_is_applied_to_readers_that_see_its_scope() -> None:
    pattern = Pattern("ML", "maximum likelihood", 0.9, scope=PROJECT, procedure_id="p")
    assert found("ML", pattern, scope=PROJECT).text == "maximum likelihood"
    assert found("ML", pattern, scope=Scope(ScopeLevel.SESSION, "p1", "s")).text == "maximum likelihood"
    for other in (GLOBAL_SCOPE, Scope(ScopeLevel.PROJECT, "p2"), Scope(context_id="x")):
        assert found("ML", pattern, scope=other).text == "ML"


def test_spec_3_9_other_kinds_are_for_queries_with_all_their_words_the_most_confident_first() -> None:
    errors = Pattern("connection refused", "Start the server.", 0.7, PatternKind.ERROR_FIX, procedure_id="1")
    always = Pattern("", "Use lists.", 0.8, PatternKind.RESPONSE_FORMATTING, procedure_id="2")
    patterns = Patterns.of([errors, always])
    result = Rewriting()("Refused again: all connections!", (), patterns, GLOBAL_SCOPE)
    assert [pattern.procedure_id for pattern in result.others] == ["2", "1"]
    assert [p.procedure_id for p in Rewriting()("A refused offer", (), patterns, GLOBAL_SCOPE).others] == ["2"]
    assert Rewriting()("connection refused", (), patterns, GLOBAL_SCOPE, only_rewriting=True).others == ()


def test_spec_3_9_a_strategy_chooses_the_ranking_and_a_selection_prefers_a_source() -> None:
    plain = AppliedPattern("", "plain", 0.8, "1", PatternKind.RETRIEVAL_STRATEGY)
    light = AppliedPattern("", "light", 0.7, "2", PatternKind.RETRIEVAL_STRATEGY)
    unknown = AppliedPattern("", "cubic", 0.9, "3", PatternKind.RETRIEVAL_STRATEGY)
    pdf = AppliedPattern("", "pdf", 0.7, "4", PatternKind.SOURCE_SELECTION)
    wiki = AppliedPattern("", "Wikipedia", 0.7, "5", PatternKind.SOURCE_SELECTION)
    profile = AppliedProfile(preferred_sources=("arxiv.org",), excluded_sources=("wikipedia",))
    query, preferring, applied = with_patterns(QUERY, profile, (unknown, plain, light, pdf, wiki))
    assert query.scoring.profile is Profile.PLAIN
    assert preferring.preferred_sources == ("arxiv.org", "pdf")
    assert applied == (plain, pdf)
    named = replace(QUERY, scoring=ScoringChoice(Profile.BALANCED, is_named=True))
    assert with_patterns(named, profile, (plain,)) == (named, profile, ())


@given(question=st.text(max_size=200), word=st.text(min_size=1, max_size=8).filter(lambda text: text.strip() != ""))
def test_any_text_can_be_rewritten(question: str, word: str) -> None:
    result = rewritten(question, Pattern(word, "x\\1y", 0.9))
    assert result == question or "x\\1y" in result


@pytest.mark.parametrize(("question", "action"), [("ML", " \n"), ("ML", "x" * 8_193)], ids=["blank", "long"])
def test_spec_5_1_a_rewriting_that_cannot_be_asked_changes_nothing(question: str, action: str) -> None:
    assert found(question, Pattern("ML", action, 0.9)) == Rewritten(question)


def test_spec_5_1_patterns_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "patterns.toml"
    file.write_text('[[patterns]]\npattern = "ML"\nreplacement = "machine learning"\nweight = 0.8\n', encoding="utf-8")
    settings = RewritingSettings(patterns_file=str(file))
    result = Rewriting(open_patterns(settings), settings)("ML?", (), NO_PATTERNS, GLOBAL_SCOPE)
    assert result == Rewritten("machine learning?", (AppliedPattern("ML", "machine learning", 0.8),))
    assert open_patterns(RewritingSettings(patterns_file=str(file), weight_min=0.9)).count == 0
    assert open_patterns(RewritingSettings()) is NO_PATTERNS


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
        open_patterns(RewritingSettings(patterns_file=str(file), patterns_max=1))
    with pytest.raises(SettingsError):
        open_patterns(RewritingSettings(patterns_file=str(tmp_path / "absent.toml")))
