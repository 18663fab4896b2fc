"""Rankers: their files, what they score, and when the round weights rank in their place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.question.reading import QuestionEvidence, read_question
from services.gateway.recall.ranking.features import (
    Extra,
    Features,
    extra_names,
    extras_among,
    feature_names,
    read_features,
)
from services.gateway.recall.ranking.fitted import SHIPPED, FittedScorer, Rankers, RankerSettings
from services.gateway.recall.ranking.ranker import (
    INTERPLAY,
    TREE_ROWS,
    FittedRanker,
    RankerFileError,
    RankerWeights,
    Tree,
)
from tests.unit.gateway.tiers import NOON, candidates

LINE = RankerWeights(features=("a", "b"), linear=(2.0, -1.0))
TREE = Tree(feature=(0, 0, 0), threshold=(0.5, 0.0, 0.0), left=(1, -1, -1), right=(2, -1, -1), value=(0.0, -1.0, 3.0))


def features(rows: list[list[float]], names: tuple[str, ...] = ("a", "b")) -> Features:
    return Features(
        names, tuple(f"part of {name}" for name in names), np.array(rows, np.float32).reshape(-1, len(names))
    )


def test_a_line_is_scaled_to_a_spread_of_one() -> None:
    scores, parts = FittedRanker(LINE)(features([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    assert float(np.std(scores)) == pytest.approx(1.0, abs=1e-5)
    assert scores.argsort().tolist() == [1, 2, 0]
    assert set(parts) == {"part of a", "part of b"}
    np.testing.assert_allclose(sum(parts.values()), scores, atol=1e-6)


def test_trees_add_what_features_tell_together() -> None:
    ranker = FittedRanker(RankerWeights(features=("a", "b"), linear=(0.0, 0.0), trees=(TREE, TREE)))
    scores, parts = ranker(features([[0.5, 0.0], [0.6, 0.0], [9.0, 0.0]]))
    np.testing.assert_allclose(parts[INTERPLAY], scores, atol=1e-6)
    assert scores[0] < scores[1] == scores[2]
    assert float(np.mean(scores)) == pytest.approx(0.0, abs=1e-6)


def test_trees_look_at_the_best_by_the_line_alone() -> None:
    ranker = FittedRanker(RankerWeights(features=("a", "b"), linear=(0.0, 1.0), trees=(TREE,)))
    count = TREE_ROWS + 100
    rows = [[float(i % 2), float(i)] for i in range(count)]
    scores, parts = ranker(features(rows))
    looked_at, beyond = parts[INTERPLAY][100:], parts[INTERPLAY][:100]
    assert len(set(looked_at.tolist())) == 2
    assert set(beyond.tolist()) == {looked_at.min()}
    alone, _ = ranker(features(rows[100:]))
    assert scores.argsort()[::-1][:50].tolist() == (alone.argsort()[::-1][:50] + 100).tolist()


def test_trees_may_look_at_fewer() -> None:
    weights = RankerWeights(features=("a", "b"), linear=(0.0, 1.0), trees=(TREE,))
    rows = [[float(i % 2), float(i)] for i in range(30)]
    _, parts = FittedRanker(weights, tree_rows=10)(features(rows))
    assert len(set(parts[INTERPLAY][20:].tolist())) == 2
    assert set(parts[INTERPLAY][:20].tolist()) == {parts[INTERPLAY].min()}


def test_features_are_found_by_name() -> None:
    scores, _ = FittedRanker(LINE)(features([[0.0, 5.0, 1.0], [1.0, 5.0, 0.0]], ("b", "new", "a")))
    assert scores[0] > scores[1]
    without, parts = FittedRanker(LINE)(features([[0.0], [1.0]], ("b",)))
    assert without[0] > without[1]
    assert set(parts) == {"part of b"}


def test_nothing_to_rank() -> None:
    scores, parts = FittedRanker(LINE)(features([]))
    assert (scores.shape, parts) == ((0,), {})


def test_equal_candidates_get_equal_scores() -> None:
    scores, _ = FittedRanker(LINE)(features([[1.0, 1.0], [1.0, 1.0]]))
    assert scores[0] == scores[1]
    assert np.isfinite(scores).all()


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    weights = RankerWeights(features=("a",), linear=(0.123456,), trees=(TREE,), provenance={"fitted_on": "nothing"})
    weights.write(tmp_path / "ranker.json")
    assert RankerWeights.read(tmp_path / "ranker.json") == weights


@pytest.mark.parametrize("content", ["", "[]", '{"format": 2}', '{"format": 1, "features": ["a"], "linear": []}'])
def test_what_is_no_ranker_is_refused_with_its_name(tmp_path: Path, content: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(content, "utf-8")
    with pytest.raises(RankerFileError, match=r"mine\.json"):
        RankerWeights.read(file)
    with pytest.raises(RankerFileError, match=r"absent\.json"):
        Rankers.open(RankerSettings(evidence_file=str(tmp_path / "absent.json")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"linear": [float("nan"), 1.0]}, "linear holds what is no number"),
        ({"linear": [1e39, 1.0]}, "linear holds what is no number"),  # beyond four bytes
        ({"tree_weight": float("inf")}, "tree_weight holds what is no number"),
        ({"feature": [2, 0, 0]}, r"trees\[0\]\.feature\[0\] is 2, and there are 2 features"),
        ({"feature": [0.5, 0, 0]}, r"trees\[0\]\.feature"),
        ({"threshold": [float("nan"), 0.0, 0.0]}, r"trees\[0\]\.threshold holds what is no number"),
        ({"value": [0.0, float("-inf"), 0.0]}, r"trees\[0\]\.value holds what is no number"),
        ({"left": [0, -1, -1]}, r"node 0 leads to 0"),
        ({"right": [3, -1, -1]}, r"node 0 leads to 1 and 3"),
        ({"left": [-2, -1, -1]}, r"node 0 leads to -2"),
        ({"left": [], "right": []}, "one value of each column"),
        ({"value": [0.0, 1.0]}, "one value of each column"),
    ],
)
def test_weights_that_nothing_could_be_scored_by_are_refused_with_their_path(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    file = tmp_path / "mine.json"
    RankerWeights(features=("a", "b"), linear=(1.0, 1.0), trees=(TREE,)).write(file)
    content = json.loads(file.read_text("utf-8"))
    assert [len(content["trees"]), len(content["trees"][0]["left"])] == [1, 3]
    for name, values in change.items():
        (content["trees"][0] if name in content["trees"][0] else content)[name] = values
    file.write_text(json.dumps(content), "utf-8")

    with pytest.raises(RankerFileError, match=message):
        RankerWeights.read(file)


@pytest.mark.parametrize("name", ["evidence", "light", "evidence-chats", "light-chats"])
def test_the_rankers_that_come_along_know_the_features_and_say_what_they_were_fitted_on(name: str) -> None:
    weights = RankerWeights.read(SHIPPED / f"{name}.json")
    assert set(weights.features) <= set(feature_names())
    assert {"fitted_on", "licences", "held_out", "settings", "date"} <= weights.provenance.keys()


class Constant:
    """A scorer that gives all candidates the same."""

    def __call__(
        self, columns: EpisodeColumns, question: QuestionEvidence
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.float32]], dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]]:
        del question
        part = np.full(len(columns), 100.0, dtype=np.float32)
        return part, {"dense": part}


@pytest.mark.parametrize(("count", "share"), [(1, 0.0), (2, 0.0), (5, 0.5), (8, 1.0), (90, 1.0)])
def test_round_weights_rank_where_there_is_little_to_rank(count: int, share: float) -> None:
    rankers = Rankers.open()
    assert rankers.fitted_share(count) == share
    found = EpisodeColumns.from_response(candidates(range(1, count + 1)))
    scores, parts = FittedScorer(rankers, Constant(), is_light=True)(found, read_question("what", (), NOON))
    np.testing.assert_allclose(sum(parts.values()), scores, atol=1e-3)
    assert (float(np.mean(scores)) > 40) == (share < 1.0)


def _conversation(speakers: Sequence[int]) -> EpisodeColumns:
    """Candidates one behind the other, by who speaks."""
    found = EpisodeColumns.from_response(candidates(range(1, len(speakers) + 1)))
    return replace(
        found,
        session=np.zeros(len(speakers), np.int32),
        position=np.arange(len(speakers), dtype=np.int32),
        speaker=np.array(speakers, np.int32),
    )


@pytest.mark.parametrize(
    ("speakers", "is_chat"),
    [
        ([0, 1] * 20, False),
        ([0, 0, 1] * 14, True),
        ([0, 1] * 20 + [0, 0], False),  # once in a while says nothing
        ([0] * 40, False),  # nobody is told apart
        ([0, 1, 1, 1, 0, 0, 1], True),
    ],
)
def test_messages_in_a_row_have_a_ranker_of_their_own(speakers: Sequence[int], is_chat: bool) -> None:
    rankers = Rankers.open()
    for pair in (rankers.evidence, rankers.light):
        assert pair.turns is not pair.chats
        assert pair.of(_conversation(speakers)) is (pair.chats if is_chat else pair.turns)
    assert rankers.evidence.of(EpisodeColumns.from_response(candidates([]))) is rankers.evidence.turns


def test_trees_count_as_much_as_the_file_says(tmp_path: Path) -> None:
    weights = RankerWeights(features=("a", "b"), linear=(0.0, 1.0), trees=(TREE,), tree_weight=0.5)
    weights.write(tmp_path / "ranker.json")
    rows = features([[0.0, 1.0], [9.0, 2.0], [3.0, 3.0]])
    _, whole = FittedRanker(replace(weights, tree_weight=1.0))(rows)
    _, half = FittedRanker(RankerWeights.read(tmp_path / "ranker.json"))(rows)
    assert half[INTERPLAY] == pytest.approx(0.5 * whole[INTERPLAY])


def test_rankers_read_the_extras_that_they_were_fitted_with() -> None:
    rankers = Rankers.open()
    assert extras_among(rankers.evidence.turns.features) == Extra.COURSE
    assert extras_among(rankers.light.turns.features) == Extra(0)
    for pair in (rankers.evidence, rankers.light):
        assert extras_among(pair.chats.features) == Extra.BURSTS


def test_extras_are_told_to_those_alone_who_read_them() -> None:
    for extra, names in extra_names().items():
        told = set(read_features(_conversation([0, 1]), read_question("what", (), NOON), extras=extra).names)
        assert names <= told
        assert extras_among(frozenset(told)) == extra


def test_the_scores_are_those_of_the_ranker_that_was_chosen() -> None:
    rankers, question = Rankers.open(), read_question("what", (), NOON)
    for speakers in ([0, 1] * 20, [0, 0, 1] * 14):
        found = _conversation(speakers)
        known = replace(found, token_scores=None)
        expected, _ = rankers.light.of(found)(read_features(known, question))
        scores, _ = FittedScorer(rankers, Constant(), is_light=True)(found, question)
        np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_an_own_ranker_ranks_everything_unless_there_is_one_for_messages_too(tmp_path: Path) -> None:
    files = []
    for name in ("mine", "chats"):
        weights = RankerWeights(features=("dense",), linear=(1.0,), trees=(TREE,), provenance={"fitted_on": name})
        weights.write(tmp_path / f"{name}.json")
        files.append(str(tmp_path / f"{name}.json"))
    alone = Rankers.open(RankerSettings(evidence_file=files[0], light_file=files[0]))
    assert alone.evidence.chats is alone.evidence.turns
    assert alone.light.chats is alone.light.turns
    both = Rankers.open(RankerSettings(evidence_file=files[0], evidence_chats_file=files[1]))
    assert both.evidence.chats.weights.provenance == {"fitted_on": "chats"}
    only_chats = Rankers.open(RankerSettings(light_chats_file=files[1]))
    assert only_chats.light.turns is Rankers.open().light.turns
    assert only_chats.light.chats.weights.provenance == {"fitted_on": "chats"}
