"""Another embedding model, made of the one that tests use: what it finds is alike, and its vectors do not compare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

DIMENSION: Final = 320
_OUTPUT: Final = "sentence_embedding"


def make_second_model(model_folder: Path, folder: Path) -> Path:
    """Makes, in `folder`, a model whose vectors are the last components of the first one's, in reverse."""
    shutil.copytree(model_folder, folder)
    model = onnx.load(folder / "model.onnx")
    graph = model.graph
    (last,) = [node for node in graph.node if _OUTPUT in node.output]
    last.output[0] = "whole_embedding"
    (described,) = [output for output in graph.output if output.name == _OUTPUT]
    size = described.type.tensor_type.shape.dim[1].dim_value
    places = np.arange(size - 1, size - 1 - DIMENSION, -1, dtype=np.int64)
    graph.initializer.append(numpy_helper.from_array(places, "kept_places"))
    graph.initializer.append(numpy_helper.from_array(np.asarray([1], dtype=np.int64), "last_axis"))
    graph.node.extend(
        [
            helper.make_node("Gather", ["whole_embedding", "kept_places"], ["kept"], axis=1),
            helper.make_node("ReduceL2", ["kept", "last_axis"], ["kept_norm"], keepdims=1),
            helper.make_node("Div", ["kept", "kept_norm"], [_OUTPUT]),
        ]
    )
    described.type.tensor_type.shape.dim[1].dim_value = DIMENSION
    onnx.save(model, folder / "model.onnx")
    for manifest in folder.glob("*.json"):
        content = json.loads(manifest.read_text("utf-8"))
        if isinstance(content, dict) and "fingerprint" in content:
            content["fingerprint"] = f"reversed-{content['fingerprint']}"
            manifest.write_text(json.dumps(content), "utf-8")
    return folder
