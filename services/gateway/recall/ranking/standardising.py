"""What the features of candidates share: scores in standard deviations, and weights of the question's word pieces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from services.gateway.recall.columns import EpisodeColumns, FloatColumn

Column = npt.NDArray[np.float64]


def standardised(values: FloatColumn | Column) -> Column:
    """The scores less their mean, by their deviation; of each row by itself."""
    wide = values.astype(np.float64)
    if not wide.size:
        return wide
    wide -= wide.mean(axis=-1, keepdims=True)
    deviations = np.sqrt(np.einsum("...n,...n->...", wide, wide) / wide.shape[-1])[..., np.newaxis]
    # Equal values say nothing; dividing their rounding errors would make them say something.
    scores: Column = np.divide(wide, deviations, out=np.zeros_like(wide), where=deviations > 1e-9)
    return scores


def token_weights(columns: EpisodeColumns) -> tuple[Column, Column, Column]:
    """Of the question's word pieces the IDF, its shares of the whole, and the shares of its roots: `[q]` each."""
    idf = np.log1p((columns.active_count - columns.token_frequencies + 0.5) / (columns.token_frequencies + 0.5))
    weights = idf / max(float(idf.sum()), 1e-9)
    roots = np.sqrt(idf)
    roots /= max(float(roots.sum()), 1e-9)
    return idf, weights, roots
