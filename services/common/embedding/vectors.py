"""Array types of embeddings."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]
"""One embedding: float32 `[dimension]`, length 1."""
Matrix: TypeAlias = npt.NDArray[np.float32]
"""Several embeddings: float32 `[texts, dimension]`, each row of length 1."""
