"""Fitting rankers, on judgements that were made up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.common import BenchError
from bench.fit.__main__ import Options, conversations_of
from bench.fit.collect import Judgement
from bench.fit.dataset import Dataset
from bench.fit.fitting import CHAT_SUFFIX, FitSettings, fit, question_weights
from bench.fit.held_out import means, score
from bench.fit.refit import read_judgements, refit
from services.gateway.recall.ranking.ranker import RankerWeights

SMALL = FitSettings(penalty=1.0, tree_count=5, leaves=4, leaf_rows_min=5)


def made_up(questions: int = 60, candidates: int = 20, seed: int = 0) -> Dataset:
    """Relevant is who has the highest first feature, but for some noise; the second feature means nothing."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(questions * candidates, 2)).astype(np.float32)
    noisy = (rows[:, 0] + 0.3 * random.normal(size=len(rows))).reshape(questions, candidates)
    evidence = np.full((questions, candidates), -1, dtype=np.int32)
    evidence[np.arange(questions), noisy.argmax(axis=1)] = 0
    rows[:, 1] *= 100.0  # scales must not matter
    return Dataset(
        names=("signal", "noise"),
        rows=rows,
        evidence=evidence.reshape(-1),
        counts=np.full(questions, candidates),
        relevant_counts=np.ones(questions, dtype=np.int64),
        sets=np.array(["large" if n % 4 else "small" for n in range(questions)]),
        conversations=np.array([str(n % 5) for n in range(questions)]),
        categories=np.array(["one"] * questions),
    )


def recall_at_1(data: Dataset, ranker: RankerWeights) -> float:
    return float(np.mean([one.recall[0] for one in score(data, ranker)]))


def test_a_fitted_ranker_finds_what_matters() -> None:
    ranker = fit(made_up(), SMALL, {"fitted_on": "nothing"})
    assert abs(ranker.linear[0]) > 1_000 * abs(ranker.linear[1])
    assert len(ranker.trees) == SMALL.tree_count
    assert recall_at_1(made_up(seed=1), ranker) > 0.6
    assert recall_at_1(made_up(seed=1), RankerWeights(ranker.features, (0.0, 1.0))) < 0.3


def test_features_can_be_left_out() -> None:
    ranker = fit(made_up(), FitSettings(tree_count=0, without=("signal",)), {})
    assert ranker.features == ("noise",)
    assert recall_at_1(made_up(seed=1), ranker) < 0.3


def test_a_feature_that_never_changes_gets_no_weight() -> None:
    data = made_up()
    data.rows[:, 1] = 7.0
    assert fit(data, FitSettings(tree_count=0), {}).linear[1] == 0.0


def test_a_small_data_set_counts_more_for_each_question() -> None:
    data = made_up()
    weights = question_weights(data, FitSettings(set_balance=1.0))
    assert weights[data.sets == "small"].sum() == pytest.approx(weights[data.sets == "large"].sum())
    assert set(question_weights(data, FitSettings(set_balance=0.0)).tolist()) == {1.0}


def test_conversations_as_chats_are_a_part_of_their_data_set() -> None:
    data = made_up()
    sets = data.sets.astype("<U30")
    sets[1::4] = "large" + CHAT_SUFFIX
    weights = question_weights(replace(data, sets=sets), FitSettings(set_balance=1.0, chat_share=0.5))
    assert set(weights[sets == "large"]) == {1.0}
    assert set(weights[sets == "large" + CHAT_SUFFIX]) == {0.5}
    assert weights[sets == "small"].sum() == pytest.approx(weights[sets != "small"].sum())


