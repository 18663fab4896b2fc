"""numpy computes on the thread that asks."""

import threadpoolctl

from services.common.numerics import compute_in_place


def test_matrix_products_take_no_further_threads() -> None:
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):  # put back afterwards
        compute_in_place()

        libraries = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]

    assert libraries
    assert {library["num_threads"] for library in libraries} == {1}
