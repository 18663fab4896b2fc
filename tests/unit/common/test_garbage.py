"""When a service looks for garbage."""

import gc
import weakref

from services.common.garbage import seldom_collected


class _Node:
    """Refers to itself, so that only a collection frees it."""

    def __init__(self) -> None:
        self.itself = self


def test_what_was_loaded_before_is_left_out_and_put_back_afterwards() -> None:
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_freeze_count() > 1_000
        assert gc.get_threshold()[0] > before[0]

    assert gc.get_freeze_count() == 0
    assert gc.get_threshold() == before


def test_garbage_of_later_is_still_found() -> None:
    with seldom_collected():
        node = weakref.ref(_Node())
        gc.collect()

        assert node() is None