@pytest.mark.parametrize(("chats", "expected"), [(True, ["set", "set as chats", "set"]), (False, ["set", "set"])])
def test_conversations_between_people_are_fitted_on_as_chats_too(
    tmp_path: Path, chats: bool, expected: list[str]
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    for name, other in (("people", "Ben"), ("with-assistant", "Assistant")):
        turns = [{"speaker": speaker, "dia_id": f"D1:{n}", "text": "Hi."} for n, speaker in enumerate(("Ada", other))]
        (folder / f"{name}.json").write_text(json.dumps({"session_1": turns}), "utf-8")
    found = list(conversations_of(Options([folder], tmp_path, [], install=False, ablations=False, chats=chats)))
    assert [set_name for set_name, _ in found] == expected
    assert {conversation.name for _, conversation in found} == {"people", "with-assistant"}


def test_a_data_set_is_saved_cut_and_joined(tmp_path: Path) -> None:
    data = made_up(questions=10)
    data.save(tmp_path / "data.npz")
    loaded = Dataset.load(tmp_path / "data.npz")
    halves = [loaded.chosen(loaded.conversations == str(n)) for n in range(5)]
    assert [half.counts.size for half in halves] == [2] * 5
    joined = Dataset.joined(halves)
    assert sorted(joined.rows[:, 0].tolist()) == sorted(data.rows[:, 0].tolist())
    with pytest.raises(ValueError, match="different features"):
        Dataset.joined([loaded, Dataset.joined([made_up()]).chosen(np.ones(60, bool)), _renamed(loaded)])


def _renamed(data: Dataset) -> Dataset:
    return Dataset(("a", "b"), *(getattr(data, name) for name in Dataset.__slots__ if name != "names"))


def test_any_part_of_a_piece_of_evidence_will_do() -> None:
    judgement = Judgement("ada", "Who?", frozenset("abc"), units={"a": "turn", "b": "turn"})
    assert judgement.evidence["a"] == judgement.evidence["b"] != judgement.evidence["c"]
    data = replace(made_up(), evidence=np.tile(np.array([0, 0, 1] + 17 * [-1], dtype=np.int32), 60))
    data.rows[:, 0] = np.tile(-np.arange(20.0), 60)
    found = score(replace(data, relevant_counts=np.full(60, 2)), RankerWeights(data.names, (1.0, 0.0)))
    assert {one.recall for one in found} == {(0.5, 1.0, 1.0, 1.0)}


def test_recall_is_reported_by_data_set_and_category() -> None:
    found = means(score(made_up(), RankerWeights(("signal", "noise"), (1.0, 0.0))))
    assert found.keys() == {"small", "large"}
    assert found["small"]["questions"] == 15
    assert found["small"]["recall@25"] == 1.0


def test_a_ranker_moves_towards_judgements_and_keeps_its_trees() -> None:
    base = RankerWeights(("signal", "noise"), (0.0, 0.01), provenance={"fitted_on": "something"})
    moved = refit(base, made_up(), FitSettings(penalty=1.0))
    assert recall_at_1(made_up(seed=1), moved) > recall_at_1(made_up(seed=1), base) + 0.2
    assert moved.provenance["fitted_on"] == "something"
    assert moved.provenance["refitted_on"]["judgements"] == 60
    held = refit(base, made_up(), FitSettings(penalty=1e9))
    np.testing.assert_allclose(held.linear, base.linear, atol=1e-4)


def test_a_ranker_of_features_that_a_gateway_does_not_tell_is_refused() -> None:
    with pytest.raises(ValueError, match="unheard"):
        refit(RankerWeights(("unheard",), (1.0,)), made_up(), SMALL)


def test_judgements_are_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "judgements.jsonl"
    line = json.dumps({"user_id": "ada", "question": "Who?", "relevant": ["a", "b"]})
    file.write_text("\n".join([line] * 12) + "\n\n", "utf-8")
    judgements = read_judgements(file)
    assert len(judgements) == 12
    assert judgements[0].relevant_ids == {"a", "b"}
    assert len({judgement.conversation for judgement in judgements}) == 5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "line 1"),
        ("no JSON", "line 1"),
        ('{"user_id": "a", "question": " ", "relevant": ["a"]}', "needs a question"),
        ('{"user_id": "a", "question": "Who?", "relevant": []}', "at least one"),
        ('{"user_id": "a", "question": "Who?", "relevant": ["a"]}', "are the least"),
    ],
)
def test_bad_judgements_are_told(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "judgements.jsonl"
    file.write_text(line, "utf-8")
    with pytest.raises(BenchError, match=message):
        read_judgements(file)
