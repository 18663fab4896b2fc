"""The user of the benchmark of consolidation."""

from __future__ import annotations

import numpy as np
import pytest

from bench.consolidation_user import OWNER, SAID_TWICE, make_episodes, make_facts, make_notes
from services.common.values.comparison.compare import relation
from services.common.values.model import Relation


def test_a_twentieth_of_the_notes_is_said_twice() -> None:
    notes, vectors = make_notes(200, 16)
    assert (len(notes), vectors.shape) == (200, (200, 16))
    assert len({note.note_id for note in notes}) == 200
    assert len({note.content for note in notes}) == 200 * (1 - SAID_TWICE)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


def test_pairs_of_facts_say_the_same_in_other_words_and_are_alike() -> None:
    statements, vectors = make_facts(200, 16)
    assert (len(statements), vectors.shape) == (200, (200, 16))
    for place in range(180, 200, 2):
        first, second = (statements[at].draft.text for at in (place, place + 1))
        assert first != second
        assert relation(first, second) is Relation.SAME
        assert vectors[place] @ vectors[place + 1] > 0.85
    assert len({statement.draft.text for statement in statements}) == 200


def test_episodes_have_a_place_each() -> None:
    episodes = make_episodes(90, seed=1)
    assert len({episode.key for episode in episodes}) == 90
    assert {episode.owner for episode in episodes} == {OWNER}
