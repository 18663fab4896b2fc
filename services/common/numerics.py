"""How numpy computes in a service."""

from __future__ import annotations

import numpy as np  # noqa: F401 - loaded first, so that its library is loaded when it is configured
import threadpoolctl

__all__ = ["compute_in_place"]


def compute_in_place() -> None:
    """Have numpy's matrix products run on the thread that asks for them; for the whole process, once at its start.

    The products of a recall are short. Spread over threads that spin while they wait for each other
    they take three times the processor time as soon as the cores have other work, such as the embedding model or a
    second request: measured for the late interaction of one recall on two busy cores, 6 ms instead of 14.
    """
    threadpoolctl.threadpool_limits(limits=1, user_api="blas")
