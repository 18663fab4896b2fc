"""Messages in a row by the same speaker."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.recall.ranking.bursts import Bursts, are_messages


def bursts(places: list[tuple[int, int, int]]) -> Bursts:
    session, position, speaker = np.array(places, dtype=np.int32).reshape(-1, 3).T
    return Bursts.of(session, position, speaker)


def test_messages_in_a_row_by_one_speaker_are_one_burst() -> None:
    found = bursts([(0, 0, 7), (0, 1, 7), (0, 2, 8), (0, 3, 7)])
    assert found.of_candidate.tolist() == [0, 0, 1, 2]
    assert found.place.tolist() == [0, 1, 0, 0]
    assert found.sizes.tolist() == [2, 1, 1]
    assert not found.are_single
    assert bursts([(0, 0, 7), (0, 1, 8)]).are_single


def test_a_gap_and_another_session_end_a_burst_and_part_it_from_the_next() -> None:
    found = bursts([(0, 0, 7), (0, 2, 7), (1, 3, 7), (1, 4, 8)])
    assert found.of_candidate.tolist() == [0, 1, 2, 3]
    assert found.follows.tolist() == [False, False, False, True]


def test_values_of_a_burst_and_of_those_around_it() -> None:
    found = bursts([(0, 2, 8), (0, 0, 7), (0, 1, 7), (0, 9, 7)])
    values = np.array([3.0, 1.0, 2.0, 9.0])
    best = found.best(values)
    assert best.tolist() == [2.0, 3.0, 9.0]
    assert found.totals(values).tolist() == [3.0, 3.0, 9.0]
    assert found.before(best).tolist() == [0.0, 2.0, 0.0]
    assert found.after(best).tolist() == [3.0, 0.0, 0.0]
    assert found.best(np.stack([values, -values]))[1].tolist() == [-1.0, -3.0, -9.0]


def test_a_monologue_is_cut() -> None:
    assert bursts([(0, place, 7) for place in range(20)]).sizes.tolist() == [8, 8, 4]


@given(
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 30)), min_size=1, max_size=40), st.integers(0, 2**32), st.data()
)
def test_the_order_of_the_candidates_changes_nothing(
    places: set[tuple[int, int]], seed: int, data: st.DataObject
) -> None:
    listed = [(*place, data.draw(st.integers(0, 1))) for place in sorted(places)]
    order = np.random.default_rng(seed).permutation(len(listed))
    tidy, shuffled = bursts(listed), bursts([listed[index] for index in order])
    assert tidy.of_candidate[order].tolist() == shuffled.of_candidate.tolist()
    assert tidy.place[order].tolist() == shuffled.place.tolist()
    for burst in range(len(tidy.sizes)):
        own = [listed[index] for index in np.flatnonzero(tidy.of_candidate == burst)]
        assert len({(session, speaker) for session, _, speaker in own}) == 1
        assert [position for _, position, _ in own] == list(range(own[0][1], own[0][1] + len(own)))


def test_conversations_in_messages_are_told_from_those_in_turns() -> None:
    """By a share of candidates, whatever their order: the quick look at pairs says the same as the bursts."""
    random = np.random.default_rng(5)
    told = []
    for count in range(1, 60):
        places = random.permutation(4 * count)[:count]
        session, position = (places // 40).astype(np.int32), (places % 40).astype(np.int32)
        speaker = random.integers(0, 1 + count % 9, count).astype(np.int32)
        several = len(set(speaker.tolist())) > 1
        expected = several and Bursts.of(session, position, speaker).shared_share >= 0.15
        assert are_messages(session, position, speaker) == expected
        told.append(expected)
    assert {True, False} == set(told)
