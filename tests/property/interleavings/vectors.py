"""Whether stored vectors are of what their rows say now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from tests.contract.fact_samples import EMBEDDER
from tests.integration.maintenance.places import SECOND

_EMBEDDERS: Final = {embedder.fingerprint: embedder for embedder in (EMBEDDER, SECOND)}


def check_vectors(
    rows: Iterable[tuple[str, str, str, str]], sources: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> None:
    """Fails where one is of another text, or of an unknown model.

    Args:
        rows: Id, model, vector as PostgreSQL writes it, and what the row says.
        sources: What those say that a row was made of: its vector may be the mean of theirs.
    """
    for row_id, model, vector, text in rows:
        found, embed = np.asarray(json.loads(vector)), _EMBEDDERS[model].vector
        wanted = [embed(text)]
        if row_id in sources:
            mean = np.mean([embed(one) for one in sources[row_id]], axis=0)
            wanted.append(mean / np.linalg.norm(mean))
        assert any(np.allclose(found, one, atol=1e-3) for one in wanted), (
            f"a vector of {model} is of another text: {row_id}"
        )
