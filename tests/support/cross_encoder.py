"""Cross-encoders of a few words, built in a moment: they count the words that question and text share.

Each is a folder as any export of a real model is: an ONNX graph and a tokenizer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS: Final = ("cat", "dog", "sea", "moon", "lives", "where", "Momo", "Lyon", "trams", "cello")
_SPECIALS: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_SIGNS: Final = {1: [1.0], 2: [-0.5, 0.5], 3: [1.0, 1.0, 1.0]}
_VOCABULARY: Final = {word: number for number, word in enumerate((*_SPECIALS, *WORDS))}


def build_cross_encoder(
    folder: Path, *, outputs: int = 1, shift: float = -3.0, tokens_max: int = 512, is_flat: bool = False
) -> Path:
    """Writes a model into a folder, which it returns. Its logit of a pair is the number of shared words and a shift.

    Args:
        folder: Is made.
        outputs: Values that the graph gives for a pair: 1 is the logit, 2 are halves of it against and for, 3 are none.
        shift: Added to every logit.
        tokens_max: More word pieces the graph refuses, as the positions of a real model run out.
        is_flat: Gives `[n]` instead of `[n, outputs]`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(WordLevel(_VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, _VOCABULARY[name]) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    vectors = np.eye(len(_VOCABULARY), dtype=np.float32)
    vectors[: len(_SPECIALS)] = 0.0
    constants: dict[str, npt.NDArray[Any]] = {
        "vectors": vectors,
        "positions": np.zeros((tokens_max, 1), dtype=np.float32),
        "signs": np.array([_SIGNS[outputs]], dtype=np.float32),
        "shift": np.array([shift], dtype=np.float32),
        "one": np.array([1.0], dtype=np.float32),
        "first": np.array([1], dtype=np.int64),
        "second_axis": np.array([1], dtype=np.int64),
        "third_axis": np.array([2], dtype=np.int64),
        "shape": np.array([-1] if is_flat else [-1, outputs], dtype=np.int64),
    }
    graph = helper.make_graph(
        _nodes(),
        "cross_encoder",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, [None, None])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [None] if is_flat else [None, outputs])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def _nodes() -> list[Any]:
    node = helper.make_node
    sides = [
        [
            node("Mul", ["mask", f"is_{side}"], [f"{side}_mask"]),
            node("Unsqueeze", [f"{side}_mask", "third_axis"], [f"{side}_weights"]),
            node("Mul", ["placed", f"{side}_weights"], [f"{side}_words"]),
            node("ReduceSum", [f"{side}_words", "second_axis"], [side], keepdims=0),
        ]
        for side in ("question", "text")
    ]
    return [
        node("Gather", ["vectors", "input_ids"], ["words"]),
        node("CumSum", ["attention_mask", "second_axis"], ["numbers"]),
        node("Sub", ["numbers", "first"], ["places"]),
        node("Gather", ["positions", "places"], ["offsets"]),
        node("Add", ["words", "offsets"], ["placed"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["is_text"], to=TensorProto.FLOAT),
        node("Sub", ["one", "is_text"], ["is_question"]),
        *sides[0],
        *sides[1],
        node("Mul", ["question", "text"], ["shared"]),
        node("ReduceSum", ["shared", "second_axis"], ["count"], keepdims=1),
        node("Add", ["count", "shift"], ["logit"]),
        node("Mul", ["logit", "signs"], ["table"]),
        node("Reshape", ["table", "shape"], ["logits"]),
    ]
