from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.dates import TimeRange
from services.common.turn_traits import Trait
from services.gateway.recall.question.reading import QuestionEvidence
from services.gateway.recall.ranking.evidence import (
    EvidenceWeights,
    FloatColumn,
    IntColumn,
    TimeColumn,
    score_evidence,
)

DAY = datetime(2023, 7, 7, tzinfo=UTC)
PLAIN = QuestionEvidence(text="", first_person_text="")
PARTS = ["dense", "lexical", "neighbours", "answers", "session", "speaker", "role", "time", "kind", "length"]


@dataclass(frozen=True)
class Columns:
    dense: FloatColumn
    lexical: FloatColumn
    session: IntColumn
    position: IntColumn
    speaker: IntColumn
    time: TimeColumn
    length: IntColumn
    traits: IntColumn


def columns(
    *,
    dense: Sequence[float],
    lexical: Sequence[float] | None = None,
    session: Sequence[int] | None = None,
    position: Sequence[int] | None = None,
    speaker: Sequence[int] | None = None,
    time: Sequence[float] | None = None,
    length: Sequence[int] | None = None,
    traits: Sequence[int] | None = None,
) -> Columns:
    count = len(dense)
    return Columns(
        dense=np.asarray(dense, dtype=np.float32),
        lexical=np.asarray(lexical if lexical is not None else [0] * count, dtype=np.float32),
        session=np.asarray(session if session is not None else [0] * count, dtype=np.int32),
        position=np.asarray(position if position is not None else [10 * n for n in range(count)], dtype=np.int32),
        speaker=np.asarray(speaker if speaker is not None else [0] * count, dtype=np.int32),
        time=np.asarray(time if time is not None else [np.nan] * count, dtype=np.float64),
        length=np.asarray(length if length is not None else [100] * count, dtype=np.int32),
        traits=np.asarray(traits if traits is not None else [0] * count, dtype=np.int32),
    )


def test_own_scores_are_standardised_among_the_candidates() -> None:
    _, parts = score_evidence(columns(dense=[0.1, 0.3, 0.5], lexical=[0, 0, 9]), PLAIN)
    np.testing.assert_allclose(parts["dense"], [-1.2247, 0, 1.2247], atol=1e-3)
    np.testing.assert_allclose(parts["lexical"], [-0.3536, -0.3536, 0.7071], atol=1e-3)


def test_spec_5_4_turns_around_a_hit_gain_by_nearness() -> None:
    # Positions 0 to 4, given out of order; the hit is at position 2.
    found = columns(dense=[1, 0, 0, 0, 0], position=[2, 4, 3, 1, 0])
    _, parts = score_evidence(found, PLAIN)
    hit = float(parts["dense"][0])
    np.testing.assert_allclose(parts["neighbours"], np.asarray([0, 0.1, 0.2, 0.2, 0.1]) * hit, atol=1e-5)


def test_neighbours_are_those_of_the_same_session() -> None:
    found = columns(dense=[1, 0, 0], session=[0, 1, 0], position=[5, 6, 7])
    _, parts = score_evidence(found, PLAIN)
    assert parts["neighbours"][1] == 0
    assert parts["neighbours"][2] > 0


def test_a_bad_neighbour_is_held_against_nobody() -> None:
    _, parts = score_evidence(columns(dense=[0.9, 0.0, 0.9], position=[0, 1, 2]), PLAIN)
    assert parts["neighbours"].min() >= 0


def test_spec_5_4_the_answer_follows_the_question_that_matches() -> None:
    asked = columns(dense=[1, 0, 0, 0], position=[0, 1, 2, 3], traits=[Trait.QUESTION, 0, 0, 0])
    scores, parts = score_evidence(asked, PLAIN)
    np.testing.assert_allclose(parts["answers"], [0, 0.4 * parts["dense"][0], 0, 0], atol=1e-6)
    assert scores[1] > scores[2]
    told = replace(asked, traits=np.zeros(4, dtype=np.int32))
    assert not score_evidence(told, PLAIN)[1]["answers"].any()


def test_long_turns_take_less_from_their_neighbours() -> None:
    found = columns(dense=[1, 0, 0], position=[1, 0, 2], length=[100, 300, 3_000])
    _, parts = score_evidence(found, PLAIN)
    assert parts["neighbours"][2] == pytest.approx(parts["neighbours"][1] / 10)


def test_spec_5_4_a_session_with_a_hit_lifts_its_turns() -> None:
    _, parts = score_evidence(columns(dense=[1, 0, 0], session=[0, 0, 1]), PLAIN)
    assert parts["session"][0] == parts["session"][1] > parts["session"][2]


def test_spec_5_4_turns_of_a_named_speaker_gain() -> None:
    question = replace(PLAIN, named_speakers=(1, 3))
    _, parts = score_evidence(columns(dense=[0, 0, 0, 0], speaker=[0, 1, 2, 3]), question)
    assert parts["speaker"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("about_user", "about_assistant", "expected"),
    [(False, False, [0, 0]), (True, False, [1, 0]), (False, True, [0, 1]), (True, True, [0, 1])],
)
def test_the_role_that_is_asked_about_gains(about_user: bool, about_assistant: bool, expected: list[float]) -> None:
    question = replace(PLAIN, about_user=about_user, about_assistant=about_assistant)
    _, parts = score_evidence(columns(dense=[0, 0], traits=[0, Trait.ASSISTANT]), question)
    assert parts["role"].tolist() == expected


