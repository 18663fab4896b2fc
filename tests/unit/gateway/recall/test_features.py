"""What a ranker sees of the candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.turn_traits import Trait
from services.gateway.recall.columns import EpisodeColumns
from services.gateway.recall.question.reading import read_question
from services.gateway.recall.ranking.features import feature_names, feature_parts, read_features
from services.gateway.recall.ranking.surroundings import Surroundings
from tests.unit.gateway.tiers import NOON, candidates


def columns(count: int, **changed: object) -> EpisodeColumns:
    """Turns of one session in their order."""
    plain = EpisodeColumns.from_response(candidates(range(1, count + 1)))
    base = replace(
        plain,
        dense=np.zeros(count, np.float32),
        lexical=np.zeros(count, np.float32),
        session=np.zeros(count, np.int32),
        position=np.arange(count, dtype=np.int32),
        traits=np.zeros(count, np.int32),
        length=np.full(count, 100, np.int32),
        active_count=count,
    )
    typed: dict[str, Any] = {name: np.array(value, getattr(base, name).dtype) for name, value in changed.items()}
    return replace(base, **typed)


def with_tokens(found: EpisodeColumns, scores: list[list[float]], frequencies: list[int]) -> EpisodeColumns:
    count = len(found)
    return replace(
        found,
        token_scores=np.array(scores, np.float32),
        token_frequencies=np.array(frequencies, np.int32),
        has_tokens=np.ones(count, np.bool_),
        reverse=np.zeros(count, np.float32),
        sentence=np.zeros(count, np.float32),
    )


def feature(found: EpisodeColumns, name: str, text: str = "what happened", *names: str) -> list[float]:
    features = read_features(found, read_question(text, names, NOON))
    return [round(float(value), 4) for value in features.values[:, features.names.index(name)]]


def test_every_feature_has_a_name_of_its_own_and_a_part() -> None:
    assert len(set(feature_names())) == len(feature_names())
    assert feature_parts().keys() == set(feature_names())
    assert read_features(columns(3), read_question("who", (), NOON)).names == feature_names()


def test_nobody_has_no_rows() -> None:
    assert read_features(columns(0), read_question("who", (), NOON)).values.shape == (0, len(feature_names()))


def test_spec_5_4_scores_are_standardised_within_the_candidates() -> None:
    assert feature(columns(3, dense=[0.1, 0.2, 0.3]), "dense") == [-1.2247, 0.0, 1.2247]
    assert feature(columns(3, dense=[0.2, 0.2, 0.2]), "dense") == [0.0, 0.0, 0.0]


def test_spec_5_4_neighbours_count_less_beside_long_turns() -> None:
    found = columns(3, dense=[0.0, 0.0, 1.0], length=[100, 600, 100])
    assert feature(found, "dense_after") == [0.0, 1.4142, 0.0]
    assert feature(found, "dense_beside_short") == [0.0, 0.7071, 0.0]
    assert feature(found, "dense_second") == [1.4142, 0.0, 0.0]
    other_sessions = replace(found, session=np.array([0, 1, 2], np.int32))
    assert feature(other_sessions, "dense_after") == [0.0, 0.0, 0.0]


def test_spec_5_4_the_answer_to_a_question_that_fits() -> None:
    found = columns(3, dense=[1.0, 0.0, 0.0], traits=[Trait.QUESTION, 0, 0])
    assert feature(found, "dense_answers") == [0.0, 1.4142, 0.0]
    assert feature(found, "answers") == [0.0, 1.0, 0.0]
    assert feature(found, "is_answered") == [1.0, 0.0, 0.0]


def test_spec_5_4_messages_in_a_row_by_one_speaker_count_as_one_turn() -> None:
    found = columns(5, dense=[0.0, 1.0, 0.0, 0.0, 0.0], speaker=[1, 1, 1, 2, 2], length=[100, 50, 50, 7, 7])
    assert feature(found, "dense_burst_others") == [2.0, 0.0, 2.0, 0.0, 0.0]
    assert feature(found, "dense_burst_before") == [0.0, 0.0, 0.0, 2.0, 2.0]
    assert feature(found, "dense_burst_after") == [0.0] * 5
    assert feature(found, "burst_length_log")[:3] == [round(float(np.log(200)), 4)] * 3
    assert feature(found, "burst_size")[3:] == [round(float(np.log(2)), 4)] * 2
    asking = replace(found, traits=np.array([Trait.QUESTION, 0, 0, 0, 0], np.int32))
    assert feature(asking, "burst_answers") == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert feature(asking, "dense_burst_answers") == [0.0, 0.0, 0.0, 2.0, 2.0]


def test_the_best_two_of_a_burst_are_one_anothers_others() -> None:
    assert feature(columns(4, dense=[1.0, 1.0, 0.0, 0.0], speaker=[1, 1, 2, 2]), "dense_burst_others") == [1, 1, 0, 0]


def test_user_and_assistant_without_names_are_no_burst() -> None:
    assert feature(columns(2, dense=[0, 1], traits=[0, Trait.ASSISTANT]), "burst_size") == [0.0, 0.0]


def test_late_interaction_with_a_burst_takes_what_its_messages_say_together() -> None:
    found = columns(4, speaker=[1, 1, 2, 1])
    found = with_tokens(found, [[1, 0, 0, 1], [0, 1, 0, 0]], [2, 1])
    first, second, _, alone = feature(found, "late_burst")
    assert first == second > alone
    near = feature(found, "late_burst_near")
    assert near[0] == near[1] > near[2] > near[3]


def test_where_speakers_take_turns_bursts_say_nothing_new() -> None:
    found = columns(4, dense=[0.1, 0.9, 0.3, 0.4], speaker=[1, 2, 1, 2], traits=[Trait.QUESTION, 0, 0, 0])
    assert feature(found, "dense_burst_others") == [0.0] * 4
    for old, new in (("before", "burst_before"), ("after", "burst_after"), ("answers", "burst_answers")):
        assert feature(found, f"dense_{old}") == feature(found, f"dense_{new}")
    assert feature(found, "answers") == feature(found, "burst_answers")


def test_spec_5_4_the_best_of_the_session_counts_for_all_of_it() -> None:
    found = columns(4, dense=[1.0, 0.0, 0.0, 0.0], session=[0, 0, 1, 1], position=[0, 1, 0, 1])
    best = feature(found, "dense_session")
    assert best[0] == best[1] > best[2] == best[3]


def test_spec_5_4_who_is_named_and_who_is_not() -> None:
    found = columns(2, speaker=[0, 1])
    assert feature(found, "speaker_named", "What did Ada buy?", "Ada", "Ben") == [1.0, 0.0]
    assert feature(found, "speaker_other", "What did Ada buy?", "Ada", "Ben") == [0.0, 1.0]
    assert feature(found, "speaker_other", "What was bought?", "Ada", "Ben") == [0.0, 0.0]


def test_spec_5_4_roles_count_where_they_are_asked_for() -> None:
    found = columns(2, traits=[0, Trait.ASSISTANT])
    assert feature(found, "by_user_if_about_user", "Where do I live?") == [1.0, 0.0]
    assert feature(found, "by_assistant_if_about_assistant", "What did you recommend?") == [0.0, 1.0]


def test_spec_5_5_times_fall_off_outside_the_range_that_is_named() -> None:
    day = 86_400.0
    inside = NOON.timestamp() - day
    near = feature(columns(3, time=[inside, inside - 7 * day, np.nan]), "time", "what happened yesterday?")
    assert near[0] == 1.0
    assert 0.2 < near[1] < 0.6
    assert near[2] == 0.0


def test_kinds_of_turns_count_by_the_kind_of_the_question() -> None:
    found = columns(2, traits=[Trait.TIME_EXPRESSION, 0])
    assert feature(found, "time_expression_if_when", "When was it?") == [1.0, 0.0]
    assert feature(found, "time_expression_if_when", "Who was it?") == [0.0, 0.0]
    assert feature(found, "asks_when", "When was it?") == [1.0, 1.0]


def test_late_interaction_weighs_rare_word_pieces_more() -> None:
    scores = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]
    common_second = feature(with_tokens(columns(3), scores, [1, 3]), "late_weighted")
    assert common_second[0] > common_second[2] > common_second[1]
    assert feature(with_tokens(columns(3), scores, [1, 3]), "late_plain") == [0.0, 0.0, 0.0]


def test_late_interaction_takes_what_a_neighbour_says_for_less() -> None:
    # The first is met by two turns, the second by one; alone the middle turn says neither.
    scores = [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    near = feature(with_tokens(columns(4), scores, [1, 1]), "late_near")
    assert near[1] == max(near)
    assert near[3] == min(near)


def test_without_token_vectors_late_interaction_is_silent() -> None:
    names = [name for name in feature_names() if name.startswith("late_")]
    assert names
    for name in names:
        if "rank" not in name:
            assert feature(columns(3, dense=[0.1, 0.2, 0.3]), name) == [0.0, 0.0, 0.0]


def test_turns_without_token_vectors_are_as_good_as_the_mean() -> None:
    found = with_tokens(columns(3), [[0.9, 0.1, 0.0]], [1])
    found = replace(found, has_tokens=np.array([True, True, False]))
    assert feature(found, "late_weighted") == [1.0, -1.0, 0.0]


def test_what_other_tiers_made_of_a_turn() -> None:
    found = replace(columns(2), fact=np.array([0.0, 0.7], np.float32))
    assert feature(found, "fact") == [0.0, 0.7]
    assert feature(found, "fact_there") == [0.0, 1.0]
    assert feature(found, "note_there") == [0.0, 0.0]


@settings(max_examples=25, deadline=None)
@given(
    scores=st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.sampled_from([0.0, 2.0])), min_size=2, max_size=12),
    seed=st.integers(0, 100),
)
def test_the_order_of_the_candidates_changes_nothing(scores: list[tuple[float, float]], seed: int) -> None:
    count = len(scores)
    found = columns(count, dense=[d for d, _ in scores], lexical=[x for _, x in scores])
    order = np.random.default_rng(seed).permutation(count)
    turned = replace(found, dense=found.dense[order], lexical=found.lexical[order], position=found.position[order])
    question = read_question("When did I go?", (), NOON)
    expected = read_features(found, question).values[order]
    np.testing.assert_allclose(read_features(turned, question).values, expected, atol=1e-5)


def test_neighbours_are_looked_up_by_session_and_place() -> None:
    around = Surroundings.of(np.array([0, 0, 1, 0], np.int32), np.array([5, 7, 6, 6], np.int32))
    assert around.rows(1).tolist() == [3, 4, 4, 1]
    assert around.rows(-1).tolist() == [4, 3, 4, 0]
    nobody = Surroundings.of(np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert nobody.rows(1).tolist() == []


@pytest.mark.parametrize("offset", [-3, -2, -1, 1, 2, 3])
def test_sessions_never_meet(offset: int) -> None:
    around = Surroundings.of(np.array([0, 1], np.int32), np.array([2**31 - 1, 0], np.int32))
    assert around.rows(offset).tolist() == [2, 2]
