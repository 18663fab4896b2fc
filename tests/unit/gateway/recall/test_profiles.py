"""Scoring profiles: their formulas, their parts, and what a request may change about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.dates import TimeRange
from services.gateway.recall.choices import Profile, ScoringChoice, TaskType
from services.gateway.recall.columns import EpisodeColumns, Statistics
from services.gateway.recall.model import CoarseResult, RankedEpisode
from services.gateway.recall.question.reading import read_question
from services.gateway.recall.ranking.evidence import EvidenceWeights
from services.gateway.recall.ranking.profiles import (
    EVIDENCE_PARTS,
    Profiles,
    ProfileSettings,
    needs_statistics,
    weight_names,
)
from services.gateway.recall.stages.fusion import DerivedWeights, EvidenceScorer, Fusion
from services.gateway.recall.stages.loadout import LoadoutSettings
from tests.unit.gateway.tiers import NOON, candidates, fact_hit, note_hit, uuid

PAGE = Path(__file__).parents[4] / "docs" / "scoring.md"
QUESTION = read_question("what happened", (), NOON)
BY_EVIDENCE: Final = dict.fromkeys(
    (Profile.EVIDENCE, Profile.LIGHT, Profile.PLAIN), EvidenceScorer(EvidenceWeights(), DerivedWeights())
)
PROFILES = Profiles(BY_EVIDENCE)
FORMULAS: Final = (Profile.BALANCED, Profile.ASSISTANT, Profile.NARRATIVE, Profile.INTERACTION)


def columns(
    *,
    similarity: tuple[float, ...] = (0.8,),
    importance: float = 0.5,
    days: float = 0.0,
    uses: int = 0,
    hours_unused: float | None = None,
    confidence: float = -1.0,
    decay: float = 1.0,
    feedback: int = 0,
) -> EpisodeColumns:
    """Candidates that differ in their similarity alone."""
    count = len(similarity)
    plain = EpisodeColumns.from_response(candidates(range(1, count + 1), dense=similarity))
    used = 0.0 if hours_unused is None else (NOON - timedelta(hours=hours_unused)).timestamp()
    return replace(
        plain,
        importance=np.full(count, importance, dtype=np.float32),
        time=np.full(count, (NOON - timedelta(days=days)).timestamp()),
        feedback=np.full(count, feedback, dtype=np.int32),
        statistics=Statistics(
            access_count=np.full(count, uses, dtype=np.int64),
            last_access_time=np.full(count, used),
            confidence=np.full(count, confidence, dtype=np.float32),
            decay=np.full(count, decay, dtype=np.float32),
        ),
    )


def scored(
    profile: Profile, found: EpisodeColumns, weights: Mapping[str, float] | None = None
) -> tuple[float, dict[str, float]]:
    """Score and parts of the first candidate."""
    scorer = PROFILES.scorer(ScoringChoice(profile, weights or {}), now=NOON)
    scores, parts = scorer(found, QUESTION)
    return float(scores[0]), {name: float(part[0]) for name, part in parts.items()}


def test_spec_5_6_balanced_is_its_formula() -> None:
    # (0.4 similarity + 0.2 recency + 0.2 importance + 0.2 access) x confidence; a month old, used 9 times, last 10 h
    # ago: access 0.7 ln 10 / 5 + 0.3 exp(-0.5) = 0.5043; importance 0.5 - 30 x 0.01.
    found = columns(similarity=(0.8,), days=30, uses=9, hours_unused=10, confidence=0.5)
    score, parts = scored(Profile.BALANCED, found)
    assert parts == pytest.approx(
        {"similarity": 0.16, "recency": 0.05, "importance": 0.02, "access": 0.05043}, abs=1e-5
    )
    assert score == pytest.approx(0.28043, abs=1e-5)


def test_spec_5_6_assistant_is_its_formula() -> None:
    # 0.3 relevance + 0.3 recency + 0.4 importance x 0.5^(days / 30) + min(uses / 10, 0.2)
    found = columns(similarity=(0.8,), importance=0.6, days=30, uses=5, hours_unused=30 * 24)
    score, parts = scored(Profile.ASSISTANT, found)
    assert parts == pytest.approx({"similarity": 0.24, "recency": 0.15, "importance": 0.12, "access": 0.2}, abs=1e-6)
    assert score == pytest.approx(0.71)


def test_spec_5_6_the_bonus_of_assistant_has_a_cap() -> None:
    bonuses = [scored(Profile.ASSISTANT, columns(uses=uses))[1]["access"] for uses in (0, 1, 2, 3, 500)]
    assert bonuses == pytest.approx([0.0, 0.1, 0.2, 0.2, 0.2])


def test_spec_5_6_recency_of_assistant_counts_from_the_last_use() -> None:
    old = columns(days=300)
    assert scored(Profile.ASSISTANT, old)[1]["recency"] < 0.001
    used_now = columns(days=300, uses=1, hours_unused=0)
    assert scored(Profile.ASSISTANT, used_now)[1]["recency"] == pytest.approx(0.3)


def test_spec_5_6_narrative_is_its_formula() -> None:
    # 0.5 similarity + 0.3 importance + 0.2 recency
    score, parts = scored(Profile.NARRATIVE, columns(similarity=(0.8,), importance=0.6))
    assert parts == pytest.approx({"similarity": 0.4, "importance": 0.18, "recency": 0.2}, abs=1e-6)
    assert score == pytest.approx(0.78)
    # At importance 1 the half-life is 90 days, at 0.5 it is 60.
    kept = scored(Profile.NARRATIVE, columns(importance=1.0, days=90))[1]["importance"] / 0.3
    assert kept == pytest.approx(0.5)
    kept = scored(Profile.NARRATIVE, columns(importance=0.5, days=90))[1]["importance"] / (0.3 * 0.5)
    assert kept == pytest.approx(0.5 ** (90 / 60))


@pytest.mark.parametrize(("feedback", "expected"), [(1, 0.8 * 0.5 * 1.2), (0, 0.8 * 0.5), (-1, 0.8 * 0.5 * 0.5)])
def test_spec_5_6_interaction_is_its_formula(feedback: int, expected: float) -> None:
    score, parts = scored(Profile.INTERACTION, columns(similarity=(0.8,), decay=0.5, feedback=feedback))
    assert score == pytest.approx(expected)
    assert parts["decay"] == pytest.approx(-0.4)
    assert parts["feedback"] == pytest.approx(expected - 0.4)


def test_spec_5_6_without_statistics_nothing_was_used_and_all_is_trusted() -> None:
    plain = replace(columns(days=365), statistics=None)
    assert scored(Profile.BALANCED, plain)[1]["access"] == 0.0
    assert scored(Profile.BALANCED, plain)[1]["similarity"] == pytest.approx(0.4 * 0.8)
    assert scored(Profile.INTERACTION, plain)[0] == pytest.approx(0.8 * 0.5)


def test_without_an_index_words_stand_for_similarity() -> None:
    response = candidates([1, 2], dense=[0.0, 0.0], lexical=[2.0, 8.0])
    response.degraded = True
    scores, _ = PROFILES.scorer(ScoringChoice(Profile.INTERACTION), now=NOON)(
        EpisodeColumns.from_response(response), QUESTION
    )
    assert scores.tolist() == pytest.approx([0.25, 1.0])


SIGNALS: Final = {
    "importance": (0.1, 0.9),
    "days": (400.0, 0.5),
    "uses": (1, 9),
    "hours_unused": (5_000.0, 1.0),
    "confidence": (0.2, 0.9),
    "decay": (0.2, 0.9),
    "feedback": (-1, 1),
}
LOOKED_AT: Final = {
    Profile.BALANCED: {"importance", "days", "uses", "hours_unused", "confidence"},
    Profile.ASSISTANT: {"importance", "days", "uses", "hours_unused"},
    Profile.NARRATIVE: {"importance", "days"},
    Profile.INTERACTION: {"decay", "feedback"},
}


@pytest.mark.parametrize("profile", FORMULAS)
@pytest.mark.parametrize("signal", SIGNALS)
def test_spec_5_6_each_profile_looks_at_its_signals_and_no_others(profile: Profile, signal: str) -> None:
    low, high = SIGNALS[signal]
    always = {"days": 1_000.0, "uses": 1, "hours_unused": 9_000.0} if signal == "hours_unused" else {}
    worse = scored(profile, columns(**{**always, signal: low}))[0]  # type: ignore[arg-type]  # names and values agree
    better = scored(profile, columns(**{**always, signal: high}))[0]  # type: ignore[arg-type]
    assert better > worse if signal in LOOKED_AT[profile] else better == worse


@settings(max_examples=60, deadline=None)
@given(
    profile=st.sampled_from(FORMULAS),
    similarities=st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=12),
    importance=st.floats(0, 1, width=32),
    days=st.floats(-10, 5_000),
    uses=st.integers(0, 10_000),
    hours=st.none() | st.floats(0, 50_000),
    confidence=st.sampled_from([-1.0, 0.0, 0.3, 1.0]),
    feedback=st.sampled_from([-1, 0, 1]),
)
def test_spec_5_6_parts_add_up_and_scores_never_fall_with_similarity(
    profile: Profile,
    similarities: list[float],
    importance: float,
    days: float,
    uses: int,
    hours: float | None,
    confidence: float,
    feedback: int,
) -> None:
    found = columns(
        similarity=tuple(sorted(similarities)),
        importance=importance,
        days=days,
        uses=uses,
        hours_unused=hours,
        confidence=confidence,
        feedback=feedback,
    )
    scores, parts = PROFILES.scorer(ScoringChoice(profile), now=NOON)(found, QUESTION)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) >= -1e-6).all()
    assert scores == pytest.approx(np.sum(list(parts.values()), axis=0), abs=1e-5)
    assert set(parts) <= {"similarity", "recency", "importance", "access", "decay", "feedback"}


@settings(max_examples=60, deadline=None)
@given(
    profile=st.sampled_from(FORMULAS),
    signal=st.sampled_from(["importance", "days", "uses", "confidence", "decay"]),
    share=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_spec_5_6_scores_never_fall_with_any_signal(profile: Profile, signal: str, share: tuple[float, float]) -> None:
    spans = {"importance": (0, 1), "days": (3_000, 0), "uses": (0, 1_000), "confidence": (0, 1), "decay": (0.01, 1)}
    worst, best = spans[signal]
    low, high = (worst + part * (best - worst) for part in sorted(share))
    values = (round(low), round(high)) if signal == "uses" else (low, high)
    worse, better = (scored(profile, columns(**{signal: value}))[0] for value in values)  # type: ignore[arg-type]
    assert better >= worse - 1e-6


@pytest.mark.parametrize("profile", [Profile.EVIDENCE, Profile.LIGHT])
def test_spec_5_6_weights_multiply_the_parts_of_evidence(profile: Profile) -> None:
    found = columns(similarity=(0.9, 0.1, 0.4))
    _, plain = scored(profile, found)
    score, parts = scored(profile, found, {"dense": 0.5, "session": 0.0})
    assert parts["dense"] == pytest.approx(0.5 * plain["dense"])
    assert parts["session"] == 0.0
    assert {name: parts[name] for name in parts if name not in {"dense", "session"}} == {
        name: plain[name] for name in plain if name not in {"dense", "session"}
    }
    assert score == pytest.approx(sum(parts.values()), abs=1e-5)


def test_spec_5_6_every_part_of_evidence_can_be_weighted() -> None:
    _, parts = scored(Profile.EVIDENCE, columns())
    assert set(parts) <= set(EVIDENCE_PARTS)


@pytest.mark.parametrize("profile", FORMULAS)
def test_spec_5_6_every_weight_of_a_formula_changes_a_score(profile: Profile) -> None:
    found = columns(days=10, uses=3, hours_unused=5, feedback=1)
    if profile is Profile.INTERACTION:
        assert scored(profile, found, {"feedback_good": 0.0})[0] == pytest.approx(0.0)
        bad = columns(feedback=-1)
        assert scored(profile, bad, {"feedback_bad": 1.0})[0] > scored(profile, bad)[0]
        return
    for name in weight_names(profile):
        if name not in {"facts", "notes", "time"}:
            assert scored(profile, found, {name: 0.0})[1][name] == 0.0
            assert scored(profile, found)[1][name] > 0.0


@pytest.mark.parametrize("profile", [p for p in Profile if p not in {Profile.EVIDENCE, Profile.LIGHT, Profile.PLAIN}])
def test_spec_5_5_the_times_of_a_question_count_in_every_formula(profile: Profile) -> None:
    day = TimeRange((NOON - timedelta(days=10, hours=1)).timestamp(), (NOON - timedelta(days=9)).timestamp())
    asked = replace(QUESTION, time_ranges=(day,))
    scorer = Profiles(BY_EVIDENCE).scorer(ScoringChoice(profile), now=NOON)
    scores, parts = scorer(columns(days=10), asked)
    assert parts["time"].tolist() == pytest.approx([0.3])
    assert scores.tolist() == pytest.approx([scorer(columns(days=10), QUESTION)[0].item() + 0.3])
    _, far = scorer(columns(days=100), asked)
    assert 0.0 <= far["time"].item() < 0.01
    off = Profiles(BY_EVIDENCE).scorer(ScoringChoice(profile, {"time": 0.0}), now=NOON)
    assert off(columns(days=10), asked)[1]["time"].tolist() == [0.0]


def test_spec_5_6_settings_are_the_weights_that_a_request_leaves_alone() -> None:
    chosen = ProfileSettings()
    chosen = replace(chosen, narrative=replace(chosen.narrative, similarity=1.0, recency=0.0))
    scorer = Profiles(BY_EVIDENCE, chosen).scorer(ScoringChoice(Profile.NARRATIVE, {"importance": 0.0}), now=NOON)
    scores, _ = scorer(columns(similarity=(0.8,)), QUESTION)
    assert scores.tolist() == pytest.approx([0.8])


def test_spec_5_6_the_numbers_of_access_are_settings() -> None:
    chosen = ProfileSettings()
    changed = replace(
        chosen.decay,
        access_count_share=0.5,
        access_count_scale=2.0,
        access_recency_share=0.1,
        access_recency_loss_per_hour=0.0,
        access_uses_scale=100.0,
        access_bonus_max=0.03,
    )
    profiles = Profiles(BY_EVIDENCE, replace(chosen, decay=changed))
    found = columns(uses=9, hours_unused=10)
    _, parts = profiles.scorer(ScoringChoice(Profile.BALANCED, {}), now=NOON)(found, QUESTION)
    assert parts["access"].tolist() == pytest.approx([0.2 * (0.5 * np.log(10) / 2 + 0.1)])
    for uses, bonus in ((2, 0.02), (9, 0.03)):
        _, parts = profiles.scorer(ScoringChoice(Profile.ASSISTANT, {}), now=NOON)(columns(uses=uses), QUESTION)
        assert parts["access"].tolist() == pytest.approx([bonus])


def test_only_profiles_that_look_at_use_ask_the_store_for_it() -> None:
    asking = {profile for profile in Profile if needs_statistics(profile)}
    assert asking == {Profile.BALANCED, Profile.ASSISTANT, Profile.INTERACTION}


def fused(choice: ScoringChoice) -> list[RankedEpisode]:
    coarse = CoarseResult(
        episodes=columns(similarity=(0.9, 0.5, 0.1)),
        facts=(fact_hit("f", 3, similarity=0.9),),
        notes=(note_hit("n", 2, score=0.6),),
    )
    return Fusion(EvidenceWeights(), DerivedWeights())(coarse, QUESTION, (), limit=3, now=NOON, scoring=choice)


@pytest.mark.parametrize("profile", Profile)
def test_spec_5_10_parts_add_up_with_every_profile(profile: Profile) -> None:
    ranked = fused(ScoringChoice(profile, {"facts": 2.0}))
    assert any(name == "facts" for candidate in ranked for name, _ in candidate.parts)
    for candidate in ranked:
        assert candidate.score == pytest.approx(sum(value for _, value in candidate.parts), abs=1e-5)


def test_spec_5_6_facts_and_notes_count_in_a_formula_only_if_they_are_weighed() -> None:
    plain = fused(ScoringChoice(Profile.NARRATIVE))
    assert all(name not in {"facts", "notes"} for candidate in plain for name, _ in candidate.parts)
    weighed = {c.episode_id: dict(c.parts) for c in fused(ScoringChoice(Profile.NARRATIVE, {"notes": 0.5}))}
    assert weighed[uuid(2)]["notes"] == pytest.approx(0.3)


def test_spec_5_6_the_profile_decides_the_order() -> None:
    orders = {profile: [c.episode_id for c in fused(ScoringChoice(profile))] for profile in FORMULAS}
    assert set(map(tuple, orders.values())) == {(uuid(1), uuid(2), uuid(3))}
    important = replace(columns(similarity=(0.6, 0.5)), importance=np.array([0.0, 1.0], dtype=np.float32))
    for profile, best in ((Profile.NARRATIVE, uuid(2)), (Profile.INTERACTION, uuid(1))):
        ranked = Fusion(EvidenceWeights(), DerivedWeights())(
            CoarseResult(episodes=important), QUESTION, (), limit=2, now=NOON, scoring=ScoringChoice(profile)
        )
        assert ranked[0].episode_id == best


def test_the_page_about_scoring_names_every_weight_of_every_profile() -> None:
    page = PAGE.read_text("utf-8")
    rows = {row.split("|")[1].strip(" `"): row for row in page.splitlines() if row.startswith("| `")}
    for profile in Profile:
        assert profile.value in rows
        if profile is not Profile.LIGHT:
            own = set(weight_names(profile)) - {"facts", "notes"}
            assert {name for name in own if f"`{name}`" not in page} == set()
    tiers = {TaskType[name]: row for name, row in rows.items() if name in TaskType.__members__}
    for task_type, row in tiers.items():
        expected = [tier.name.lower() for tier in LoadoutSettings().tiers(task_type)]
        assert row.split("|")[2].strip() in {", ".join(expected), "all"}
    assert tiers.keys() == set(TaskType)
