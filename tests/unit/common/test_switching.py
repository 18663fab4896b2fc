"""How long a thread may hold the interpreter."""

import sys

from services.common.switching import short_switch_interval


def test_the_interval_is_short_and_is_put_back_afterwards() -> None:
    before = sys.getswitchinterval()
    with short_switch_interval():
        assert sys.getswitchinterval() <= 0.001
    assert sys.getswitchinterval() == before
