"""How memories fade."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.decay import exponential, half_lives, hyperbolic, linear

DAYS = st.floats(0, 40_000)


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (30, 0.92), (180, 0.67), (365, 0.50), (730, 0.33)])
def test_spec_2_6_hyperbolic_decay_is_that_of_the_examples(days: int, factor: float) -> None:
    assert hyperbolic(days) == pytest.approx(factor, abs=0.005)


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (30, 0.5), (60, 0.25), (90, 0.125)])
def test_spec_2_6_exponential_decay_halves_with_each_half_life(days: int, factor: float) -> None:
    assert exponential(days, half_life_days=30.0) == pytest.approx(factor)


def test_spec_2_6_half_lives_grow_with_importance() -> None:
    assert half_lives([0.0, 0.5, 1.0], half_life_days=30.0, growth=2.0).tolist() == [30.0, 60.0, 90.0]
    assert half_lives([0.0, 1.0], half_life_days=30.0).tolist() == [30.0, 30.0]


def test_spec_2_6_linear_decay_ends_at_nothing() -> None:
    assert linear([0.5, 0.5, 0.5], [0, 10, 100], rate_per_day=0.01).tolist() == pytest.approx([0.5, 0.4, 0.0])


def test_what_lies_in_the_future_has_not_faded() -> None:
    assert hyperbolic(-5) == 1.0
    assert exponential(-5) == 1.0
    assert linear(0.5, -5) == 0.5


@given(one=DAYS, other=DAYS, importance=st.floats(0, 1))
def test_nothing_grows_with_age_or_beyond_what_it_was(one: float, other: float, importance: float) -> None:
    young, old = sorted((one, other))
    for faded in (hyperbolic([young, old]), exponential([young, old]), linear(importance, [young, old])):
        assert 0.0 <= faded[1] <= faded[0] <= 1.0
        assert np.isfinite(faded).all()
