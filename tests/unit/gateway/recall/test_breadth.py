"""What moves turns where a question is answered by many of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.turn_traits import Trait
from services.gateway.recall.columns import EpisodeColumns, FloatColumn
from services.gateway.recall.question.reading import QuestionEvidence, read_question
from services.gateway.recall.ranking.breadth import BREADTH, read_breadth
from services.gateway.recall.ranking.fitted import FittedScorer, Rankers
from services.gateway.recall.ranking.profiles import FITTED_PARTS
from tests.unit.gateway.tiers import NOON, candidates

ORDER = "In what order did I talk about the steps of my move?"
SUMMARY = "Can you summarise how my move went?"
LIST = "Which rooms did I paint?"
TOTAL = "How many boxes did I pack across all of it?"
ONE = "Where did I put the ladder?"


def asked(text: str) -> QuestionEvidence:
    return read_question(text, (), NOON)


def columns(places: list[tuple[int, int]], traits: list[int] | None = None) -> EpisodeColumns:
    """Candidates by session and position."""
    session, position = np.array(places, dtype=np.int32).reshape(-1, 2).T
    count = len(places)
    return replace(
        EpisodeColumns.from_response(candidates(range(1, count + 1))),
        session=session,
        position=position,
        traits=np.array(traits or [0] * count, dtype=np.int32),
    )


def order(text: str, scores: list[float], found: EpisodeColumns) -> list[int]:
    """The candidates, best first."""
    given_scores: FloatColumn = np.array(scores, dtype=np.float32)
    added = read_breadth(given_scores, found, asked(text))
    assert added is not None
    assert added.dtype == np.float32
    return [int(index) for index in np.argsort(-(given_scores + added), kind="stable")]


def test_a_question_for_one_turn_is_left_alone() -> None:
    scores = np.array([1.0, 2.0], dtype=np.float32)
    assert read_breadth(scores, columns([(0, 0), (0, 1)]), asked(ONE)) is None
    assert read_breadth(scores, columns([(0, 0), (0, 1)]), asked("How much progress did I make?")) is None


@pytest.mark.parametrize("text", [LIST, TOTAL])
def test_the_best_turn_of_each_session_comes_before_the_rest_of_it(text: str) -> None:
    found = columns([(0, 5), (0, 6), (0, 7), (1, 5), (2, 5)])
    assert order(text, [5.0, 4.95, 4.9, 4.8, 1.0], found) == [0, 3, 1, 2, 4]


def test_turns_of_one_session_keep_their_order() -> None:
    found = columns([(0, 9), (0, 3), (0, 1), (0, 2)])
    assert order(LIST, [1.0, 4.0, 3.0, 2.0], found) == [1, 2, 3, 0]


def test_an_order_of_events_begins_where_sessions_do() -> None:
    assert order(ORDER, [3.0, 2.9, 0.0], columns([(0, 40), (1, 2), (2, 80)])) == [1, 0, 2]


def test_what_was_asked_and_answered_is_summed_up_together() -> None:
    turns = [(0, 0), (0, 1), (5, 0), (5, 3)]
    by = [0, Trait.ASSISTANT, 0, Trait.ASSISTANT]
    assert order(SUMMARY, [3.0, 0.9, 1.0, 1.0], columns(turns, by))[:2] == [0, 1]
    assert order(SUMMARY, [3.0, 0.9, 1.0, 1.0], columns(turns))[:2] == [0, 2]  # nobody answers


def test_standing_instructions_are_no_events() -> None:
    found = columns([(0, 0), (0, 1), (0, 2)], [Trait.INSTRUCTION, 0, Trait.INSTRUCTION | Trait.ASSISTANT])
    for text in (ORDER, SUMMARY):
        assert order(text, [2.0, 1.9, 0.0], found)[0] == 1
    assert order(LIST, [2.0, 1.9, 0.0], found)[0] == 0


_PLACES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 60)), min_size=1, max_size=40, unique=True)


@given(_PLACES, st.sampled_from([ORDER, SUMMARY, LIST, TOTAL]), st.randoms())
def test_the_order_of_the_candidates_does_not_matter(places: list[tuple[int, int]], text: str, random: Random) -> None:
    scores = np.linspace(-1.0, 2.0, len(places)).astype(np.float32)
    traits = [int(Trait.ASSISTANT) * (position % 2) for _, position in places]
    expected = read_breadth(scores, columns(places, traits), asked(text))
    shuffled = list(range(len(places)))
    random.shuffle(shuffled)
    again = read_breadth(
        scores[shuffled], columns([places[i] for i in shuffled], [traits[i] for i in shuffled]), asked(text)
    )
    assert expected is not None
    assert again is not None
    np.testing.assert_allclose(again, expected[shuffled], atol=1e-4)
    assert np.isfinite(expected).all()


def test_it_is_a_part_of_the_score_of_the_fitted_profiles() -> None:
    def no_round_weights(
        found: EpisodeColumns, question: QuestionEvidence
    ) -> tuple[FloatColumn, dict[str, FloatColumn]]:
        raise AssertionError((found, question))

    found = columns([(i % 3, i) for i in range(20)])
    scorer = FittedScorer(Rankers.open(), no_round_weights, is_light=True)
    scores, parts = scorer(found, asked(LIST))
    np.testing.assert_allclose(sum(parts.values()), scores, atol=1e-4)
    assert BREADTH in parts
    assert BREADTH in FITTED_PARTS
    assert BREADTH not in scorer(found, asked(ONE))[1]
