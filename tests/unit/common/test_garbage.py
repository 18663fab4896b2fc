"""When a service looks for garbage."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from services.common.garbage import seldom_collected


class _Node:
    """Refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def thresholds() -> Iterator[tuple[int, int, int]]:
    """Python's own, whatever stack other tests keep in this process."""
    found, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*found)
    if frozen:
        gc.freeze()


def test_what_was_loaded_before_is_left_out_and_put_back_afterwards(thresholds: tuple[int, int, int]) -> None:
    with seldom_collected():
        assert gc.get_freeze_count() > 1_000
        assert gc.get_threshold()[0] > thresholds[0]

    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == thresholds


def test_garbage_of_later_is_still_found() -> None:
    with seldom_collected():
        node = weakref.ref(_Node())
        gc.collect()

        assert node() is None
