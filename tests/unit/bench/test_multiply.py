"""What is moved, and how often anything may be there."""

from pathlib import Path

import numpy as np
import pytest

from bench.common import BenchError
from bench.multiply import multiply
from bench.multiply_points import NOISE_LENGTH, Conversation, moved
from services.episodic.model import Owner, TenantId, UserId


def test_vectors_are_moved_a_little_and_keep_their_length() -> None:
    vectors = np.eye(50, 384, dtype=np.float32)
    changed = moved(vectors, np.random.default_rng(1))

    assert changed.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(changed, axis=1), 1.0, rtol=1e-5)
    cosines = (changed * vectors).sum(axis=1)
    assert cosines.mean() == pytest.approx(1 / np.sqrt(1 + NOISE_LENGTH**2), abs=0.01)
    assert cosines.max() < 1.0


def test_each_copy_is_a_conversation_of_its_own() -> None:
    session = Conversation(Owner(TenantId("acme"), UserId("ana")), "talk")

    assert len({session.key, session.copied(1).key, session.copied(2).key}) == 3
    assert session.copied(1).owner == session.owner


@pytest.mark.parametrize("times", [0, 1, 101])
async def test_the_number_is_bounded(tmp_path: Path, times: int) -> None:
    with pytest.raises(BenchError, match="2 to 100"):
        await multiply(tmp_path / "data", times, seed=1)

    assert not (tmp_path / "data").exists()
