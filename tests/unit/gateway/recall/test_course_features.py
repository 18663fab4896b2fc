"""What the course of a session tells about its turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.recall.question.kinds import QuestionKind
from services.gateway.recall.ranking.course_features import course_feature_names, read_course_features
from services.gateway.recall.ranking.surroundings import Surroundings

NOTHING = QuestionKind(0)


def told(
    scores: list[float], sessions: list[int], positions: list[int], kinds: QuestionKind = NOTHING
) -> dict[str, list[float]]:
    session, position = np.array(sessions, np.int32), np.array(positions, np.int32)
    found = read_course_features(np.array(scores), session, Surroundings.of(session, position), kinds)
    return {name: np.broadcast_to(column, len(scores)).tolist() for name, _, column in found}


def test_spec_5_4_turns_of_the_exchanges_around() -> None:
    found = told([1.0, 2.0, 3.0, 4.0, 5.0], [0, 0, 0, 0, 1], [0, 2, 4, 5, 4])
    assert found["score_two_before"] == [0.0, 1.0, 2.0, 0.0, 0.0]
    assert found["score_two_after"] == [2.0, 3.0, 0.0, 0.0, 0.0]
    assert found["score_four_before"] == [0.0, 0.0, 1.0, 0.0, 0.0]
    assert found["score_four_after"] == [3.0, 0.0, 0.0, 0.0, 0.0]


def test_spec_5_4_a_turn_is_compared_with_those_before_it_in_its_session() -> None:
    # In another order than that of the session.
    found = told([2.0, 1.0, 0.5, -1.0], [7, 7, 7, 3], [9, 1, 5, 2])
    assert found["best_score_before"] == [1.0, -3.0, 1.0, -3.0]
    assert found["score_above_session_before"] == [1.0, 4.0, 0.0, 2.0]


def test_spec_5_4_the_first_turn_of_a_session_that_is_about_the_matter() -> None:
    scores = [1.0, -1.0, 2.0, 0.5, *np.linspace(-2.0, -1.5, 60).tolist()]  # the best 60 are about the matter
    found = told(scores, [0, 0, 0, 0, *[1] * 60], [3, 0, 5, 6, *range(60)])
    assert found["opens_matter"][:4] == [0.0, 1.0, 0.0, 0.0]
    assert found["matter_before_log"][:4] == pytest.approx([np.log(2), 0.0, np.log(3), np.log(4)])
    assert found["opens_matter"][4:].index(1.0) == 4  # the four worst are not about it


def test_spec_5_4_all_of_it_is_told_once_more_for_questions_that_many_turns_answer() -> None:
    found = told([1.0, 2.0], [0, 0], [0, 2], QuestionKind.SUMMARY)
    assert found["score_two_after_if_summary"] == found["score_two_after"] == [2.0, 0.0]
    assert found["score_two_after_if_order"] == found["score_two_after_if_list"] == [0.0, 0.0]
    assert found.keys() == course_feature_names()


def test_nobody_is_told_nothing() -> None:
    assert set(map(len, told([], [], []).values())) == {0}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30), st.floats(-5, 5)), unique_by=lambda turn: turn[:2]))
def test_running_bests_are_those_of_a_loop(turns: list[tuple[int, int, float]]) -> None:
    found = told([score for *_, score in turns], [session for session, *_ in turns], [place for _, place, _ in turns])
    for (session, position, score), best, above in zip(
        turns, found["best_score_before"], found["score_above_session_before"], strict=True
    ):
        before = [other[2] for other in turns if other[0] == session and other[1] < position]
        assert best == pytest.approx(max([-3.0, *before]), abs=1e-6)
        assert above == pytest.approx(max(0.0, score - best), abs=1e-6)
