"""Products of vectors with a byte for each component, by the processor's instructions for bytes where it has them.

onnxruntime multiplies bytes without and with a sign much faster than numpy multiplies what it has widened first.
Processors from before these instructions add pairs of products in 16 bits, which overflows for vectors of few large
components: so it is tried out once on the largest there are, and numpy does the work where a sum came out wrong. Either
way the sums are exact, and so the same on every processor.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnx import TensorProto, helper

OFFSET: Final = 128
"""What is added to a component with a sign to store it without."""

_OPSET: Final = 13
_IR_VERSION: Final = 8
_ROWS_AT_ONCE: Final = 512
_PROBE_DIMENSION: Final = 64

Unsigned = npt.NDArray[np.uint8]
Signed = npt.NDArray[np.int8]
Products = npt.NDArray[np.int32]


def unsigned(vectors: Signed) -> Unsigned:
    """Returns the components with `OFFSET` added."""
    shifted: Unsigned = vectors.view(np.uint8) ^ np.uint8(OFFSET)
    return shifted


def are_fast() -> bool:
    """Whether this processor has the instructions. The first call asks the processor."""
    return _session() is not None


def products(rows: Unsigned, columns: Signed) -> Products:
    """Returns the products of all rows with all columns: int32 `[q, n]`, exact.

    Args:
        rows: As `unsigned` gives them: `[n, dimension]`.
        columns: `[q, dimension]`.
    """
    return np.ascontiguousarray(products_of_rows(rows, columns).T)


def products_of_rows(rows: Unsigned, columns: Signed) -> Products:
    """Returns the same as `products`, turned: int32 `[n, q]`. Up to 16 columns take as long as one."""
    session = _session()
    if session is None:
        return _by_numpy(rows, columns)
    found: Products = session.run(None, {"rows": rows, "columns": np.ascontiguousarray(columns.T)})[0]
    return found


@cache
def _session() -> ort.InferenceSession | None:
    """The operator; None where this processor does not add up as it should."""
    node = helper.make_node("MatMulInteger", ["rows", "columns", "offset"], ["products"])
    graph = helper.make_graph(
        [node],
        "byte products",
        [
            helper.make_tensor_value_info("rows", TensorProto.UINT8, [None, None]),
            helper.make_tensor_value_info("columns", TensorProto.INT8, [None, None]),
        ],
        [helper.make_tensor_value_info("products", TensorProto.INT32, [None, None])],
        [helper.make_tensor("offset", TensorProto.UINT8, [], [OFFSET])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1  # other work has the other cores
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    rows, columns = _largest()
    found = session.run(None, {"rows": rows, "columns": np.ascontiguousarray(columns.T)})[0]
    return session if np.array_equal(found, _by_numpy(rows, columns)) else None


def _largest() -> tuple[Unsigned, Signed]:
    """Vectors whose products are as large as can be, with either sign."""
    signs = np.where(np.arange(_PROBE_DIMENSION) % 4 < 2, 1, -1)
    columns = np.stack([np.full(_PROBE_DIMENSION, 127), np.full(_PROBE_DIMENSION, -128), 127 * signs]).astype(np.int8)
    rows = np.stack([np.full(_PROBE_DIMENSION, 255), np.zeros(_PROBE_DIMENSION), 255 * (signs > 0)]).astype(np.uint8)
    return np.repeat(rows, 16, axis=0), columns


def _by_numpy(rows: Unsigned, columns: Signed) -> Products:
    """The same in numbers that BLAS multiplies: whole ones below 2^24, which float32 represents exactly.

    In parts, so that what a part is widened to stays in the processor's cache: that halves the time.
    """
    widened_columns = np.ascontiguousarray(columns.T.astype(np.float32))
    found = np.empty((len(rows), len(columns)), dtype=np.int32)
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[start : start + _ROWS_AT_ONCE].astype(np.float32) - np.float32(OFFSET)
        found[start : start + len(part)] = part @ widened_columns
    return found
