import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from safetensors.numpy import load_file, save_file

from services.common.embedding import graph
from services.common.embedding.errors import ModelUnavailableError
from services.common.embedding.weights import LocatedWeights


@pytest.fixture
def tiny(tmp_path: Path) -> LocatedWeights:
    """A BERT of one layer and eight numbers a token, with random weights."""
    generator = np.random.default_rng(7)
    hidden, wide = 8, 16
    layer = "encoder.layer.0"
    shapes = {
        "embeddings.word_embeddings.weight": (20, hidden),
        "embeddings.position_embeddings.weight": (12, hidden),
        "embeddings.token_type_embeddings.weight": (2, hidden),
        f"{layer}.intermediate.dense.weight": (wide, hidden),
        f"{layer}.intermediate.dense.bias": (wide,),
        f"{layer}.output.dense.weight": (hidden, wide),
        f"{layer}.output.dense.bias": (hidden,),
    }
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"{layer}.attention.{name}.weight"] = (hidden, hidden)
        shapes[f"{layer}.attention.{name}.bias"] = (hidden,)
    for name in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        shapes[f"{name}.LayerNorm.weight"] = (hidden,)
        shapes[f"{name}.LayerNorm.bias"] = (hidden,)
    source = tmp_path / "source"
    source.mkdir()
    tensors = {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    save_file(tensors, source / "model.safetensors")
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "hidden_size": hidden,
        "layer_norm_eps": 1e-12,
    }
    (source / "config.json").write_text(json.dumps(config))
    (source / "tokenizer.json").write_text("{}")
    return LocatedWeights(
        model_name="tiny",
        sha256="ab" * 32,
        safetensors=source / "model.safetensors",
        config=source / "config.json",
        tokenizer=source / "tokenizer.json",
    )


def test_the_folder_is_complete_and_named_after_the_vectors(tiny: LocatedWeights, tmp_path: Path) -> None:
    folder = graph.ensure_model_folder(tiny, data_dir=tmp_path / "data", max_tokens=12)
    assert folder == tmp_path / "data" / "models" / f"tiny-{'ab' * 8}-g{graph.GRAPH_VERSION}"
    assert sorted(path.name for path in folder.iterdir()) == [
        "mneme-model.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_built_folder_is_used_as_it_is(tiny: LocatedWeights, tmp_path: Path) -> None:
    folder = graph.ensure_model_folder(tiny, data_dir=tmp_path, max_tokens=12)
    before = (folder / "model.onnx").stat()
    assert graph.ensure_model_folder(tiny, data_dir=tmp_path, max_tokens=12) == folder
    assert (folder / "model.onnx").stat().st_ino == before.st_ino


def test_a_crash_while_building_leaves_nothing_under_the_name(
    tiny: LocatedWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            graph.ensure_model_folder(tiny, data_dir=tmp_path, max_tokens=12)
    assert list((tmp_path / "models").iterdir()) == []
    assert graph.ensure_model_folder(tiny, data_dir=tmp_path, max_tokens=12).is_dir()


def test_of_two_builders_one_wins_and_both_find_the_model(
    tiny: LocatedWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = graph.build_model

    def build_while_another_does(weights: LocatedWeights) -> object:
        with monkeypatch.context() as patched:
            patched.setattr(graph, "build_model", build)
            graph.ensure_model_folder(weights, data_dir=tmp_path, max_tokens=12)
        return build(weights)

    monkeypatch.setattr(graph, "build_model", build_while_another_does)
    folder = graph.ensure_model_folder(tiny, data_dir=tmp_path, max_tokens=12)
    assert (folder / "model.onnx").is_file()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_padding_changes_neither_output(tiny: LocatedWeights) -> None:
    session = ort.InferenceSession(graph.build_model(tiny).SerializeToString())
    outputs = ["sentence_embedding", "token_embeddings"]
    alone = session.run(outputs, _feed([[3, 4, 5]], [[1, 1, 1]]))
    padded = session.run(outputs, _feed([[3, 4, 5, 0, 0], [6, 7, 8, 9, 1]], [[1, 1, 1, 0, 0], [1] * 5]))
    np.testing.assert_allclose(padded[0][0], alone[0][0], atol=1e-5)
    np.testing.assert_allclose(padded[1][0, :3], alone[1][0], atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(padded[0], axis=1), 1, atol=1e-6)
    pooled = alone[1][0].mean(axis=0)
    np.testing.assert_allclose(alone[0][0], pooled / np.linalg.norm(pooled), atol=1e-5)


def test_weights_without_a_tensor_are_refused_by_its_name(tiny: LocatedWeights, tmp_path: Path) -> None:
    tensors = load_file(tiny.safetensors)
    del tensors["encoder.layer.0.output.dense.bias"]
    save_file(tensors, tmp_path / "short.safetensors")
    with pytest.raises(ModelUnavailableError, match=r"encoder\.layer\.0\.output\.dense\.bias"):
        graph.build_model(dataclasses.replace(tiny, safetensors=tmp_path / "short.safetensors"))


@pytest.mark.parametrize("config", ["not json", "{}", '{"model_type": "gpt2"}', "[]"])
def test_a_configuration_of_another_model_is_refused(tiny: LocatedWeights, config: str) -> None:
    tiny.config.write_text(config)
    with pytest.raises(ModelUnavailableError, match="configuration"):
        graph.build_model(tiny)


def test_a_bert_with_another_activation_is_refused(tiny: LocatedWeights) -> None:
    config = json.loads(tiny.config.read_text()) | {"hidden_act": "relu"}
    tiny.config.write_text(json.dumps(config))
    with pytest.raises(ModelUnavailableError, match="exact GELU"):
        graph.build_model(tiny)


def _feed(ids: list[list[int]], mask: list[list[int]]) -> dict[str, np.ndarray]:
    array = np.asarray(ids, dtype=np.int64)
    return {
        "input_ids": array,
        "attention_mask": np.asarray(mask, dtype=np.int64),
        "token_type_ids": np.zeros_like(array),
    }