def test_spec_5_5_a_named_time_is_a_soft_filter() -> None:
    question = replace(PLAIN, time_ranges=(TimeRange.of(DAY, DAY + timedelta(days=1)),))
    times = [DAY + timedelta(days=offset) for offset in (0.5, 15, -7, 365)]
    found = columns(dense=[0] * 5, time=[*(time.timestamp() for time in times), np.nan])
    _, parts = score_evidence(found, question)
    np.testing.assert_allclose(parts["time"], [1.5, 1.5 / np.e, 1.5 / np.e, 0, 0], atol=1e-6)


def test_of_several_times_the_nearest_counts() -> None:
    years = [datetime(year, 7, 1, tzinfo=UTC) for year in (2021, 2023)]
    question = replace(PLAIN, time_ranges=tuple(TimeRange.of(y, y + timedelta(days=31)) for y in years))
    _, parts = score_evidence(columns(dense=[0, 0], time=[DAY.timestamp(), np.nan]), question)
    assert parts["time"].tolist() == [1.5, 0]


def test_questions_and_reactions_lose_and_personal_turns_gain() -> None:
    kinds = [0, Trait.QUESTION, Trait.REACTION, Trait.FIRST_PERSON, Trait.FIRST_PERSON | Trait.QUESTION]
    found = columns(dense=[0] * 5, traits=kinds)
    np.testing.assert_allclose(score_evidence(found, PLAIN)[1]["kind"], [0, -0.4, -0.4, 0, -0.4], atol=1e-6)
    personal = replace(PLAIN, about_user=True)
    np.testing.assert_allclose(score_evidence(found, personal)[1]["kind"], [0, -0.4, -0.4, 0.5, 0.1], atol=1e-6)


def test_the_best_of_many_pieces_is_discounted() -> None:
    _, parts = score_evidence(columns(dense=[0] * 4, length=[0, 800, 801, 3_200]), PLAIN)
    np.testing.assert_allclose(parts["length"], [0, 0, -0.5, -1], atol=1e-6)


def test_a_worked_example() -> None:
    # Ada is asked about; position 0 asks her, position 1 is her answer, position 7 shares words only.
    found = columns(
        dense=[0.6, 0.3, 0.5, 0.1],
        lexical=[4, 0, 5, 0],
        position=[0, 1, 7, 20],
        speaker=[1, 0, 1, 0],
        traits=[Trait.QUESTION, Trait.FIRST_PERSON, 0, 0],
    )
    question = QuestionEvidence(text="What did Ada do?", first_person_text="What did I do?", named_speakers=(0,))
    scores, parts = score_evidence(found, question)
    assert np.argsort(-scores).tolist() == [1, 2, 0, 3]
    assert {name: round(float(part[1]), 2) for name, part in parts.items()} == {
        "dense": -0.39,
        "lexical": -0.49,
        "neighbours": 0.31,
        "answers": 0.62,
        "session": 0.16,
        "speaker": 1.0,
        "role": 0.0,
        "time": 0.0,
        "kind": 0.5,
        "length": 0.0,
    }


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_or_equal_candidates_have_finite_scores(count: int) -> None:
    question = replace(PLAIN, named_speakers=(0,), about_user=True)
    scores, parts = score_evidence(columns(dense=[0.5] * count), question)
    assert scores.shape == (count,)
    assert np.isfinite(scores).all()
    assert not parts["dense"].any()


def test_weights_can_be_chosen() -> None:
    only_words = EvidenceWeights(dense=0, lexical=1, adjacent=0, near=0, answers=0, session=0, length=0)
    scores, _ = score_evidence(columns(dense=[9, 0, 1], lexical=[1, 2, 3]), PLAIN, only_words)
    assert np.argsort(-scores).tolist() == [2, 1, 0]


@given(st.integers(min_value=0, max_value=40), st.integers(min_value=0, max_value=2**32 - 1))
def test_parts_add_up_and_the_order_of_candidates_does_not_matter(count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    places = generator.permutation(60)[:count]
    found = Columns(
        dense=generator.uniform(-1, 1, count).astype(np.float32),
        lexical=np.maximum(generator.normal(0, 5, count), 0).astype(np.float32),
        session=(places // 20).astype(np.int32),
        position=(places % 20).astype(np.int32),
        speaker=generator.integers(0, 3, count, dtype=np.int32),
        time=DAY.timestamp() + generator.uniform(-1e8, 1e8, count),
        length=generator.integers(0, 40_000, count, dtype=np.int32),
        traits=generator.integers(0, 32, count, dtype=np.int32),
    )
    question = QuestionEvidence(
        text="",
        first_person_text="",
        named_speakers=(0, 2),
        about_user=True,
        time_ranges=(TimeRange.of(DAY, DAY + timedelta(days=1)),),
    )
    scores, parts = score_evidence(found, question)
    assert list(parts) == PARTS
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(np.sum(list(parts.values()), axis=0), scores, atol=1e-5)
    order = generator.permutation(count)
    shuffled = Columns(**{name: getattr(found, name)[order] for name in Columns.__dataclass_fields__})
    np.testing.assert_allclose(score_evidence(shuffled, question)[0], scores[order], atol=1e-4)
