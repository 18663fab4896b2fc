"""Products of bytes against the same in wide numbers, with and without the processor's own instructions."""

from __future__ import annotations

import numpy as np
import pytest

from services.common.embedding import byte_products
from services.common.embedding.byte_products import products, unsigned


@pytest.fixture(params=["by the operator", "by numpy"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "by numpy":
        monkeypatch.setattr(byte_products, "_session", lambda: None)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize(("rows", "columns", "dimension"), [(1, 1, 1), (3, 2, 8), (1_200, 9, 128), (0, 4, 128)])
def test_products_are_exact(rows: int, columns: int, dimension: int) -> None:
    random = np.random.default_rng(rows + dimension)
    left = random.integers(-127, 128, size=(rows, dimension), dtype=np.int8)
    right = random.integers(-127, 128, size=(columns, dimension), dtype=np.int8)
    found = products(unsigned(left), right)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, right.astype(np.int64) @ left.astype(np.int64).T)


@pytest.mark.usefixtures("_way")
def test_the_largest_components_do_not_overflow() -> None:
    largest = np.array([[127] * 128, [-127] * 128], dtype=np.int8)
    np.testing.assert_array_equal(
        products(unsigned(largest), largest), 128 * 127 * 127 * np.array([[1, -1], [-1, 1]], dtype=np.int64)
    )


def test_signs_are_kept_by_the_offset() -> None:
    np.testing.assert_array_equal(unsigned(np.array([[-128, -1, 0, 127]], dtype=np.int8)), [[0, 127, 128, 255]])
