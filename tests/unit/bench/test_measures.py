"""Measures of a ranking on worked examples, and the interval's determinism."""

import pytest

from bench.measures import (
    ScoredQuestion,
    all_at,
    by_category,
    ranking_scores,
    recall_at,
    reciprocal_rank,
    summarise,
    words_held,
)


def test_recall_is_the_share_of_gold_within_the_depth() -> None:
    ranked = ["a", "x", "b", "y", "c"]

    assert recall_at(ranked, {"a", "b", "z"}, 1) == pytest.approx(1 / 3)
    assert recall_at(ranked, {"a", "b", "z"}, 3) == pytest.approx(2 / 3)
    assert recall_at(ranked, {"a", "b", "z"}, 50) == pytest.approx(2 / 3)
    assert recall_at([], {"a"}, 10) == 0.0


def test_all_needs_every_gold_id() -> None:
    assert all_at(["a", "b"], {"a", "b"}, 2) == 1.0
    assert all_at(["a", "x", "b"], {"a", "b"}, 2) == 0.0


def test_reciprocal_rank_looks_at_the_first_gold_id_only() -> None:
    assert reciprocal_rank(["x", "y", "b", "a"], {"a", "b"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x"], {"a"}) == 0.0


def test_depths_beyond_the_limit_are_not_reported() -> None:
    assert list(ranking_scores(["a"], {"a"}, limit=50)) == [
        "recall@1",
        "recall@5",
        "recall@10",
        "recall@25",
        "recall@50",
        "all@10",
        "mrr",
    ]
    assert list(ranking_scores(["a"], {"a"}, limit=5)) == ["recall@1", "recall@5", "mrr"]


def test_words_are_those_of_the_line_that_holds_most() -> None:
    said = "My sister moved to Lisbon, and my sister sings."
    assert words_held(said, ["Ann: my SISTER moved to Lisbon.", "sings"]) == pytest.approx(3 / 4)
    assert words_held(said, []) == 0.0
    assert words_held("Oh no!", []) == 1.0


def _questions() -> list[ScoredQuestion]:
    values = {"one": [1.0, 1.0, 1.0], "two": [0.0], "three": [0.5, 0.0]}
    return [
        ScoredQuestion(name, f"category {place}", {"recall@10": value})
        for name, scores in values.items()
        for place, value in enumerate(scores)
    ]


def test_the_mean_is_over_questions_not_conversations() -> None:
    estimate = summarise(_questions())["recall@10"]

    assert estimate.value == pytest.approx(3.5 / 6, abs=1e-4)
    assert estimate.questions == 6


def test_the_interval_is_the_same_each_time_and_holds_the_mean() -> None:
    first, second = summarise(_questions())["recall@10"], summarise(_questions())["recall@10"]

    assert first == second
    assert first.low is not None
    assert first.high is not None
    assert 0.0 <= first.low < first.value < first.high <= 1.0


def test_another_seed_draws_other_conversations() -> None:
    few = {seed: summarise(_questions(), resamples=7, seed=seed)["recall@10"] for seed in range(8)}

    assert len({(estimate.low, estimate.high) for estimate in few.values()}) > 1


def test_equal_conversations_have_an_interval_of_no_width() -> None:
    questions = [ScoredQuestion(name, "c", {"mrr": 0.25}) for name in ("one", "two", "three")]
    estimate = summarise(questions)["mrr"]

    assert (estimate.low, estimate.value, estimate.high) == (0.25, 0.25, 0.25)


def test_one_conversation_has_no_interval() -> None:
    estimate = summarise([ScoredQuestion("one", "c", {"mrr": 1.0})])["mrr"]

    assert (estimate.value, estimate.low, estimate.high) == (1.0, None, None)


def test_no_questions_have_no_measures() -> None:
    assert summarise([]) == {}


def test_categories_are_grouped_by_name() -> None:
    assert {name: len(group) for name, group in by_category(_questions()).items()} == {
        "category 0": 3,
        "category 1": 2,
        "category 2": 1,
    }
