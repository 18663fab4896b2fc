"""Whether stored vectors are of what their rows say now."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

import numpy as np

from tests.contract.fact_samples import EMBEDDER
from tests.integration.maintenance.places import SECOND

_EMBEDDERS: Final = {embedder.fingerprint: embedder for embedder in (EMBEDDER, SECOND)}


def check_vectors(rows: Iterable[tuple[str, str, str, str]]) -> None:
    """Fails where one is of another text, or of an unknown model.

    Args:
        rows: Id, model, vector as PostgreSQL writes it, and what the row says.
    """
    for row_id, model, vector, text in rows:
        wanted = _EMBEDDERS[model].vector(text)
        assert np.allclose(json.loads(vector), wanted, atol=1e-3), f"a vector of {model} is of another text: {row_id}"
