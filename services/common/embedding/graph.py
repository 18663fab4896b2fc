"""Builds the ONNX graph of a BERT sentence encoder from its safetensors, once, into the data folder.

The graph has two outputs. `sentence_embedding` is the mean over real tokens, scaled to length 1.
`token_embeddings` is the last hidden state, for late interaction; a caller that does not name it as an
output pays nothing for it, because the sentence embedding is computed from it anyway.
"""

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.weights import LocatedWeights

GRAPH_VERSION: Final = 1
"""Raised when the graph changes in a way that changes vectors; part of the fingerprint."""
MANIFEST_FILE: Final = "mneme-model.json"
"""Name, fingerprint and token limit of a model folder that we built."""

_OPSET: Final = 20  # the first with Gelu as one operator
_IR_VERSION: Final = 10
_MASKED: Final = -10_000.0  # added to scores of padding: exp() of it is 0 in float32
_FOLDER_EXISTS: Final = frozenset({errno.EEXIST, errno.ENOTEMPTY})


@dataclass(frozen=True, slots=True)
class BertShape:
    """The numbers of config.json that decide the graph."""

    layers: int
    heads: int
    hidden: int
    layer_norm_epsilon: float

    @classmethod
    def from_config(cls, path: Path) -> "BertShape":
        """Read the shape from a Hugging Face config.json.

        Raises:
            ModelUnavailableError: The file is no such config, or describes no BERT with exact GELU.
        """
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
            shape = cls(
                layers=int(config["num_hidden_layers"]),
                heads=int(config["num_attention_heads"]),
                hidden=int(config["hidden_size"]),
                layer_norm_epsilon=float(config["layer_norm_eps"]),
            )
            kind = (config["model_type"], config["hidden_act"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnavailableError(f"{path} is no usable model configuration") from error
        if kind != ("bert", "gelu") or shape.hidden % shape.heads:
            raise ModelUnavailableError(f"{path} describes {kind}; only BERT with exact GELU can be built")
        return shape


class _GraphBuilder:
    """Collects nodes and weights; each method returns the name of the tensor it produced."""

    def __init__(self, shape: BertShape, tensors: Mapping[str, npt.NDArray[np.float32]]) -> None:
        self._shape = shape
        self._tensors = tensors
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        """Return the checked model: ids and mask in, token and sentence embeddings out."""
        hidden = self._embeddings()
        zero_or_one = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        padding = self._node("Sub", self._floats([1.0]), zero_or_one)
        penalty = self._node("Mul", padding, self._floats([_MASKED]))
        penalty = self._node("Unsqueeze", penalty, self._ints([1, 2]))
        for layer in range(self._shape.layers):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, penalty)
        self._node("Identity", hidden, output="token_embeddings")
        self._pool(hidden, zero_or_one)
        return self._assemble()

    def _embeddings(self) -> str:
        words = self._node("Gather", self._weight("embeddings.word_embeddings.weight"), "input_ids")
        kind_table = self._weight("embeddings.token_type_embeddings.weight")
        kinds = self._node("Gather", kind_table, "token_type_ids")
        length = self._node("Shape", "input_ids", start=1, end=2)
        position_table = self._weight("embeddings.position_embeddings.weight")
        positions = self._node("Slice", position_table, self._ints([0]), length, self._ints([0]))
        total = self._node("Add", self._node("Add", words, kinds), positions)
        return self._norm("embeddings.LayerNorm", total)

    def _layer(self, prefix: str, hidden: str, penalty: str) -> str:
        attention = f"{prefix}.attention"
        head_size = self._shape.hidden // self._shape.heads
        split = self._ints([0, 0, self._shape.heads, head_size])
        # Scaling the query instead of the scores touches fewer numbers on long inputs.
        query = self._node("Mul", self._dense(f"{attention}.self.query", hidden), self._floats([head_size**-0.5]))
        query = self._node("Transpose", self._node("Reshape", query, split), perm=[0, 2, 1, 3])
        key = self._node("Reshape", self._dense(f"{attention}.self.key", hidden), split)
        key = self._node("Transpose", key, perm=[0, 2, 3, 1])
        value = self._node("Reshape", self._dense(f"{attention}.self.value", hidden), split)
        value = self._node("Transpose", value, perm=[0, 2, 1, 3])
        scores = self._node("Add", self._node("MatMul", query, key), penalty)
        mixed = self._node("MatMul", self._node("Softmax", scores, axis=-1), value)
        mixed = self._node("Transpose", mixed, perm=[0, 2, 1, 3])
        mixed = self._node("Reshape", mixed, self._ints([0, 0, self._shape.hidden]))
        mixed = self._dense(f"{attention}.output.dense", mixed)
        hidden = self._norm(f"{attention}.output.LayerNorm", self._node("Add", mixed, hidden))
        wide = self._node("Gelu", self._dense(f"{prefix}.intermediate.dense", hidden))
        narrow = self._dense(f"{prefix}.output.dense", wide)
        return self._norm(f"{prefix}.output.LayerNorm", self._node("Add", narrow, hidden))

    def _pool(self, hidden: str, mask: str) -> None:
        column = self._node("Unsqueeze", mask, self._ints([2]))
        total = self._node("ReduceSum", self._node("Mul", hidden, column), self._ints([1]), keepdims=0)
        count = self._node("ReduceSum", mask, self._ints([1]), keepdims=1)
        mean = self._node("Div", total, self._node("Max", count, self._floats([1e-9])))
        norm = self._node("ReduceL2", mean, self._ints([1]), keepdims=1)
        self._node("Div", mean, self._node("Max", norm, self._floats([1e-12])), output="sentence_embedding")

    def _dense(self, name: str, value: str) -> str:
        weight = self._weight(f"{name}.weight", transposed=True)
        return self._node("Add", self._node("MatMul", value, weight), self._weight(f"{name}.bias"))

    def _norm(self, name: str, value: str) -> str:
        return self._node(
            "LayerNormalization",
            value,
            self._weight(f"{name}.weight"),
            self._weight(f"{name}.bias"),
            axis=-1,
            epsilon=self._shape.layer_norm_epsilon,
        )

    def _node(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        name = output or f"{operator.lower()}_{len(self._nodes)}"
        node = helper.make_node(operator, list(inputs), [name], name=f"node_{name}", **attributes)
        self._nodes.append(node)
        return name

    def _weight(self, name: str, *, transposed: bool = False) -> str:
        try:
            array = self._tensors[name]
        except KeyError as error:
            raise ModelUnavailableError(f"the weights have no tensor {name}") from error
        return self._constant(name, array.T if transposed else array)

    def _floats(self, values: list[float]) -> str:
        return self._constant(f"floats_{values}", np.asarray(values, dtype=np.float32))

    def _ints(self, values: list[int]) -> str:
        return self._constant(f"ints_{values}", np.asarray(values, dtype=np.int64))

    def _constant(self, name: str, array: npt.NDArray[np.float32] | npt.NDArray[np.int64]) -> str:
        if name not in self._initializers:
            self._initializers[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def _assemble(self) -> onnx.ModelProto:
        ids = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        shapes: dict[str, list[str | int | None]] = {
            "token_embeddings": ["batch", "sequence", self._shape.hidden],
            "sentence_embedding": ["batch", self._shape.hidden],
        }
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        weights = list(self._initializers.values())
        graph = helper.make_graph(self._nodes, "sentence_encoder", ids, outputs, weights)
        opsets = [helper.make_opsetid("", _OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="mneme")
        model.ir_version = _IR_VERSION
        onnx.checker.check_model(model)
        return model


def build_model(weights: LocatedWeights) -> onnx.ModelProto:
    """Return the ONNX model of a BERT sentence encoder (mean pooling, L2 norm).

    Inputs are int64 `[batch, sequence]`: `input_ids`, `attention_mask`, `token_type_ids`. Outputs are
    float32: `sentence_embedding` `[batch, hidden]` and `token_embeddings` `[batch, sequence, hidden]`.

    Raises:
        ModelUnavailableError: The configuration or the tensors are not those of a BERT encoder.
    """
    shape = BertShape.from_config(weights.config)
    return _GraphBuilder(shape, load_file(weights.safetensors)).model()


def fingerprint_of(weights: LocatedWeights) -> str:
    """Return the identity of the vectors: weights and graph, whichever onnx release wrote the file."""
    return f"{weights.sha256[:16]}-g{GRAPH_VERSION}"


def model_folder_of(weights: LocatedWeights, data_dir: Path) -> Path:
    """Return where the built model belongs: `<data dir>/models/<name>-<fingerprint>`."""
    return data_dir / "models" / f"{weights.model_name}-{fingerprint_of(weights)}"


def ensure_model_folder(weights: LocatedWeights, *, data_dir: Path, max_tokens: int) -> Path:
    """Build model.onnx, tokenizer.json and the manifest unless they are there, and return their folder.

    The folder appears under its name only when all files in it are on disk, so a crash leaves nothing
    half written, and of two processes that build at once one wins and the other uses the winner's.

    Raises:
        ModelUnavailableError: The graph cannot be built from these weights.
        OSError: The data folder cannot be written.
    """
    folder = model_folder_of(weights, data_dir)
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=folder.parent))
    try:
        manifest = {
            "model_name": weights.model_name,
            "fingerprint": fingerprint_of(weights),
            "max_tokens": max_tokens,
        }
        _write_durably(scratch / "model.onnx", build_model(weights).SerializeToString())
        _write_durably(scratch / "tokenizer.json", weights.tokenizer.read_bytes())
        _write_durably(scratch / MANIFEST_FILE, json.dumps(manifest, indent=2).encode())
        _sync_folder(scratch)
        scratch.chmod(0o755)
        _publish(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    _sync_folder(folder.parent)
    return folder


def _publish(scratch: Path, folder: Path) -> None:
    try:
        scratch.rename(folder)
    except OSError as error:
        if error.errno not in _FOLDER_EXISTS:
            raise


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
